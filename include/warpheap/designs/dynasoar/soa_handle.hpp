// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/allocator/device.hpp>
#include <warpheap/designs/dynasoar/detail/layout.hpp>
#include <warpheap/platform/device.hpp>

namespace warpheap {
namespace detail {

// What the 64 bits of a handle say:
//
//   | 0, 2 | block + 1, 26 | generation, 16 | type, 8 | capacity - 1, 6 | slot, 6 |
//
// Zero is null.
struct soa_place {
  std::uint32_t block, slot, capacity, type, generation;

  WARPHEAP_FN constexpr std::uint64_t bits() const {
    return std::uint64_t{block + 1} << 36 | std::uint64_t{generation} << 20 | type << 12 | (capacity - 1) << 6 | slot;
  }
  WARPHEAP_FN static constexpr soa_place of(std::uint64_t bits) {
    const auto low = static_cast<std::uint32_t>(bits);
    return {static_cast<std::uint32_t>(bits >> 36) - 1, low & 63, (low >> 6 & 63) + 1, low >> 12 & 0xff,
            static_cast<std::uint32_t>(bits >> 20) & 0xffff};
  }
};

}  // namespace detail

/// Names an object of `U`, or of a type that derives from it, in a `soa_heap`: a word that can be kept in fields and
/// compared. It belongs to the heap that made it. A handle of an object that was destroyed is recognised by
/// `soa_ref::contains` unless its slot was taken again while its block held other objects.
template <class U>
class soa_handle {
 public:
  /// The null handle.
  soa_handle() = default;
  /// A handle of the same object, as one of a base.
  template <class V>
    requires(!std::is_same_v<U, V> && soa_kind_of<V, U>)
  WARPHEAP_FN constexpr soa_handle(soa_handle<V> other) : bits_(other.bits()) {}

  /// The handle that `bits` are.
  WARPHEAP_FN static constexpr soa_handle from_bits(std::uint64_t bits) {
    soa_handle made;
    made.bits_ = bits;
    return made;
  }
  WARPHEAP_FN constexpr std::uint64_t bits() const { return bits_; }           ///< the handle as a number
  WARPHEAP_FN explicit constexpr operator bool() const { return bits_ != 0; }  ///< false for null
  WARPHEAP_FN constexpr bool operator==(soa_handle other) const { return bits_ == other.bits_; }  ///< one object

 private:
  std::uint64_t bits_ = 0;
};

/// A live object of `U`, or of a type that derives from it, as a kernel works with it: it gives access to the fields.
/// It is valid while the object lives.
template <class U>
class soa_object {
 public:
  /// The object at `slot` of block `block`, whose arrays begin at `first`. `soa_ref` makes objects.
  WARPHEAP_FN soa_object(std::byte* first, const detail::dynasoar_header* head, std::uint32_t block, std::uint32_t slot,
                         std::uint32_t capacity, std::uint32_t type)
      : first_(first), head_(head), block_(block), slot_(slot), capacity_(capacity), type_(type) {}

  /// The value of a field: an element of the array that the block has for it.
  template <class Field>
    requires soa_field_of<Field, U>
  WARPHEAP_FN typename Field::type& get() const {
    constexpr std::uint32_t offset = detail::layout_of<U>::template offset<Field>();
    auto* const values = reinterpret_cast<typename Field::type*>(first_ + offset * capacity_);
    return values[slot_];
  }

  /// The handle of the object.
  WARPHEAP_FN soa_handle<U> handle() const {
    const std::uint32_t generation = head_->entry.look().generation;  // stands still while the object lives
    return soa_handle<U>::from_bits(detail::soa_place{block_, slot_, capacity_, type_, generation}.bits());
  }

 private:
  std::byte* first_;
  const detail::dynasoar_header* head_;
  std::uint32_t block_, slot_, capacity_, type_;
};

}  // namespace warpheap
