// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <warpheap/graph/detail/page_queue.hpp>
#include <warpheap/heap.hpp>
#include <warpheap/platform.hpp>
#include <warpheap/structures.hpp>

namespace warpheap {

/// A `page_queue_heap` as kernels use it. Trivially copyable; copies are the same heap. Valid as long as the heap.
///
/// Any lanes may call, converged or not. Lanes of a warp that come together are served by one atomic operation.
class page_queue_ref {
 public:
  /// The heap of `pages` pages of `page_bytes` bytes from `data` on, whose counters are at `shared` and whose queue of
  /// free pages is `freed`. `page_queue_heap::ref` makes it.
  WARPHEAP_FN page_queue_ref(std::byte* data, std::uint32_t pages, std::uint32_t page_bytes,
                             detail::page_queue_state* shared, const index_ring& freed)
      : data_(data), shared_(shared), freed_(freed), pages_(pages), page_bytes_(page_bytes) {}

  /// A page, if `bytes` fits into one, aligned to its size; any contents. Null for more bytes, or if no page was free
  /// at one moment of the call.
  WARPHEAP_FN void* malloc(std::uint64_t bytes) const;
  /// Gives a page back; null is ignored. The caller's accesses to the page happen before those of its next owner.
  WARPHEAP_FN void free(void* page) const;
  /// Bytes of a page.
  WARPHEAP_FN std::uint64_t usable_size(const void*) const { return page_bytes_; }

 private:
  WARPHEAP_FN std::uint32_t take_new(lane_mask group) const;

  std::byte* data_;
  detail::page_queue_state* shared_;
  index_ring freed_;
  std::uint32_t pages_;
  std::uint32_t page_bytes_;
};

/// The memory manager of faimGraph (Winter et al., SC 2018): pages of one size from a range that is used up from its
/// begin on, and a queue of the pages that came back, which is asked first. It is what a `paged` graph was published
/// with; a `heap` of any design serves such a graph as well.
///
/// Invariant: each page is in one place: in the queue, in an owner's hands, or at `begun` or above, never handed out
/// yet. The queue has a place for each page, so none that comes back is lost. (The original has a queue of two million
/// places and loses pages beyond; its range has no end.)
///
/// Host side: owns the memory, on the device that was current when it was made.
class page_queue_heap {
 public:
  static constexpr std::uint32_t least_page_bytes = 16;   ///< smallest page
  static constexpr std::uint32_t most_page_bytes = 4096;  ///< largest page
  static constexpr std::uint32_t most_pages = 1u << 31;   ///< pages of the largest heap

  /// A heap of as many pages as fit into `bytes`. `page_bytes` is a power of two. Throws `std::invalid_argument` for
  /// another page size, for less than one page or more than `most_pages`, and what `device_range` throws when the
  /// machine has not the memory.
  explicit page_queue_heap(std::uint64_t bytes, std::uint32_t page_bytes = 64);
  page_queue_heap(page_queue_heap&&) noexcept = default;
  page_queue_heap& operator=(page_queue_heap&&) noexcept = default;
  /// Waits for the launches before it, and gives the memory back.
  ~page_queue_heap();

  /// The heap for kernels, as long as this object.
  page_queue_ref ref() const;
  /// Takes all pages back. Nobody uses them. Ordered as a launch is.
  void reset();

  std::uint64_t size() const { return std::uint64_t{pages_} * page_bytes_; }  ///< bytes of all pages
  std::uint32_t page_bytes() const { return page_bytes_; }                    ///< bytes of a page
  /// Figures, as those of a `heap`. The queue is metadata.
  heap_statistics statistics() const;

 private:
  std::uint32_t places() const;
  index_ring queue() const;
  detail::page_queue_state* shared() const { return reinterpret_cast<detail::page_queue_state*>(metadata_.data()); }

  std::uint32_t page_bytes_;
  std::uint32_t pages_;
  device_range data_;
  device_range metadata_;
};

}  // namespace warpheap

#include <warpheap/graph/detail/page_queue_heap.hpp>
