// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The parts of Ouroboros that search: reclamation, batches, refill; and the inspector, which finds what they left.

#include <gtest/gtest.h>

#include <cstdint>
#include <designs/ouroboros_parts.hpp>

namespace warpheap::test::ouroboros_search_parts_test {
namespace {

using namespace ouroboros_parts;

struct sweep_queue_and_list {
  template <class Reclamation>
  WARPHEAP_FN void operator()(Reclamation of, std::uint64_t* out) const {
    const lane_mask self = active_group();
    take_all_chunks(of.chunks());
    of.chunks().free_chunks().add({8, 4});  // for segments of queues that lie in chunks
    out[0] = of.can_sweep(q);
    bool gives_back = false;
    if constexpr (Reclamation::queues_pages) {
      for (std::uint32_t i = 0; i < pages; ++i) require(of.queues().queue(q).push(self, 3 * pages + i), "no room");
    } else {
      // All pages of a listed chunk, and a hint to one with a page in use.
      for (std::uint32_t i = 0; i < pages; ++i) {
        const pending_action action = of.deferral().count_pages(self, q, offset_of(3, i), gives_back);
        if (action == pending_action::queue) of.deferral().list_instead(q, 3);
        of.deferral().finish_pending_action(q, self, 3, action == pending_action::queue ? pending_action::none : action,
                                            false);
        if (action == pending_action::queue) of.deferral().end_move(q);
      }
      defer_one_each(of.hints(), 5, 1);
    }
    out[1] = of.can_sweep(q) && !is_free(of.chunks(), 3);
    out[2] = of.sweep(q, self);  // all sizes but this one
    out[3] = is_free(of.chunks(), 3);
    out[4] = of.sweep(p::layout::classes, self);
    out[5] = is_free(of.chunks(), 3);
    out[6] = of.can_sweep(q);
    out[7] = of.deferral().nothing_moves();
    if constexpr (!Reclamation::queues_pages) {
      out[8] = of.deferral().state_of(5).hint() == chunk_state::in_list && of.deferral().state_of(5).count() == 1;
      out[9] = static_cast<std::uint32_t>(popcount(of.chunks().free_chunks().leaf_word(0)));
    }
  }
};
/// A reclamation that says whether its queues hold pages.
template <class Parts, bool Pages>
struct swept : Parts::reclamation {
  static constexpr bool queues_pages = Pages;
  using Parts::reclamation::reclamation;
};
TEST(ouroboros_reclamation, queued_pages_become_a_free_chunk) {
  const auto out = stage<p>{64}.run<swept<p, true>>(sweep_queue_and_list{});
  expect_words(out, {0, 1, 0, 0, 1, 1, 0, 1});
}
TEST(ouroboros_reclamation, fully_free_chunks_of_a_list_become_free_and_hints_are_listed) {
  const auto out = stage<c>{64}.run<swept<c, false>>(sweep_queue_and_list{});
  expect_words(out, {0, 1, 0, 0, 1, 1, 0, 1, 1, 5});
}

struct find_in_order {
  WARPHEAP_FN void operator()(c::batch_source of, std::uint64_t* out) const {
    const lane_mask self = active_group();
    take_all_chunks(of.chunks());
    of.chunks().free_chunks().add({8, 8});
    defer_one_each(of.hints(), 3, 1);
    bool gives_back = false;
    for (std::uint32_t i = 1; i < 3; ++i) {
      if (of.deferral().count_pages(self, q, offset_of(5, i), gives_back) != pending_action::queue) continue;
      of.deferral().list_instead(q, 5);
      of.deferral().end_move(q);
    }
    std::uint32_t units = 0;
    source found = of.find_pages(q, self, 1, false, units);
    out[0] = found.what() == source::queued && units == 1 && of.queues().entry(found, 0) == 3;
    of.queues().retire(q, found);
    found = of.find_pages(q, self, 1, false, units);
    out[1] = found.what() == source::staged_pages && units == 2;
    out[2] = of.queues().entry(found, 0);
    out[3] = of.queues().entry(found, 1);
    of.queues().retire(q, found);
    of.queues().trim_queues(self);
    const std::uint64_t free = of.chunks().free_chunks().leaf_word(0);
    found = of.find_pages(q, self, 6, false, units);
    const std::uint64_t left = of.chunks().free_chunks().leaf_word(0);
    out[4] = found.what() == source::run || found.what() == source::staged_chunks;
    out[5] = units >= 6 && units == static_cast<std::uint32_t>(popcount(free ^ left)) * pages;
    if (found.what() == source::staged_chunks) of.queues().retire(q, found);
    of.chunks().free_chunks().take_run(self, 64);
    of.find_pages(q, self, 1, false, units);
    out[6] = units;
    out[7] = of.chunks().free_chunks().leaf_word(0);
    constexpr std::uint32_t several = c::layout::chunk_classes;  // pages of two chunks
    of.chunks().free_chunks().add({20, 3});
    of.find_pages(several, self, 1, false, units);
    out[8] = units;  // such pages are found under the lock alone
    found = of.find_pages(several, self, 1, true, units);
    out[9] = units;
    out[10] = reinterpret_cast<std::uint64_t>(of.chunks().data() + found.base() * chunk_bytes) % (2 * chunk_bytes);
  }
};
TEST(ouroboros_batch_source, the_queue_then_the_list_then_free_chunks) {
  const auto out = stage<c>{64}.run<c::batch_source>(find_in_order{});
  expect_words(out, {1, 1, 5 * pages + 1, 5 * pages + 2, 1, 1, 0, 0, 0, 1, 0});
}

struct refill_until_refused {
  WARPHEAP_FN void operator()(p::refill of, std::uint64_t* out) const {
    take_all_chunks(of.chunks());
    out[0] = next(of) == source::none;
    of.chunks().free_chunks().add({6, 1});
    std::uint32_t served = 0;
    while (next(of) != source::none) ++served;
    out[1] = served;
    // Another size holds the pages of a whole chunk in its queue: the refiller sweeps it.
    const lane_mask self = active_group();
    for (std::uint32_t i = 0; i < 2 * pages; ++i) {
      require(of.queues().queue(q - 1).push(self, 3 * 2 * pages + i), "no room");
    }
    served = 0;
    while (next(of) != source::none) ++served;
    out[2] = served;
    out[3] = of.chunks().of_class(q).waiting;
  }
  /// Draws a ticket of size q, and returns what the batch is that serves it.
  WARPHEAP_FN static source::kind next(const p::refill& of) {
    batch_ring& supply = of.chunks().of_class(q).supply;
    return supply.take(
        active_group(), [&](lane_mask refillers, batch_ring::batch newest) { of.refill_supply(q, refillers, newest); },
        [&](lane_mask, batch_ring::place mine) {
          const source from{mine.what};
          const bool is_segment = from.what() != source::none && from.what() != source::run;
          if (supply.finish(mine.in, 1) && is_segment) of.queues().retire(q, from);
          return from.what();
        });
  }
};
TEST(ouroboros_refill, a_refusal_only_after_a_sweep_and_a_search_of_its_own_for_each_later_ticket) {
  expect_words(stage<p>{64}.run<p::refill>(refill_until_refused{}), {1, 4, 4, 0});
}

struct use_some_of_a_heap {
  WARPHEAP_FN void operator()(c::hints of, std::uint64_t*) const {
    const index_run span = of.chunks().take_neighbours(3, 3, 1);
    of.chunks().set_owner(span.first, chunk_record::run_base + 3);
    const index_run cut = of.chunks().take_neighbours(1, 1, 1);
    of.chunks().set_owner(cut.first, q + 1);
    defer_one_each(of, cut.first, 1);
  }
};
TEST(ouroboros_inspector, each_chunk_is_counted_in_one_place) {
  stage<c> s{32};
  s.run<c::hints>(use_some_of_a_heap{});
  const ouroboros_statistics found = c::inspector{c::queues{s.from()}}.statistics();
  EXPECT_EQ(found.chunks, 32u);
  EXPECT_EQ(found.large_blocks, 1u);
  EXPECT_EQ(found.large_chunks, 3u);
  EXPECT_EQ(found.page_sizes[q].chunks, 1u);
  EXPECT_EQ(found.page_sizes[q].deferred_pages, 1u);
  EXPECT_EQ(found.page_sizes[q].live_pages, pages - 1u);
  EXPECT_EQ(found.page_sizes[q].queue_entries, 1u);
  EXPECT_GT(found.page_sizes[q].queue_chunks, 0u);
  EXPECT_EQ(found.free_chunks, 32u - 3 - 1 - found.page_sizes[q].queue_chunks);
}

/// Queues five hints, then says of each chunk of the segment that it is out of the heap.
struct queue_in_withdrawn_chunks {
  WARPHEAP_FN void operator()(c::queues of, std::uint64_t* out) const {
    const std::uint64_t before = of.chunks().free_chunks().leaf_word(0);
    for (std::uint32_t i = 0; i < 5; ++i) require(of.queue(q).push(active_group(), 10 + i), "no room");
    const std::uint64_t segment = before & ~of.chunks().free_chunks().leaf_word(0);
    const auto first = static_cast<std::uint32_t>(highest_bit(segment));
    out[0] = of.is_readable(first, 32) && of.is_readable(first | chunk_segments::dense, 32);
    out[1] = of.is_readable(first, first);
    for (std::uint64_t left = segment; left != 0; left &= left - 1) {
      of.chunks().set_owner(static_cast<std::uint64_t>(lowest_bit(left)), chunk_record::withdrawn);
    }
    out[2] = of.is_readable(first, 32) || of.is_readable(first | chunk_segments::dense, 32);
    out[3] = static_cast<std::uint64_t>(popcount(segment));
  }
};
struct count_heap {
  WARPHEAP_FN void operator()(c::allocator of, std::uint64_t* out) const {
    allocator_counts counts{};
    of.count(counts);
    out[0] = counts.live_bytes;
  }
};
// A name that is out of date may name a chunk that the host has withdrawn and that has no memory: it is not followed.
TEST(ouroboros_queues, in_withdrawn_chunks_are_not_looked_into) {
  stage<c> s{32};
  const std::vector<std::uint64_t> seen = s.run<c::queues>(queue_in_withdrawn_chunks{});
  EXPECT_EQ(seen[0], 1u);
  EXPECT_EQ(seen[1], 0u);
  EXPECT_EQ(seen[2], 0u);
  const ouroboros_statistics found = c::inspector{c::queues{s.from()}}.statistics();
  EXPECT_EQ(found.page_sizes[q].queue_entries, 0u);
  EXPECT_EQ(found.page_sizes[q].queue_chunks, 0u);
  EXPECT_EQ(found.withdrawn_chunks, seen[3]);
  EXPECT_EQ(s.run<c::allocator>(count_heap{})[0], 0u) << "the queue's chunks count as withdrawn, and not once more";
}

}  // namespace
}  // namespace warpheap::test::ouroboros_search_parts_test
