// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <warpheap/allocator/adaptor_base.hpp>
#include <warpheap/allocator/checked/detail/fault_record.hpp>
#include <warpheap/allocator/checked/detail/guarded_block.hpp>
#include <warpheap/allocator/checked/detail/quarantine.hpp>
#include <warpheap/allocator/concept.hpp>
#include <warpheap/platform.hpp>

namespace warpheap {

/// How closely `checked` looks.
struct checked_options {
  /// Freed blocks that are kept from being handed out again, so that a late write to them is found. A power of two.
  std::uint32_t quarantine = 1024;
  /// Bytes at the start of a freed block that are watched, at most. The thread that frees the block writes them, and
  /// the one whose free drives it out of the quarantine reads them.
  std::uint64_t poison_bytes = std::uint64_t{1} << 20;
};

namespace detail {

// What `checked<A>` promises.
template <device_allocator A>
inline constexpr allocator_capabilities checked_capabilities = [] {
  allocator_capabilities can = A::capabilities;
  can.relocate = false;  // what marks a block depends on its address
  can.refuses_only_when_full = false;
  can.release_by_warp = false;  // a release looks at no block
  can.typed_objects = false;    // a typed heap has no blocks of bytes to look at
  if (can.largest_bytes != unlimited) {
    const std::uint64_t room = align_down(can.largest_bytes, guarded_block::trailer_bytes);
    can.largest_bytes = room < guarded_block::trailer_bytes ? 0 : room - guarded_block::trailer_bytes;
  }
  return can;
}();

}  // namespace detail

/// The design `A`, and what programs do wrong with its blocks is found: `heap<checked<A>>` stands wherever `heap<A>`
/// does. The first fault is kept for the host (`heap::first_fault`); no kernel is stopped, and the heap stays whole.
///
/// | fault | how it is found |
/// |---|---|
/// | `double_free` | the pointer is in no live block of `A`, or its block is in quarantine |
/// | `foreign_pointer`, `interior_pointer` | `A` says so |
/// | `overrun` | the free of the block finds a changed guard byte: up to 256 after the request, and a trailer |
/// | `use_after_free` | a freed block is filled with a pattern and goes into quarantine; a write changes the pattern |
///
/// If several threads free one block together, all but one commit a double free. A pointer to memory of the heap that
/// never was a block is reported as a double free, too. When a block has left the quarantine and was handed out again,
/// a free by its former owner passes for one by the new owner. An overrun that writes what was there is not found. The
/// pattern of a freed block is checked when the block leaves the quarantine: after so many other frees, or when the
/// heap has no room.
///
/// A call that is wrong does nothing else; a block that was overrun is taken back. Each block has 16 bytes more and is
/// rounded up to 16. A free writes the whole block, and another reads it, up to `Options.poison_bytes`; all frees count
/// in two words. Null means that at one moment of the call `A` had no room and the quarantine was empty; but other
/// threads may have had blocks in hands, one each, between the quarantine and `A`. So `refuses_only_when_full` is not
/// promised. Blocks in quarantine keep their places, so new ones are cut from what is left, in smaller pieces maybe.
/// Live bytes are those of `A` without what is in quarantine.
template <locates_blocks A, checked_options Options = checked_options{}>
class checked : public adaptor_base<A, detail::checked_capabilities<A>> {
  using base = adaptor_base<A, detail::checked_capabilities<A>>;

  static_assert(A::capabilities.alignment % detail::guarded_block::trailer_bytes == 0,
                "checked: blocks of the design are aligned to 16 bytes or more, as trailers are");
  static_assert(!A::capabilities.needs_full_warp,
                "checked: lanes err one by one, so the design must serve single ones");

 public:
  WARPHEAP_FN static constexpr std::uint64_t metadata_bytes(std::uint64_t bytes) {
    return own_bytes() + A::metadata_bytes(bytes);
  }

  // Zero bytes are a clean record and an empty quarantine, so `initialise` is that of `A`.
  explicit checked(const arena& from)
      : base(arena{from.data, from.bytes, from.reserved_bytes, from.metadata + own_bytes()}),
        own_(reinterpret_cast<own_state*>(from.metadata)) {}

  /// The quarantine is emptied before, so one block calls.
  static constexpr bool coalesces_in_parallel = false;
  WARPHEAP_FN void coalesce() const
    requires(A::capabilities.trim_bytes != 0);

  WARPHEAP_FN void* malloc(std::uint64_t bytes) const;
  WARPHEAP_FN void* aligned_malloc(std::uint64_t alignment, std::uint64_t bytes) const;
  /// Any pointer but null.
  WARPHEAP_FN void free(void* pointer) const;
  /// What was asked for; of a block that was overrun, all in front of its trailer; 0 for what is no live block.
  WARPHEAP_FN std::uint64_t usable_size(const void* pointer) const;
  WARPHEAP_FN void count(allocator_counts& counts) const
    requires(A::capabilities.counts_live);

  std::optional<memory_fault> first_fault() const;
  void clear_fault() const;

  // To `A` a block in quarantine is live, so its answer is not ours.
  block_location locate(const void* pointer) const = delete;

 private:
  struct own_state {
    detail::fault_record faults;
    detail::quarantine<Options.quarantine> quarantine;
  };
  // In front of the metadata of `A`, and as many for each heap, so that of a smaller arena it stays a prefix.
  WARPHEAP_FN static constexpr std::uint64_t own_bytes() { return align_up(sizeof(own_state), 256); }

  // A memory checker knows of blocks: what is not their owner's is hidden from it, but for what we use.
  static constexpr bool hides_blocks = A::capabilities.owners_alone_use_arena();

  WARPHEAP_FN detail::guarded_block at(const void* block) const {
    return {const_cast<void*>(block), inner_.usable_size(block)};
  }
  WARPHEAP_FN void* begin(void* block, std::uint64_t bytes) const;
  WARPHEAP_COLD_FN void take_back(void* block) const;
  WARPHEAP_COLD_FN void let_go(void* block) const;
  WARPHEAP_COLD_FN void empty_quarantine() const;

  using base::inner_;
  // Kernels get the adaptor by value, so no byte of it is padding.
  own_state* own_;
};

}  // namespace warpheap

#include <warpheap/allocator/checked/detail/checked.hpp>
