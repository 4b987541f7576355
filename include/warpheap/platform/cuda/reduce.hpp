// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nv/target>
#include <warpheap/platform/cuda/group.hpp>
#include <warpheap/platform/reduce.hpp>
#include <warpheap/platform/standard.hpp>

namespace warpheap::target {

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
inline constexpr bool has_reduction = false;
#else
inline constexpr bool has_reduction = true;
#endif

// Compute capability 8.0 reduces 32-bit words in one instruction; below it, shuffles do.
template <class T, class Combine>
inline constexpr bool reduces_natively =
    has_reduction &&
    (std::is_same_v<T, unsigned> || (std::is_same_v<T, int> && !std::is_same_v<Combine, bit_and> &&
                                     !std::is_same_v<Combine, bit_or> && !std::is_same_v<Combine, bit_xor>));

WARPHEAP_FN inline unsigned native_reduce([[maybe_unused]] lane_mask group, [[maybe_unused]] unsigned value, bit_and,
                                          call_site site) {
  NV_IF_ELSE_TARGET(NV_PROVIDES_SM_80, (return __reduce_and_sync(group, value);), (needs_kernel(site);))
}
WARPHEAP_FN inline unsigned native_reduce([[maybe_unused]] lane_mask group, [[maybe_unused]] unsigned value, bit_or,
                                          call_site site) {
  NV_IF_ELSE_TARGET(NV_PROVIDES_SM_80, (return __reduce_or_sync(group, value);), (needs_kernel(site);))
}
WARPHEAP_FN inline unsigned native_reduce([[maybe_unused]] lane_mask group, [[maybe_unused]] unsigned value, bit_xor,
                                          call_site site) {
  NV_IF_ELSE_TARGET(NV_PROVIDES_SM_80, (return __reduce_xor_sync(group, value);), (needs_kernel(site);))
}
template <class T>
WARPHEAP_FN T native_reduce([[maybe_unused]] lane_mask group, [[maybe_unused]] T value, plus, call_site site) {
  NV_IF_ELSE_TARGET(NV_PROVIDES_SM_80, (return __reduce_add_sync(group, value);), (needs_kernel(site);))
}
template <class T>
WARPHEAP_FN T native_reduce([[maybe_unused]] lane_mask group, [[maybe_unused]] T value, minimum, call_site site) {
  NV_IF_ELSE_TARGET(NV_PROVIDES_SM_80, (return __reduce_min_sync(group, value);), (needs_kernel(site);))
}
template <class T>
WARPHEAP_FN T native_reduce([[maybe_unused]] lane_mask group, [[maybe_unused]] T value, maximum, call_site site) {
  NV_IF_ELSE_TARGET(NV_PROVIDES_SM_80, (return __reduce_max_sync(group, value);), (needs_kernel(site);))
}

template <class T, class Combine>
WARPHEAP_FN T reduce(lane_mask group, T value, Combine combine, call_site site) {
  return native_reduce(group, value, combine, site);
}

}  // namespace warpheap::target
