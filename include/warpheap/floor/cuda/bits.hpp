// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cuda/std/bit>
#include <nv/target>
#include <warpheap/floor/bits.hpp>

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
WARPHEAP_FN inline std::uint32_t rotate_left(std::uint32_t word, std::uint32_t count) {
  NV_IF_ELSE_TARGET(NV_IS_DEVICE, (return __funnelshift_l(word, word, count);),
                    (return cuda::std::rotl(word, static_cast<int>(count));))
}

}  // namespace warpheap::target
