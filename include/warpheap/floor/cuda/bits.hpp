// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda/std/bit>
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

}  // namespace warpheap::target
