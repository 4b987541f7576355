// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <allocator/conformance/trial.hpp>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace warpheap::test {

/// One thread takes a block and leaves what it got.
struct take_single_kernel {
  template <class A>
  WARPHEAP_FN void operator()(heap_ref<A> heap, void** block, std::uint64_t bytes) const {
    *block = heap.malloc(bytes);
  }
};

/// True if an empty heap of `size` bytes serves a block of `bytes`.
template <class A>
bool serves_single(std::uint64_t size, std::uint64_t bytes) {
  const warpheap::heap<A> small{size};
  const device_array<void*> block(1);
  launch({1, 1}, take_single_kernel{}, small.ref(), block.data(), bytes);
  return block.at(0) != nullptr;
}

/// A small heap serves each size that is no more than a fourth of it, as rounding and alignment may take the rest:
/// however many blocks of that size the design would make at once in a larger one.
template <class A>
void small_heaps_serve_what_fits(findings& found) {
  if constexpr (!A::capabilities.uses_arena) {
    found.skip("blocks of our memory");
  } else {
    for (const std::uint64_t size : {32'000ul, 64_KiB, 200'000ul, 400'000ul}) {
      for (std::uint64_t bytes = 8; bytes <= size / 4 && bytes <= A::capabilities.largest_bytes;
           bytes += bytes / 2 + 3) {
        found.expect(serves_single<A>(size, bytes), "an empty heap of " + std::to_string(size) +
                                                        " B serves no block of " + std::to_string(bytes) + " B");
      }
    }
  }
}

/// A heap that could serve nothing is refused, with the figure from which on one serves.
template <class A>
void heaps_that_serve_nothing_are_refused(findings& found) {
  if constexpr (!names_least_heap<A>) {
    found.skip("the least size of a heap");
  } else {
    try {
      const warpheap::heap<A> tiny{1};
      found.add("a heap of 1 B was made");
    } catch (const std::invalid_argument& error) {
      const std::string text = error.what();
      const std::size_t at = text.find("needs ");
      if (!found.expect(at != std::string::npos, "the least size is not told: " + text)) return;
      const std::uint64_t least = std::stoull(text.substr(at + 6));
      found.expect(serves_single<A>(least, 1), "the least heap, of " + std::to_string(least) + " B, serves nothing");
      try {
        const warpheap::heap<A> smaller{least - 1};
        found.add("a smaller heap was made than the least, of " + std::to_string(least) + " B");
      } catch (const std::invalid_argument&) {
      }
    }
  }
}

}  // namespace warpheap::test
