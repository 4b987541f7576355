// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>
#include <warpheap/primitives/scratch.hpp>

namespace warpheap {

/// True for places whose flag is not 0.
struct is_flagged {
  const std::uint8_t* flags;  ///< one for each place
  WARPHEAP_FN bool operator()(std::uint32_t place) const { return flags[place] != 0; }
};

/// True for places at which a run of equal keys begins. Bits below `first_bit` do not count.
template <std::unsigned_integral Key>
struct is_run_head {
  const Key* keys;  ///< one for each place; equal ones are neighbours
  int first_bit;    ///< below the width of a key
  WARPHEAP_FN bool operator()(std::uint32_t place) const {
    return place == 0 || keys[place] >> first_bit != keys[place - 1] >> first_bit;
  }
};

}  // namespace warpheap

#if defined(WARPHEAP_BACKEND_CUDA)
#include <warpheap/primitives/cuda/select.hpp>
#else
#include <warpheap/primitives/host/select.hpp>
#endif

namespace warpheap {

/// Bytes of memory to work in that `select_places` needs for `count` places.
template <class Predicate>
std::uint64_t select_places_work(std::uint32_t count) {
  return target::select_work<Predicate>(count);
}
/// Writes the places below `count` for which `predicate` is true to `places`, in ascending order, and their number to
/// `*selected`. Both are in device memory. `predicate` is a function object as `launch` takes it.
template <class Predicate>
void select_places(work_memory work, Predicate predicate, std::uint32_t count, std::uint32_t* places,
                   std::uint32_t* selected) {
  static_assert(std::is_trivially_copyable_v<Predicate>, "select_places: the predicate is copied to the device");
  target::select(work, predicate, count, places, selected);
}

}  // namespace warpheap
