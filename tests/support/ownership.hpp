// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <warpheap/platform.hpp>

namespace warpheap::test {

/// The kernels' side of `ownership`.
///
/// Its atomics are relaxed on purpose: the oracle must not order what the allocator forgot to order, or
/// ThreadSanitizer would not see it.
class ownership_view {
 public:
  static constexpr std::uint64_t granule = 8;
  static constexpr std::uint64_t page_bytes = std::uint64_t{1} << 16;

  /// The owned granules of one page of addresses.
  struct page {
    std::uint64_t key;  // number of the page plus 1, 0 while the slot is free
    std::uint32_t owned[page_bytes / granule / 32];
  };
  /// The lowest and the highest owned address so far, inverted and plain, so that both only rise from 0.
  struct extent {
    std::uint64_t inverted_lowest;
    std::uint64_t end;
  };

  ownership_view(page* pages, std::uint64_t slots, extent* reach) : pages_(pages), slots_(slots), reach_(reach) {}

  enum class answer { free_before, owned_before, no_slot };

  /// Makes the caller the owner of the block. `free_before` unless a part of it has an owner.
  WARPHEAP_FN answer claim(const void* block, std::uint64_t bytes) const {
    const auto address = reinterpret_cast<std::uint64_t>(block);
    atomic_view{reach_->inverted_lowest}.fetch_max(~address, memory_order::relaxed, thread_scope::device);
    atomic_view{reach_->end}.fetch_max(address + bytes, memory_order::relaxed, thread_scope::device);
    return for_each_word(address, bytes, [](std::uint32_t& word, std::uint32_t bits) {
      const std::uint32_t before = atomic_view{word}.fetch_or(bits, memory_order::relaxed, thread_scope::device);
      return (before & bits) == 0;
    });
  }

  /// Ends the ownership of the block. `free_before` if all of it was owned.
  WARPHEAP_FN answer disclaim(const void* block, std::uint64_t bytes) const {
    return for_each_word(reinterpret_cast<std::uint64_t>(block), bytes, [](std::uint32_t& word, std::uint32_t bits) {
      const std::uint32_t before = atomic_view{word}.fetch_and(~bits, memory_order::relaxed, thread_scope::device);
      return (before & bits) == bits;
    });
  }

 private:
  template <class Visitor>
  WARPHEAP_FN answer for_each_word(std::uint64_t address, std::uint64_t bytes, Visitor visit) const {
    answer result = answer::free_before;
    const std::uint64_t end = (address + bytes - 1) / granule + 1;
    for (std::uint64_t at = address / granule; at < end;) {
      page* const where = find(at * granule / page_bytes + 1);
      if (where == nullptr) return answer::no_slot;
      const int first = static_cast<int>(at % 32);
      const int count = end - at < 32u - first ? static_cast<int>(end - at) : 32 - first;
      if (!visit(where->owned[at % (page_bytes / granule) / 32], low_bits(count) << first)) {
        result = answer::owned_before;
      }
      at += static_cast<std::uint64_t>(count);
    }
    return result;
  }

  // Finds the page's slot or takes a free one; null if all slots are taken. Linear probing; slots are never given back.
  WARPHEAP_FN page* find(std::uint64_t key) const {
    for (std::uint64_t probe = 0; probe < slots_; ++probe) {
      page& slot = pages_[(key * 0x9e3779b97f4a7c15u + probe) & (slots_ - 1)];
      const atomic_view view{slot.key};
      std::uint64_t seen = view.load(memory_order::relaxed, thread_scope::device);
      if (seen == 0 && view.compare_exchange(seen, key, memory_order::relaxed, thread_scope::device)) return &slot;
      if (seen == key) return &slot;
    }
    return nullptr;
  }

  page* pages_;
  std::uint64_t slots_;  // a power of two
  extent* reach_;
};

/// The oracle of who owns which bytes: a bitmap of granules of 8 bytes, kept by the address of their pages, so that it
/// knows nothing of the heap that it watches and is exact wherever blocks lie.
class ownership {
 public:
  /// For blocks out of `bytes` bytes of addresses, in any number of pieces of a page or more.
  explicit ownership(std::uint64_t bytes)
      : pages_(next_power_of_two(4 * divide_up(bytes, ownership_view::page_bytes) + 64)), reach_(1) {}

  ownership_view view() const { return {pages_.data(), pages_.size(), reach_.data()}; }

  /// No block has an owner any more.
  void clear() { pages_.clear(); }

  /// The lowest address that was ever owned, and the bytes from there to the end of the highest block.
  std::uint64_t lowest() const { return ~reach_.at(0).inverted_lowest; }
  std::uint64_t span() const {
    const ownership_view::extent reach = reach_.at(0);
    return reach.end == 0 ? 0 : reach.end - ~reach.inverted_lowest;
  }

 private:
  device_array<ownership_view::page> pages_;
  device_array<ownership_view::extent> reach_;
};

}  // namespace warpheap::test
