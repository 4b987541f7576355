// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <warpheap/allocator.hpp>
#include <warpheap/platform.hpp>
#include <warpheap/trace/recorder.hpp>

namespace warpheap {

namespace detail {

// What `recorded<A>` promises.
template <device_allocator A>
inline constexpr allocator_capabilities recorded_capabilities = [] {
  allocator_capabilities can = A::capabilities;
  can.typed_objects = false;    // a typed heap has no blocks of bytes to record
  can.release_by_warp = false;  // blocks would go back without a free to record
  can.relocate = false;         // blocks would change their addresses, by which the recorder knows them
  return can;
}();

}  // namespace detail

/// The design `A`, and each malloc and free is written down. `heap<recorded<A>>` stands wherever `heap<A>` does, for as
/// long as the `recorder` lives that was there when it was made; without one its making throws `trace_error`.
///
/// Every call goes to `A` as it came, and what `A` answers goes back as it came: the program does what it did, only
/// slower. A reset is written down as well; a recorded heap cannot be relocated.
///
/// `recorded<checked<A>>` writes down the calls of the program, wrong ones included, and `checked<recorded<A>>` those
/// of the checks: sizes with their guards, and a free when the block leaves the quarantine.
template <device_allocator A>
class recorded : public adaptor_base<A, detail::recorded_capabilities<A>> {
  using base = adaptor_base<A, detail::recorded_capabilities<A>>;

 public:
  /// Throws `trace_error` if there is no recorder.
  explicit recorded(const arena& from) : base(from), log_(recorder::current().log()) {}

  /// As `A`; notes that no block is live.
  WARPHEAP_FN void initialise() const {
    inner_.initialise();
    if (grid_thread_index() == 0) log_.append(trace_event::reset());
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

 private:
  WARPHEAP_FN void* noted(void* block, std::uint64_t bytes) const {
    log_.append(trace_event::malloc(block, bytes));
    return block;
  }

  using base::inner_;
  trace_log log_;
};

}  // namespace warpheap
