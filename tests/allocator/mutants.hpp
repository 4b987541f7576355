// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <allocator/reference.hpp>
#include <allocator/slot_row.hpp>
#include <cstddef>
#include <cstdint>
#include <warpheap/heap.hpp>

/// Allocators that break one promise each, for the test of the conformance suite. Each is the reference with one fault.
namespace warpheap::test::mutants {

/// Some blocks are 16 bytes shorter than was asked for, and claim not to be: they overlap their neighbours.
struct overlapping : locked_list<> {
  using locked_list::locked_list;
  static constexpr const char* name = "overlapping";
  static constexpr std::uint64_t granule = 16;

  WARPHEAP_FN void* malloc(std::uint64_t bytes) const {
    return locked_list::malloc(bytes > granule && bytes % 5 == 0 ? bytes - granule : bytes);
  }
  WARPHEAP_FN std::uint64_t usable_size(const void* block) const { return locked_list::usable_size(block) + granule; }
};

/// Some blocks have fewer bytes than were asked for, and say so.
struct short_blocks : overlapping {
  using overlapping::overlapping;
  static constexpr const char* name = "short_blocks";

  WARPHEAP_FN std::uint64_t usable_size(const void* block) const { return locked_list::usable_size(block); }
};

/// Every seventh block is not taken back.
struct leaking : locked_list<> {
  using locked_list::locked_list;
  static constexpr const char* name = "leaking";

  WARPHEAP_FN void free(void* block) const {
    if (reinterpret_cast<std::uint64_t>(block) / 16 % 7 != 0) locked_list::free(block);
  }
};

/// A request that cannot be served takes 16 bytes all the same.
struct losing_on_failure : locked_list<> {
  using locked_list::locked_list;
  static constexpr const char* name = "losing_on_failure";

  WARPHEAP_FN void* malloc(std::uint64_t bytes) const {
    void* const block = locked_list::malloc(bytes);
    if (block == nullptr) locked_list::malloc(1);
    return block;
  }
};

/// Expects all lanes of the warp in `malloc`, which nobody promised it.
struct full_warp_only : locked_list<> {
  using locked_list::locked_list;
  static constexpr const char* name = "full_warp_only";

  WARPHEAP_FN void* malloc(std::uint64_t bytes) const {
    return any(low_bits(warp_width), bytes > 0) ? locked_list::malloc(bytes) : nullptr;
  }
};

/// Some blocks begin 8 bytes late.
struct misaligned : locked_list<> {
  using locked_list::locked_list;
  static constexpr const char* name = "misaligned";

  WARPHEAP_FN void* malloc(std::uint64_t bytes) const {
    auto* const block = static_cast<std::byte*>(locked_list::malloc(bytes + 8));
    return block == nullptr || bytes % 3 != 0 ? block : block + 8;
  }
  WARPHEAP_FN void free(void* block) const { locked_list::free(begin(block)); }
  WARPHEAP_FN std::uint64_t usable_size(const void* block) const { return locked_list::usable_size(begin(block)) - 8; }

 private:
  WARPHEAP_FN static void* begin(const void* block) {
    return reinterpret_cast<void*>(align_down(reinterpret_cast<std::uint64_t>(block), 16));
  }
};

/// `aligned_malloc` takes no notice of the alignment.
struct unaligned : locked_list<> {
  using locked_list::locked_list;
  static constexpr const char* name = "unaligned";

  WARPHEAP_FN void* aligned_malloc(std::uint64_t, std::uint64_t bytes) const { return locked_list::malloc(bytes); }
};

/// A full heap gives its first block once more instead of null.
struct never_null : locked_list<> {
  explicit never_null(const arena& from) : locked_list(from), first_(from.data) {}
  static constexpr const char* name = "never_null";

  WARPHEAP_FN void* malloc(std::uint64_t bytes) const {
    void* const block = locked_list::malloc(bytes);
    return block == nullptr ? first_ : block;
  }

 private:
  void* first_;
};

/// Half of a heap that was in use before does not come back by a reset. It remembers by a word at the arena's end.
struct forgetful_reset : locked_list<> {
  explicit forgetful_reset(const arena& from)
      : locked_list(from), bytes_(from.bytes), memory_(reinterpret_cast<std::uint64_t*>(from.data + from.bytes) - 2) {}
  static constexpr const char* name = "forgetful_reset";

  WARPHEAP_FN void initialise() const {
    locked_list::initialise();
    if (grid_thread_index() != 0) return;
    shadow_unpoison(memory_, sizeof(*memory_));
    constexpr std::uint64_t used_before = 0x5eed5eed5eed5eed;
    if (*memory_ == used_before) locked_list::malloc(bytes_ / 2);
    *memory_ = used_before;
  }

 private:
  std::uint64_t bytes_;
  std::uint64_t* memory_;
};

/// Growth makes a new heap of the old one and forgets its blocks.
struct forgetful_growth : locked_list<> {
  explicit forgetful_growth(const arena& from) : locked_list(from), metadata_(from.metadata) {}
  static constexpr const char* name = "forgetful_growth";

  WARPHEAP_FN void grow(std::uint64_t bytes) const {
    if (grid_thread_index() != 0) return;
    for (std::uint64_t i = 0; i < 256; ++i) metadata_[i] = std::byte{0};
    locked_list::grow(bytes);
  }

 private:
  std::byte* metadata_;
};

/// Growth adds nothing.
struct idle_growth : locked_list<> {
  using locked_list::locked_list;
  static constexpr const char* name = "idle_growth";

  WARPHEAP_FN void grow(std::uint64_t) const {}
};

/// The heap that moved knows nothing of its blocks.
struct forgetful_relocation : locked_list<> {
  using locked_list::locked_list;
  static constexpr const char* name = "forgetful_relocation";

  void relocate(const arena& from, const arena& to) const {
    launch({1, 1}, warpheap::detail::initialise_heap{},
           forgetful_relocation{{to.data, from.bytes, from.bytes, to.metadata}});
  }
};

/// A block that is freed by another block of the grid than took it is lost. It keeps the taker's in front of the block.
struct own_blocks_only : locked_list<> {
  using locked_list::locked_list;
  static constexpr const char* name = "own_blocks_only";
  static constexpr allocator_capabilities capabilities{
      .individual_free = true, .reset = true, .uses_arena = true, .state_in_arena = true};

  WARPHEAP_FN void* malloc(std::uint64_t bytes) const {
    if (bytes > unlimited - 16) return nullptr;
    auto* const front = static_cast<std::uint64_t*>(locked_list::malloc(bytes + 16));
    if (front == nullptr) return nullptr;
    *front = block_index();
    return front + 2;
  }
  WARPHEAP_FN void free(void* block) const {
    std::uint64_t* const front = static_cast<std::uint64_t*>(block) - 2;
    if (*front == block_index()) locked_list::free(front);
  }
};

/// The rounding of a size overflows, so that too much looks like little.
struct overflowing : locked_list<> {
  using locked_list::locked_list;
  static constexpr const char* name = "overflowing";

  WARPHEAP_FN void* malloc(std::uint64_t bytes) const {
    const std::uint64_t rounded = align_up(bytes, 16);
    return locked_list::malloc(rounded == 0 ? 16 : rounded);
  }
};

/// Bytes that are freed go on counting as live.
struct miscounting : locked_list<> {
  using locked_list::locked_list;
  static constexpr const char* name = "miscounting";

  WARPHEAP_FN void count(allocator_counts& counts) const {
    locked_list::count(counts);
    if (grid_thread_index() == 0) counts.live_bytes += 16;
  }
};

/// Two threads can be granted one slot: it is claimed by a load and a store.
using double_granting = slot_row<claim::load_and_store>;

/// What a freed block held is not ordered before its next owner's use.
using unordered_release = locked_list<memory_order::relaxed>;

}  // namespace warpheap::test::mutants
