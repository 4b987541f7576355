// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <support/payload.hpp>
#include <support/random.hpp>
#include <support/watched_heap.hpp>
#include <warpheap/platform.hpp>

namespace warpheap::test {

/// A block and the bytes that were asked for; null if it was refused.
struct held_block {
  void* block;
  std::uint64_t bytes;
};

/// Thread i takes `each` blocks of 1 to `largest` bytes, or what the design serves, writes every byte of them and holds
/// them in `held[i * each ...]`. The heap must have room for all.
struct take_kernel {
  template <class A>
  WARPHEAP_FN void operator()(watched_heap<A> heap, held_block* held, std::uint64_t each, std::uint64_t seed,
                              std::uint64_t largest) const {
    const std::uint64_t self = grid_thread_index();
    random_stream random{seed, self};
    for (std::uint64_t i = self * each; i < (self + 1) * each; ++i) {
      const std::uint64_t bytes = random.size(heap.capped(largest));
      held[i] = {heap.must_malloc(bytes), bytes};
      if (held[i].block != nullptr) payload{held[i].block, bytes, i}.write_all();
    }
  }
};

/// Thread i checks the held blocks of thread i + `shift`.
struct verify_kernel {
  template <class A>
  WARPHEAP_FN void operator()(watched_heap<A> heap, const held_block* held, std::uint64_t each,
                              std::uint64_t shift) const {
    const std::uint64_t other = (grid_thread_index() + shift) % grid_threads();
    for (std::uint64_t i = other * each; i < (other + 1) * each; ++i) {
      if (held[i].block == nullptr) continue;
      heap.log.expect(payload{held[i].block, held[i].bytes, i}.all_intact(), problem::damaged, held[i].bytes,
                      held[i].block);
    }
  }
};

/// Thread i frees the held blocks of thread i + `shift`.
struct give_kernel {
  template <class A>
  WARPHEAP_FN void operator()(watched_heap<A> heap, const held_block* held, std::uint64_t each,
                              std::uint64_t shift) const {
    const std::uint64_t other = (grid_thread_index() + shift) % grid_threads();
    for (std::uint64_t i = other * each; i < (other + 1) * each; ++i) heap.free(held[i].block, held[i].bytes);
  }
};

}  // namespace warpheap::test
