// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/allocator/device.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/structures.hpp>

namespace warpheap::detail {

/// The registered types of a heap: their numbers, and the size of blocks. A block has the bytes of 64 objects of the
/// smallest type, and as many objects of another type as these bytes hold.
template <class... T>
struct soa_types {
  static constexpr std::uint32_t count = sizeof...(T);
  static_assert(count != 0, "soa_heap: register a type");
  static_assert(count <= 200, "soa_heap: at most 200 types");  // classes of slab_entry, and sets of slab_sets

  WARPHEAP_FN static constexpr std::uint32_t smallest() {
    std::uint32_t least = ~std::uint32_t{0};
    ((least = layout_of<T>::bytes() < least ? layout_of<T>::bytes() : least), ...);
    return least;
  }
  WARPHEAP_FN static constexpr std::uint32_t block_bytes() { return 64 * smallest(); }

  template <class U>
  WARPHEAP_FN static constexpr std::uint32_t capacity() {
    constexpr std::uint32_t fits = block_bytes() / layout_of<U>::bytes();
    static_assert(fits != 0, "soa_heap: a type has more than 64 times the bytes of the smallest; split its fields");
    return fits < 64 ? fits : 64;
  }
  template <class U>
  WARPHEAP_FN static constexpr std::uint32_t index() {
    static_assert(((std::is_same_v<U, T> ? 1 : 0) + ...) == 1, "soa_heap: the type is not registered, or twice");
    std::uint32_t at = 0;
    bool found = false;
    ((found = found || std::is_same_v<U, T>, at += found ? 0 : 1), ...);
    return at;
  }
  // True if a type that derives from `U` is registered, or `U` is not.
  template <class U>
  WARPHEAP_FN static constexpr bool has_derived() {
    return !(std::is_same_v<U, T> || ...) || ((!std::is_same_v<U, T> && soa_kind_of<T, U>) || ...);
  }
  // True if type number `type` is `U` or derives from it.
  template <class U>
  WARPHEAP_FN static constexpr bool is_kind(std::uint32_t type) {
    return ((soa_kind_of<T, U> && type == index<T>()) || ...);
  }
  static_assert(smallest() != 0, "soa_heap: a type has no fields");
};

}  // namespace warpheap::detail
