// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/device.hpp>

namespace warpheap {

/// A field of a type whose objects a typed heap keeps as a structure of arrays. The field is named by a type of its
/// own, which derives from this:
///
/// ```
/// struct agent {
///   struct position : warpheap::soa_field<std::uint32_t> {};
///   using fields = warpheap::soa_fields<position>;
/// };
/// struct shark : agent {                       // has the fields of an agent, then its own
///   using base = agent;
///   struct energy : warpheap::soa_field<std::uint32_t> {};
///   using fields = warpheap::soa_fields<energy>;
/// };
/// ```
///
/// Each type names its own `fields`. A type without `base` has no base; C++ inheritance is no matter to the heap.
template <class Value>
struct soa_field {
  static_assert(std::is_trivially_copyable_v<Value>, "soa_field: a value is copied bit by bit, and never destroyed");
  static_assert(!std::is_array_v<Value>, "soa_field: put an array into a struct, which can be assigned");
  static_assert(alignof(Value) <= 16, "soa_field: use a type of at most 16 bytes alignment");
  using type = Value;  ///< type of the value
};

/// The fields of a type in order, without those of its base.
template <class... Fields>
struct soa_fields {
  static constexpr std::uint32_t count = sizeof...(Fields);  ///< how many
};

namespace detail {

template <class T>
concept has_soa_base = requires { typename T::base; };

template <class First, class Second>
struct joined_fields;
template <class... First, class... Second>
struct joined_fields<soa_fields<First...>, soa_fields<Second...>> {
  using type = soa_fields<First..., Second...>;
};

// All fields of `T`, those of its bases first.
template <class T>
struct fields_of {
  using type = typename T::fields;
};
template <has_soa_base T>
struct fields_of<T> {
  using type = typename joined_fields<typename fields_of<typename T::base>::type, typename T::fields>::type;
};

template <class Fields>
struct object_layout;

// Where the fields of one object lie, as in a struct of C: each at a multiple of its alignment. The array of a field
// begins at so many bytes times the number of objects of a block, which is a multiple of the alignment, too. A base has
// the same figures for its fields as the types that derive from it.
template <class... Fields>
struct object_layout<soa_fields<Fields...>> {
  template <class Field>
  static constexpr bool has = (std::is_same_v<Field, Fields> || ...);

  WARPHEAP_FN static constexpr std::uint32_t aligned(std::uint32_t at, std::uint32_t alignment) {
    return (at + alignment - 1) / alignment * alignment;
  }
  template <class Field>
  WARPHEAP_FN static constexpr std::uint32_t offset() {
    std::uint32_t at = 0;
    bool found = false;
    ((at = found ? at : aligned(at, alignof(typename Fields::type)), found = found || std::is_same_v<Field, Fields>,
      at += found ? 0 : static_cast<std::uint32_t>(sizeof(typename Fields::type))),
     ...);
    return at;
  }
  WARPHEAP_FN static constexpr std::uint32_t bytes() {
    std::uint32_t at = 0;
    ((at = aligned(at, alignof(typename Fields::type)) + static_cast<std::uint32_t>(sizeof(typename Fields::type))),
     ...);
    return at;
  }
};

template <class T>
using layout_of = object_layout<typename fields_of<T>::type>;

template <class T, class Base>
WARPHEAP_FN constexpr bool derives() {
  if constexpr (std::is_same_v<T, Base>) {
    return true;
  } else if constexpr (has_soa_base<T>) {
    return derives<typename T::base, Base>();
  } else {
    return false;
  }
}

}  // namespace detail

/// True if objects of `T` have all fields of `Base`: `T` is `Base`, or its `base` is one.
template <class T, class Base>
concept soa_kind_of = detail::derives<T, Base>();

/// True if `Field` is a field of `T` or of a base of it.
template <class Field, class T>
concept soa_field_of = detail::layout_of<T>::template has<Field>;

}  // namespace warpheap
