// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <warpheap/allocator.hpp>
#include <warpheap/platform.hpp>
#include <warpheap/trace/recorder.hpp>

namespace warpheap {

/// The design `A`, and each malloc and free is written down. `heap<recorded<A>>` stands wherever `heap<A>` does, for as
/// long as the `recorder` lives that was there when it was made; without one its making throws `trace_error`.
///
/// Every call goes to `A` as it came, and what `A` answers goes back as it came: the program does what it did, only
/// slower. A reset is written down as well; a recorded heap cannot be relocated.
template <device_allocator A>
class recorded {
 public:
  /// That of `A`.
  static constexpr const char* name = A::name;
  /// Those of `A`, without `relocate`.
  static constexpr allocator_capabilities capabilities = [] {
    allocator_capabilities can = A::capabilities;
    can.relocate = false;  // blocks would change their addresses, by which the recorder knows them
    return can;
  }();

  /// As many as `A` has: the log is the recorder's.
  WARPHEAP_FN static constexpr std::uint64_t metadata_bytes(std::uint64_t bytes) { return A::metadata_bytes(bytes); }

  /// Throws `trace_error` if there is no recorder.
  explicit recorded(const arena& from) : inner_(from), log_(recorder::current().log()) {}

  /// As `A`; notes that no block is live.
  WARPHEAP_FN void initialise() const {
    inner_.initialise();
    if (grid_thread_index() == 0) log_.append(trace_event::reset());
  }
  /// As `A`.
  WARPHEAP_FN void grow(std::uint64_t bytes) const
    requires(A::capabilities.grow)
  {
    inner_.grow(bytes);
  }

  /// As `A`; notes the block and the bytes, or that the heap gave none.
  WARPHEAP_FN void* malloc(std::uint64_t bytes) const { return noted(inner_.malloc(bytes), bytes); }
  /// As `malloc`, aligned; the alignment is not noted.
  WARPHEAP_FN void* aligned_malloc(std::uint64_t alignment, std::uint64_t bytes) const {
    return noted(inner_.aligned_malloc(alignment, bytes), bytes);
  }
  /// As `A`; notes the block.
  WARPHEAP_FN void free(void* block) const {
    log_.append(trace_event::free(block));  // before the block can be another's: see trace_log
    inner_.free(block);
  }

  /// As `A`.
  WARPHEAP_FN std::uint64_t usable_size(const void* block) const
    requires(A::capabilities.knows_size)
  {
    return inner_.usable_size(block);
  }
  /// As `A`.
  WARPHEAP_FN void count(allocator_counts& counts) const
    requires(A::capabilities.counts_live)
  {
    inner_.count(counts);
  }

 private:
  WARPHEAP_FN void* noted(void* block, std::uint64_t bytes) const {
    log_.append(trace_event::malloc(block, bytes));
    return block;
  }

  A inner_;
  trace_log log_;
};

}  // namespace warpheap
