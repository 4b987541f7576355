// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda/std/bit>
#include <nv/target>
#include <warpheap/platform/bits.hpp>
#include <warpheap/platform/standard.hpp>

namespace warpheap::target {

template <class Word>
WARPHEAP_FN int popcount(Word word) {
  return cuda::std::popcount(word);
}
template <class Word>
WARPHEAP_FN int count_trailing_zeros(Word word) {
  return cuda::std::countr_zero(word);
}
template <class Word>
WARPHEAP_FN int count_leading_zeros(Word word) {
  return cuda::std::countl_zero(word);
}
// The hardware tells where the highest bit is, and of the lowest one after a reversal how far it is from the top. The
// library counts zeros, and nvcc 13.0 then subtracts twice.
WARPHEAP_FN inline int lowest_bit(std::uint32_t word) {
  NV_IF_ELSE_TARGET(NV_IS_DEVICE,
                    (int index; asm("bfind.shiftamt.u32 %0, %1;"
                                    : "=r"(index)
                                    : "r"(__brev(word)));
                     return index;),
                    (return cuda::std::countr_zero(word);))
}
WARPHEAP_FN inline int highest_bit(std::uint32_t word) {
  NV_IF_ELSE_TARGET(NV_IS_DEVICE,
                    (int index; asm("bfind.u32 %0, %1;"
                                    : "=r"(index)
                                    : "r"(word));
                     return index;),
                    (return 31 - cuda::std::countl_zero(word);))
}
// Halves the window: where the wanted bit is not in the lower half, that is dropped. By predicates, since nvcc 13.0 has
// a selection for each of the three changes, and half as many instructions more.
WARPHEAP_FN inline int nth_set_bit(std::uint32_t word, int rank) {
#define WARPHEAP_HALF(width, low) \
  "and.b32 half, %1, " low        \
  ";"                             \
  "popc.b32 below, half;"         \
  "setp.ge.s32 above, %2, below;" \
  "@above sub.s32 %2, %2, below;" \
  "@above shr.b32 %1, %1, " width \
  ";"                             \
  "@above add.s32 %0, %0, " width ";"
  int position = 0;
  NV_IF_ELSE_TARGET(NV_IS_DEVICE,
                    (asm("{ .reg .b32 half, below; .reg .pred above;" WARPHEAP_HALF("16", "65535") WARPHEAP_HALF(
                             "8", "255") WARPHEAP_HALF("4", "15") WARPHEAP_HALF("2", "3") "and.b32 half, %1, 1;"
                                                                                          "setp.ge.s32 above, %2, half;"
                                                                                          "@above add.s32 %0, %0, 1; }"
                         : "+r"(position), "+r"(word), "+r"(rank));),
                    (while (rank-- > 0) word &= word - 1; position = cuda::std::countr_zero(word);))
#undef WARPHEAP_HALF
  return position;
}
WARPHEAP_FN inline void split(std::uint64_t word, std::uint32_t& low, std::uint32_t& high) {
  NV_IF_ELSE_TARGET(NV_IS_DEVICE,
                    (asm("mov.b64 {%0, %1}, %2;"
                         : "=r"(low), "=r"(high)
                         : "l"(word));),
                    (low = static_cast<std::uint32_t>(word); high = static_cast<std::uint32_t>(word >> 32);))
}
WARPHEAP_FN inline std::uint32_t rotate_left(std::uint32_t word, std::uint32_t count) {
  NV_IF_ELSE_TARGET(NV_IS_DEVICE, (return __funnelshift_l(word, word, count);),
                    (return cuda::std::rotl(word, static_cast<int>(count));))
}

}  // namespace warpheap::target
