// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <warpheap/allocator.hpp>

namespace warpheap::test {

/// How `slot_row` takes a bit.
enum class claim {
  atomic,         ///< by one atomic operation
  load_and_store  ///< by two, between which another thread may do the same: wrong, for the test of tests
};

/// A small correct design without locks: slots of one size with a bit each. It promises little, so the conformance
/// suite must leave out much; and large requests it cannot serve.
template <claim Claim = claim::atomic>
class slot_row {
 public:
  static constexpr const char* name = "slot_row";
  static constexpr std::uint64_t work_divisor = 64;  // a full row is searched to its end by each thread
  static constexpr std::uint64_t slot_bytes = 64;
  static constexpr allocator_capabilities capabilities{.individual_free = true,
                                                       .reset = true,
                                                       .uses_arena = true,
                                                       // A search may pass a slot before it is freed, and come to
                                                       // another one after the owner of the first took that.
                                                       .refuses_only_when_full = false,
                                                       .largest_alignment = slot_bytes,
                                                       .largest_bytes = slot_bytes};

  WARPHEAP_FN static constexpr std::uint64_t metadata_bytes(std::uint64_t bytes) {
    return (1 + bytes / slot_bytes / 32) * sizeof(std::uint32_t);
  }

  explicit slot_row(const arena& from)
      : data_(from.data),
        hint_(reinterpret_cast<std::uint32_t*>(from.metadata)),
        words_(hint_ + 1),
        count_(static_cast<std::uint32_t>(from.bytes / slot_bytes / 32)) {}

  WARPHEAP_FN void initialise() const {}

  WARPHEAP_FN void* malloc(std::uint64_t bytes) const {
    if (bytes > slot_bytes) return nullptr;
    const atomic_view hint{*hint_};
    std::uint32_t i = hint.load(memory_order::relaxed, thread_scope::device);
    for (std::uint32_t tried = 0; tried < count_; ++tried, i = i + 1 < count_ ? i + 1 : 0) {
      const atomic_view word{words_[i]};
      std::uint32_t seen = word.load(memory_order::relaxed, thread_scope::device);
      while (~seen != 0) {
        const int slot = lowest_bit(~seen);
        const std::uint32_t bit = std::uint32_t{1} << slot;
        if constexpr (Claim == claim::atomic) {
          seen = word.fetch_or(bit, memory_order::acquire, thread_scope::device);
        } else {
          word.store(seen | bit, memory_order::relaxed, thread_scope::device);
        }
        if ((seen & bit) != 0) continue;
        if (tried != 0) hint.store(i, memory_order::relaxed, thread_scope::device);
        return data_ + (std::uint64_t{i} * 32 + static_cast<std::uint64_t>(slot)) * slot_bytes;
      }
    }
    return nullptr;
  }
  WARPHEAP_FN void* aligned_malloc(std::uint64_t, std::uint64_t bytes) const { return malloc(bytes); }

  WARPHEAP_FN void free(void* block) const {
    const auto slot = static_cast<std::uint64_t>(static_cast<std::byte*>(block) - data_) / slot_bytes;
    atomic_view{words_[slot / 32]}.fetch_and(~(std::uint32_t{1} << slot % 32), memory_order::release,
                                             thread_scope::device);
  }

 private:
  std::byte* data_;
  std::uint32_t* hint_;   // the word where searches begin
  std::uint32_t* words_;  // a set bit is a taken slot
  std::uint32_t count_;
};

static_assert(device_allocator<slot_row<>>);

}  // namespace warpheap::test
