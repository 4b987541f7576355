// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/dynasoar/soa_ref.hpp>

namespace warpheap {
namespace detail {

template <class U, class Field, class... Fields>
WARPHEAP_FN void write_fields(soa_object<U> object, soa_fields<Field, Fields...>) {
  object.template get<Field>() = typename Field::type{};
  ((object.template get<Fields>() = typename Fields::type{}), ...);
}
template <class U>
WARPHEAP_FN void write_fields(soa_object<U>, soa_fields<>) {}
template <class U, class Field, class... Fields, class Value, class... Values>
WARPHEAP_FN void write_fields(soa_object<U> object, soa_fields<Field, Fields...>, const Value& value,
                              const Values&... values) {
  object.template get<Field>() = value;
  write_fields(object, soa_fields<Fields...>{}, values...);
}

}  // namespace detail

template <class... T>
template <class U, class Body>
WARPHEAP_ENTRY_FN soa_handle<U> soa_ref<T...>::make_with(const Body& body) const {
  static_assert((std::is_same_v<U, T> || ...), "soa_ref: objects are made of the types that the heap registers");
  constexpr std::uint32_t type = types::template index<U>();
  constexpr std::uint32_t capacity = types::template capacity<U>();
  const detail::dynasoar_slot got = blocks_.take(blocks_.takers(type), type, capacity);
  if (got.block == detail::dynasoar_slot::none) return {};
  body(object_in<U>(got.block, got.slot));
  return soa_handle<U>::from_bits(detail::soa_place{got.block, got.slot, capacity, type, got.generation}.bits());
}

template <class... T>
template <class U, class... Values>
WARPHEAP_ENTRY_FN soa_handle<U> soa_ref<T...>::make(const Values&... values) const {
  using fields = typename detail::fields_of<U>::type;
  static_assert(sizeof...(Values) <= fields::count, "soa_ref: more values than the type has fields");
  return make_with<U>([&](soa_object<U> object) { detail::write_fields(object, fields{}, values...); });
}

template <class... T>
template <class U>
WARPHEAP_ENTRY_FN bool soa_ref<T...>::destroy(soa_handle<U> object) const {
  std::uint32_t block = 0;
  std::uint32_t slot = blocks_.no_slot;
  if (object) {
    const detail::soa_place at = detail::soa_place::of(object.bits());
    block = at.block;
    if (is_current(at)) slot = at.slot;
  }
  return blocks_.give_together(active_group(), block, slot);
}

}  // namespace warpheap
