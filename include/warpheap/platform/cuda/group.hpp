// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nv/target>
#if !defined(__CUDACC_RTC__)
#include <cstring>
#endif
#include <warpheap/platform/check.hpp>
#include <warpheap/platform/group.hpp>
#include <warpheap/platform/standard.hpp>

namespace warpheap::target {

// A collective needs a warp, so the host side of a CUDA build has no answer to give.
[[noreturn]] WARPHEAP_FN inline void needs_kernel(call_site site) {
  target::check_failed("a warp collective was called outside a kernel: start the code with launch()", site);
}

WARPHEAP_FN inline lane_mask own_bit() {
  lane_mask own = 1;
  NV_IF_TARGET(NV_IS_DEVICE, (asm("mov.u32 %0, %%lanemask_eq;" : "=r"(own));))
  return own;
}

WARPHEAP_FN inline lane_mask lower_bits() {
  lane_mask lower = 0;
  NV_IF_TARGET(NV_IS_DEVICE, (asm("mov.u32 %0, %%lanemask_lt;" : "=r"(lower));))
  return lower;
}

// The compiler takes the result of `activemask` for the same in all lanes that meet later. It need not be: lanes that
// gathered in different turns of a loop may come to one place together, and ptxas 13.0 leaves out the check of their
// masks there, so a shuffle or a vote runs over all of them and reads lanes that are elsewhere (seen on an H200). With
// the caller's own bit, which is in the mask anyhow, the mask is the lane's own to the compiler, and it checks.
WARPHEAP_FN inline lane_mask active_group(call_site site) {
  NV_IF_ELSE_TARGET(NV_IS_DEVICE, (return __activemask() | own_bit();), (needs_kernel(site);))
}

WARPHEAP_FN inline lane_mask ballot([[maybe_unused]] lane_mask group, [[maybe_unused]] bool predicate, call_site site) {
  NV_IF_ELSE_TARGET(NV_IS_DEVICE, (return __ballot_sync(group, predicate);), (needs_kernel(site);))
}

// The unsigned word that carries a T through a shuffle or a match.
template <class T>
using carrier = std::conditional_t<sizeof(T) == 8, unsigned long long, unsigned>;

template <class T>
WARPHEAP_FN carrier<T> to_carrier(T value) {
  carrier<T> word = 0;
  memcpy(&word, &value, sizeof(T));
  return word;
}

template <class T>
WARPHEAP_FN T from_carrier(carrier<T> word) {
  T value;
  memcpy(&value, &word, sizeof(T));
  return value;
}

template <class T>
WARPHEAP_FN T shuffle([[maybe_unused]] lane_mask group, [[maybe_unused]] T value, [[maybe_unused]] int source,
                      call_site site) {
  NV_IF_ELSE_TARGET(NV_IS_DEVICE, (return from_carrier<T>(__shfl_sync(group, to_carrier(value), source));),
                    (needs_kernel(site);))
}

WARPHEAP_FN inline lane_mask match_word([[maybe_unused]] lane_mask group, [[maybe_unused]] unsigned word,
                                        call_site site) {
  NV_IF_ELSE_TARGET(NV_IS_DEVICE, (return __match_any_sync(group, word);), (needs_kernel(site);))
}

// Two matches of 32 bits are not slower than one of 64 where a multiprocessor is full of warps, and take half its time
// if the lower halves of all 32 lanes differ (H200: 67 cycles a warp, where it is 128).
template <class T>
WARPHEAP_FN lane_mask match(lane_mask group, T value, call_site site) {
  const carrier<T> word = to_carrier(value);
  const lane_mask low = match_word(group, static_cast<unsigned>(word), site);
  if constexpr (sizeof(T) == 8) return low & match_word(group, static_cast<unsigned>(word >> 32), site);
  return low;
}

// Lanes that were together before a call need not be so after it: they leave the function one by one. ptxas 13.0 takes
// it that they are, and makes nothing of a barrier there, so a lane goes on while others of the group are still in the
// function (seen on an H200). The caller is in `activemask`, so this is `group`; the compiler does not know.
WARPHEAP_FN inline lane_mask reconverge([[maybe_unused]] lane_mask group, call_site site) {
  NV_IF_ELSE_TARGET(NV_IS_DEVICE,
                    (const lane_mask same = group | (__activemask() & own_bit()); __syncwarp(same); return same;),
                    (needs_kernel(site);))
}

WARPHEAP_FN inline void sync(lane_mask group, call_site site) { static_cast<void>(reconverge(group, site)); }

WARPHEAP_FN inline void sync_block(call_site site) {
  NV_IF_ELSE_TARGET(NV_IS_DEVICE, (__syncthreads();), (needs_kernel(site);))
}

}  // namespace warpheap::target
