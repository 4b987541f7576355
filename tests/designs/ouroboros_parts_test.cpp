// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The parts of Ouroboros, each by itself. Most tests use pages of 2 KiB, of which a chunk has four.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <support/scale.hpp>
#include <type_traits>
#include <vector>
#include <warpheap/designs/ouroboros/ouroboros.hpp>

namespace warpheap::test::ouroboros_parts_test {
namespace {

using detail::no_chunk;
using detail::ouroboros_duty;
using source = ouroboros_source;

/// The parts of a design.
template <class Allocator>
struct parts_of;
template <class Items, class Kind, ouroboros_options Options>
struct parts_of<basic_ouroboros<Items, Kind, Options>> {
  using allocator = basic_ouroboros<Items, Kind, Options>;
  using layout = ouroboros_layout<Items, Kind, Options>;
  using chunks = detail::ouroboros_chunks<layout>;
  using queues = detail::ouroboros_queues<layout>;
  using page_bits = detail::ouroboros_page_bits<layout>;
  using partial_lists = detail::ouroboros_partial_lists<layout>;
  using parking = detail::ouroboros_parking<layout>;
  using hints = detail::ouroboros_hints<layout>;
  using reclamation = detail::ouroboros_reclamation<layout>;
  using batch_source = detail::ouroboros_batch_source<layout>;
  using renewal = detail::ouroboros_renewal<layout>;
  using inspector = detail::ouroboros_inspector<layout>;
};
using c = parts_of<ouroboros_va_c>;
using p = parts_of<ouroboros_s_p>;
/// Its static queues have room for fewer entries than its heap has chunks.
using tiny = parts_of<basic_ouroboros<chunk_items, static_ring, ouroboros_options{.queue_entries = 1}>>;

static_assert(std::is_trivially_copyable_v<c::renewal> && std::is_trivially_copyable_v<p::renewal>);
// Kernels carry the addresses once, whatever the number of parts.
static_assert(sizeof(c::renewal) == sizeof(c::chunks) && sizeof(c::allocator) == sizeof(c::chunks));

constexpr std::uint32_t q = 7;  // pages of 2 KiB
constexpr std::uint32_t pages = c::layout::pages(q);
static_assert(c::layout::page_bytes(q) == 2048 && pages == 4);
constexpr std::uint64_t chunk_bytes = c::layout::chunk_bytes;
constexpr std::uint64_t words_out = 512;

template <class Allocator>
struct initialise_kernel {
  WARPHEAP_FN void operator()(Allocator of) const { of.initialise(); }
};

/// Memory of a heap of `chunks` chunks, and the words that a kernel reports.
template <class Parts>
class stage {
 public:
  explicit stage(std::uint64_t chunks)
      : metadata_bytes_(align_up(Parts::allocator::metadata_bytes(chunks * chunk_bytes), chunk_bytes)),
        bytes_(chunks * chunk_bytes),
        memory_(metadata_bytes_ + bytes_ + chunk_bytes) {
    using allocator = typename Parts::allocator;
    launch({1, 1}, initialise_kernel<allocator>{}, allocator{from()});
  }
  arena from() const {
    const auto first = reinterpret_cast<std::uint64_t>(memory_.data());
    std::byte* const begin = memory_.data() + (align_up(first, chunk_bytes) - first);
    return {begin + metadata_bytes_, bytes_, bytes_, begin};
  }
  /// Runs `kernel(part, out)` in `threads` threads of blocks of 64; out is zero at first.
  template <class Part, class Kernel>
  std::vector<std::uint64_t> run(Kernel kernel, std::uint64_t threads = 1) {
    device_array<std::uint64_t> out(words_out);
    launch(threads == 1 ? grid_shape{1, 1} : grid_shape::covering(threads, 64), kernel, Part{from()}, out.data());
    return out.to_host();
  }

 private:
  std::uint64_t metadata_bytes_;
  std::uint64_t bytes_;
  device_array<std::byte> memory_;
};

void expect_words(const std::vector<std::uint64_t>& out, const std::vector<std::uint64_t>& expected) {
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(out[i], expected[i]) << i;
}

/// Takes all chunks of the heap, so that tests say which ones are free.
template <class Chunks>
WARPHEAP_FN void take_all_chunks(const Chunks& of) {
  const auto all = static_cast<std::uint32_t>(of.control().chunks);
  require(of.take_neighbours(all, all, 1).count == all, "chunks are missing");
}
template <class Chunks>
WARPHEAP_FN bool is_free(const Chunks& of, std::uint64_t chunk) {
  return (of.free_chunks().leaf_word(static_cast<std::uint32_t>(chunk / 64)) >> chunk % 64 & 1) != 0;
}
WARPHEAP_FN std::uint64_t offset_of(std::uint64_t chunk, std::uint64_t page) {
  return chunk * chunk_bytes + page * 2048;
}

TEST(ouroboros_layout, the_parts_of_a_state_change_alone) {
  const chunk_state state = chunk_state{0}.with_count(1000).with_hint(chunk_state::in_list).next_life();
  EXPECT_EQ(state.count(), 1000u);
  EXPECT_EQ(state.hint(), chunk_state::in_list);
  EXPECT_EQ(state.word >> 16, 1u);
  EXPECT_EQ(state.with_count(7).hint(), chunk_state::in_list);
  EXPECT_EQ(state.with_hint(3).count(), 1000u);
  EXPECT_EQ(state.with_count(7).with_hint(3).next_life().word >> 16, 2u);
}
TEST(ouroboros_layout, a_source_fits_the_bits_that_a_batch_has) {
  const std::uint64_t base = (std::uint64_t{1} << 45) - 1;
  const source from = source::make(source::staged_chunks, base, 15);
  EXPECT_EQ(from.what(), source::staged_chunks);
  EXPECT_EQ(from.base(), base);
  EXPECT_EQ(from.shift(), 15u);
  EXPECT_EQ(from.word >> 52, 0u);
}

struct number_chunks {
  WARPHEAP_FN void operator()(c::chunks of, std::uint64_t* out) const {
    out[0] = of.control().chunks;
    out[1] = of.chunks_in(5 * chunk_bytes + of.lead() + chunk_bytes - 1);
    out[2] = of.chunks_in(of.lead());
    const index_run four = of.take_neighbours(4, 4, 4);
    out[3] = four.count;
    out[4] = reinterpret_cast<std::uint64_t>(of.data() + four.first * chunk_bytes) % (4 * chunk_bytes);
    out[5] = is_free(of, four.first) || is_free(of, four.first + 3);
    of.set_owner(four.first, chunk_record::run_base + 4);
    out[6] = of.owner_of(four.first) - chunk_record::run_base;
    out[7] = of.take_neighbours(100, 100, 1).count;  // more than there are
    of.free_chunks().add(four);
    out[8] = of.take_neighbours(100, 1000, 1).count;
  }
};
TEST(ouroboros_chunks, spans_are_aligned_and_come_back) {
  expect_words(stage<c>{100}.run<c::chunks>(number_chunks{}), {100, 5, 0, 4, 0, 0, 4, 0, 100});
}

struct give_back_every_third {
  WARPHEAP_FN void operator()(c::chunks of, std::uint64_t*) const {
    if (grid_thread_index() < 42) of.give_back_together(active_group(), 3 * grid_thread_index());
  }
};
struct take_all {
  template <class Chunks>
  WARPHEAP_FN void operator()(Chunks of, std::uint64_t*) const {
    take_all_chunks(of);
  }
};
struct read_leaves {
  WARPHEAP_FN void operator()(c::chunks of, std::uint64_t* out) const {
    for (std::uint32_t i = 0; i < 2; ++i) out[i] = of.free_chunks().leaf_word(i);
  }
};
TEST(ouroboros_chunks, lanes_give_chunks_back_together) {
  stage<c> s{128};
  s.run<c::chunks>(take_all{});
  s.run<c::chunks>(give_back_every_third{}, 64);
  expect_words(s.run<c::chunks>(read_leaves{}), {0x9249'2492'4924'9249, 0x0924'9249'2492'4924});
}

struct queue_and_adopt {
  WARPHEAP_FN void operator()(c::queues of, std::uint64_t* out) const {
    const lane_mask group = active_group();
    const std::uint32_t before = static_cast<std::uint32_t>(popcount(of.chunks().free_chunks().leaf_word(0)));
    for (std::uint32_t i = 0; i < 5; ++i) require(of.queue(q).push(group, 10 + i), "no room");
    out[0] = static_cast<std::uint32_t>(popcount(of.chunks().free_chunks().leaf_word(0))) < before;
    const adopted_segment oldest = of.queue(q).adopt();
    out[1] = oldest.count;
    const source from = source::make(source::queued, oldest.segment.id);
    for (std::uint32_t i = 0; i < 5; ++i) out[2] += of.entry(from, i) == 10 + i;
    of.retire(q, from);
    out[3] = of.trim_queues(group);  // what the queue kept in reserve
    out[4] = static_cast<std::uint32_t>(popcount(of.chunks().free_chunks().leaf_word(0))) == before;
    out[5] = of.trim_queues(group);
  }
};
TEST(ouroboros_queues, a_segment_is_adopted_read_and_its_chunks_come_back) {
  expect_words(stage<c>{64}.run<c::queues>(queue_and_adopt{}), {1, 5, 5, 1, 1, 0});
}

struct use_staging_in_turn {
  WARPHEAP_FN void operator()(p::queues of, std::uint64_t* out) const {
    const lane_mask group = active_group();
    const std::uint32_t first = of.next_staging(q, group);
    ++of.chunks().of_class(q).turn;
    const std::uint32_t second = of.next_staging(q, group);
    ++of.chunks().of_class(q).turn;
    out[0] = first != second && of.next_staging(q, group) == first;
    out[1] = of.next_staging(q + 1, group) != first && of.next_staging(q + 1, group) != second;
    const std::uint64_t large = std::uint64_t{1} << 40;  // page numbers have more than 32 bits
    for (std::uint32_t i = 0; i < p::layout::staging_capacity; ++i) {
      of.staging(first)[i] = large + i;
      of.staging(second)[i] = 2 * large + i;
    }
    const source from = source::make(source::staged_pages, first);
    for (std::uint32_t i = 0; i < p::layout::staging_capacity; ++i) out[2] += of.entry(from, i) != large + i;
    of.use_staging(first);
    out[3] = of.flat().header(first).in_use;
    of.retire(q, from);
    of.await_staging(group, first);  // returns, since the segment is retired
    out[4] = of.flat().header(first).in_use;
  }
};
TEST(ouroboros_queues, staging_segments_are_used_in_turn_and_do_not_overlap) {
  expect_words(stage<p>{64}.run<p::queues>(use_staging_in_turn{}), {1, 1, 0, 1, 0});
}

struct set_and_take_bits {
  WARPHEAP_FN void operator()(c::page_bits of, std::uint64_t* out) const {
    constexpr std::uint32_t smallest = 0;  // 512 pages of 16 bytes
    const lane_mask self = active_group();
    for (const std::uint64_t page : {3, 40, 41, 511}) of.set_bits(self, smallest, 2 * chunk_bytes + page * 16);
    out[0] = of.take_page_bit(smallest, 2, 1) - 1024;  // the second set bit
    out[1] = of.take_page_bit(smallest, 2, 0) - 1024;
    std::uint64_t rest[2] = {0, 0};
    of.take_page_bits(smallest, 2, 2, rest);
    out[2] = rest[0] - 1024;
    out[3] = rest[1] - 1024;
    for (const std::uint32_t word : of.chunks().record(2).bits) out[4] += word;
    of.set_bits(self, smallest, 2 * chunk_bytes + 16);
    of.clear_bits(2);
    for (const std::uint32_t word : of.chunks().record(2).bits) out[5] += word;
  }
};
TEST(ouroboros_page_bits, ranks_take_other_bits_and_each_bit_is_taken_once) {
  const auto out = stage<c>{4}.run<c::page_bits>(set_and_take_bits{});
  std::uint64_t sum = 0;
  for (int i = 0; i < 4; ++i) sum += out[i];
  EXPECT_EQ(sum, 3u + 40u + 41u + 511u);
  EXPECT_NE(out[0], 3u);
  EXPECT_EQ(out[1], 3u);
  EXPECT_EQ(out[4], 0u);
  EXPECT_EQ(out[5], 0u);
}

struct set_bits_together {
  WARPHEAP_FN void operator()(c::page_bits of, std::uint64_t*) const {
    of.set_bits(active_group(), 0, chunk_bytes + grid_thread_index() * 7 % 512 * 16);
  }
};
struct take_bits_apart {
  WARPHEAP_FN void operator()(c::page_bits of, std::uint64_t* out) const {
    const std::uint64_t page = of.take_page_bit(0, 1, static_cast<std::uint32_t>(grid_thread_index() % 32));
    atomic_view{out[page - 512]}.fetch_add(1, memory_order::relaxed, thread_scope::device);
  }
};
TEST(ouroboros_page_bits, threads_that_took_from_the_count_find_a_bit_each) {
  stage<c> s{4};
  s.run<c::page_bits>(set_bits_together{}, 256);
  const auto out = s.run<c::page_bits>(take_bits_apart{}, 256);
  for (std::uint64_t i = 0; i < 512; ++i) EXPECT_EQ(out[i * 7 % 512], i < 256 ? 1u : 0u) << i;
}

struct list_and_carry {
  WARPHEAP_FN void operator()(c::partial_lists of, std::uint64_t* out) const {
    const lane_mask group = active_group();
    for (const std::uint64_t chunk : {4, 5, 6}) of.list(q, chunk);
    out[0] = of.next_candidate(q, group);
    of.list(q, 7);  // while the chain of the others is not at its end
    out[1] = of.next_candidate(q, group);
    of.set_carried(q, of.carry(q, group, 9));
    out[2] = of.next_candidate(q, group);  // what is carried goes first
    out[3] = of.next_candidate(q, group);
    out[4] = of.next_candidate(q, group);
    out[5] = of.next_candidate(q, group) == no_chunk;
    out[6] = of.next_candidate(q + 1, group) == no_chunk;
    of.set_carried(q, of.carry(q, group, 8));
    of.list_carried(q, group);
    out[7] = of.chunks().of_class(q).carried;
    out[8] = of.next_candidate(q, group);
  }
};
TEST(ouroboros_partial_lists, carried_chunks_then_the_chain_then_the_list) {
  expect_words(stage<c>{16}.run<c::partial_lists>(list_and_carry{}), {6, 5, 9, 4, 7, 1, 1, 0, 8});
}

struct list_own_chunk {
  WARPHEAP_FN void operator()(c::partial_lists of, std::uint64_t*) const { of.list(q, grid_thread_index()); }
};
struct empty_list {
  WARPHEAP_FN void operator()(c::partial_lists of, std::uint64_t* out) const {
    for (;;) {
      const std::uint64_t chunk = of.next_candidate(q, active_group());
      if (chunk == no_chunk) return;
      ++out[chunk];
    }
  }
};
TEST(ouroboros_partial_lists, no_chunk_is_lost_when_many_threads_push) {
  stage<c> s{256};
  s.run<c::partial_lists>(list_own_chunk{}, 256);
  const auto out = s.run<c::partial_lists>(empty_list{});
  for (std::uint64_t i = 0; i < 256; ++i) EXPECT_EQ(out[i], 1u) << i;
}

struct count_up_and_down {
  WARPHEAP_FN void operator()(c::parking of, std::uint64_t* out) const {
    take_all_chunks(of.chunks());
    const lane_mask self = active_group();
    bool ends = false;
    bool more = false;
    out[0] = of.count_pages(self, q, offset_of(3, 0), ends) == ouroboros_duty::queue && !ends;
    out[1] = of.nothing_moves();  // the hint is on its way
    of.end_move(q);
    out[2] = of.nothing_moves();
    out[3] = of.count_pages(self, q, offset_of(3, 1), ends) == ouroboros_duty::none && !ends;
    out[4] = of.take_counted(q, 3, 5, false, more);
    out[5] = of.state_of(3).hint() == q + 1 && !more;  // only the last holder clears the hint
    out[6] = of.take_counted(q + 1, 3, 5, true, more);
    out[7] = of.take_counted(q, 3, 5, true, more);
    out[8] = of.state_of(3).hint() == chunk_state::no_hint && !more;
    std::uint64_t taken[2] = {0, 0};
    of.bits().take_page_bits(q, 3, 2, taken);
    for (std::uint32_t i = 0; i + 1 < pages; ++i) {
      if (of.count_pages(self, q, offset_of(3, i), ends) != ouroboros_duty::none) of.end_move(q);
    }
    const ouroboros_duty last = of.count_pages(self, q, offset_of(3, pages - 1), ends);
    out[9] = last == ouroboros_duty::give_back && ends;
    out[10] = of.state_of(3).count() == 0 && !is_free(of.chunks(), 3) && !of.nothing_moves();
    of.end_duty(q, self, 3, last, ends);
    out[11] = is_free(of.chunks(), 3) && of.nothing_moves();
    out[12] = of.chunks().record(3).bits[0];
    out[13] = of.state_of(3).word >> 16;  // lives that have ended
  }
};
TEST(ouroboros_parking, the_last_page_gives_the_chunk_back) {
  expect_words(stage<c>{16}.run<c::parking>(count_up_and_down{}), {1, 0, 1, 1, 2, 1, 0, 0, 1, 1, 1, 1, 0, 1});
}

struct list_and_harvest {
  WARPHEAP_FN void operator()(c::parking of, std::uint64_t* out) const {
    take_all_chunks(of.chunks());
    const lane_mask self = active_group();
    bool ends = false;
    for (std::uint32_t i = 0; i < 2; ++i) {
      if (of.count_pages(self, q, offset_of(5, i), ends) == ouroboros_duty::queue) {
        of.list_instead(q, 5);
        of.end_move(q);
      }
    }
    out[0] = of.state_of(5).hint() == chunk_state::in_list;
    out[1] = of.take_whole(q, 5);  // two pages are in use
    for (std::uint32_t i = 2; i < pages; ++i) {
      out[2] += of.count_pages(self, q, offset_of(5, i), ends) != ouroboros_duty::none;  // a listed chunk stays
    }
    out[3] = of.chunks().of_class(q).whole;
    out[4] = of.lists().next_candidate(q, self);
    out[5] = of.harvest_chunk(q, 5);
    out[6] = of.chunks().of_class(q).whole;
    out[7] = of.state_of(5).hint() == chunk_state::no_hint && of.state_of(5).count() == 0;
    of.count_free(q, 5, 1);  // cannot use one of them
    out[8] = of.state_of(5).hint() == chunk_state::in_list && of.state_of(5).count() == 1;
    of.count_free(q, 5, pages - 1);
    out[9] = of.take_whole(q, 5);
    of.give_back(5);
    out[10] = is_free(of.chunks(), 5) && of.chunks().record(5).bits[0] == 0;
    out[11] = of.nothing_moves();
    of.list_instead(q, 5);  // a hint that is out of date
    out[12] = of.state_of(5).hint();
  }
};
TEST(ouroboros_parking, a_listed_chunk_stays_until_it_is_taken_off) {
  expect_words(stage<c>{16}.run<c::parking>(list_and_harvest{}), {1, 0, 0, 1, 5, 4, 0, 1, 1, 1, 1, 1, 0});
}

struct free_whole_chunks {
  WARPHEAP_FN void operator()(c::parking of, std::uint64_t* out) const {
    // Lanes may come in parts, so a part frees a chunk at once or page by page.
    const lane_mask group = active_group();
    const std::uint64_t chunk = grid_thread_index() / pages;
    bool ends = false;
    const ouroboros_duty then = of.count_pages(group, q, offset_of(chunk, grid_thread_index() % pages), ends);
    if (ends) atomic_view{out[chunk]}.fetch_add(1, memory_order::relaxed, thread_scope::device);
    sync(group);
    of.end_duty(q, group, chunk, then, ends);
  }
};
TEST(ouroboros_parking, lanes_that_free_a_whole_chunk_give_it_back_once) {
  stage<c> s{64};
  s.run<c::chunks>(take_all{});
  const auto out = s.run<c::parking>(free_whole_chunks{}, 64 * pages);
  for (std::uint64_t i = 0; i < 64; ++i) EXPECT_EQ(out[i], 1u) << i;
  EXPECT_EQ(s.run<c::chunks>(read_leaves{})[0], ~std::uint64_t{0});
}

/// Parks a page of each of `count` chunks, and queues or lists the hints.
template <class Hints>
WARPHEAP_FN void park_one_each(const Hints& of, std::uint64_t first, std::uint64_t count) {
  const lane_mask self = active_group();
  for (std::uint64_t chunk = first; chunk < first + count; ++chunk) {
    bool ends = false;
    const ouroboros_duty then = of.parking().count_pages(self, q, offset_of(chunk, 1), ends);
    if (then == ouroboros_duty::queue) of.push_hint(q, self, chunk);
    of.parking().end_duty(q, self, chunk, then, ends);
  }
}
struct overfill_hints {
  WARPHEAP_FN void operator()(tiny::hints of, std::uint64_t* out) const {
    const std::uint64_t all = of.chunks().control().chunks;
    take_all_chunks(of.chunks());
    park_one_each(of, 0, all);
    for (std::uint64_t chunk = 0; chunk < all; ++chunk) {
      out[0] += of.parking().state_of(chunk).hint() == q + 1;
      out[1] += of.parking().state_of(chunk).hint() == chunk_state::in_list;
    }
    out[2] = of.queues().queue(q).size();
    while (of.lists().next_candidate(q, active_group()) != no_chunk) ++out[3];
    out[4] = of.parking().nothing_moves();
  }
};
TEST(ouroboros_hints, a_hint_without_room_in_the_queue_is_listed_and_its_field_says_so) {
  constexpr std::uint64_t chunks = 4096;
  const auto out = stage<tiny>{chunks}.run<tiny::hints>(overfill_hints{});
  EXPECT_EQ(out[0] + out[1], chunks);
  EXPECT_GT(out[0], 0u);
  EXPECT_GT(out[1], 0u);
  EXPECT_EQ(out[2], out[0]);
  EXPECT_EQ(out[3], out[1]);
  EXPECT_EQ(out[4], 1u);
}

struct sweep_queue_and_list {
  template <class Reclamation>
  WARPHEAP_FN void operator()(Reclamation of, std::uint64_t* out) const {
    const lane_mask self = active_group();
    take_all_chunks(of.chunks());
    of.chunks().free_chunks().add({8, 4});  // for segments of queues that lie in chunks
    out[0] = of.can_sweep(q);
    bool ends = false;
    if constexpr (Reclamation::queues_pages) {
      for (std::uint32_t i = 0; i < pages; ++i) require(of.queues().queue(q).push(self, 3 * pages + i), "no room");
    } else {
      // All pages of a listed chunk, and a hint to one with a page in use.
      for (std::uint32_t i = 0; i < pages; ++i) {
        const ouroboros_duty then = of.parking().count_pages(self, q, offset_of(3, i), ends);
        if (then == ouroboros_duty::queue) of.parking().list_instead(q, 3);
        of.parking().end_duty(q, self, 3, then == ouroboros_duty::queue ? ouroboros_duty::none : then, false);
        if (then == ouroboros_duty::queue) of.parking().end_move(q);
      }
      park_one_each(of.hints(), 5, 1);
    }
    out[1] = of.can_sweep(q) && !is_free(of.chunks(), 3);
    out[2] = of.sweep(q, self);  // all sizes but this one
    out[3] = is_free(of.chunks(), 3);
    out[4] = of.sweep(p::layout::classes, self);
    out[5] = is_free(of.chunks(), 3);
    out[6] = of.can_sweep(q);
    out[7] = of.parking().nothing_moves();
    if constexpr (!Reclamation::queues_pages) {
      out[8] = of.parking().state_of(5).hint() == chunk_state::in_list && of.parking().state_of(5).count() == 1;
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
    park_one_each(of.hints(), 3, 1);
    bool ends = false;
    for (std::uint32_t i = 1; i < 3; ++i) {
      if (of.parking().count_pages(self, q, offset_of(5, i), ends) != ouroboros_duty::queue) continue;
      of.parking().list_instead(q, 5);
      of.parking().end_move(q);
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

struct renew_until_refused {
  WARPHEAP_FN void operator()(p::renewal of, std::uint64_t* out) const {
    take_all_chunks(of.chunks());
    out[0] = next(of) == source::none;
    of.chunks().free_chunks().add({6, 1});
    std::uint32_t served = 0;
    while (next(of) != source::none) ++served;
    out[1] = served;
    // Another size holds the pages of a whole chunk in its queue: the renewer sweeps it.
    const lane_mask self = active_group();
    for (std::uint32_t i = 0; i < 2 * pages; ++i) {
      require(of.queues().queue(q - 1).push(self, 3 * 2 * pages + i), "no room");
    }
    served = 0;
    while (next(of) != source::none) ++served;
    out[2] = served;
    out[3] = of.chunks().of_class(q).waiting;
  }
  /// Draws a ticket of size q, and tells what the batch is that serves it.
  WARPHEAP_FN static source::kind next(const p::renewal& of) {
    lane_mask group = active_group();
    batch_ring& stock = of.chunks().of_class(q).stock;
    const batch_ring::place mine =
        stock.take(group, [&](lane_mask renewers, batch_ring::batch newest) { of.renew(q, renewers, newest); });
    const source from{mine.what};
    const bool is_segment = from.what() != source::none && from.what() != source::run;
    if (stock.finish(mine.in, 1) && is_segment) of.queues().retire(q, from);
    return from.what();
  }
};
TEST(ouroboros_renewal, a_refusal_only_after_a_sweep_and_a_search_of_its_own_for_each_later_ticket) {
  expect_words(stage<p>{64}.run<p::renewal>(renew_until_refused{}), {1, 4, 4, 0});
}

struct use_some_of_a_heap {
  WARPHEAP_FN void operator()(c::hints of, std::uint64_t*) const {
    const index_run span = of.chunks().take_neighbours(3, 3, 1);
    of.chunks().set_owner(span.first, chunk_record::run_base + 3);
    const index_run cut = of.chunks().take_neighbours(1, 1, 1);
    of.chunks().set_owner(cut.first, q + 1);
    park_one_each(of, cut.first, 1);
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
  EXPECT_EQ(found.page_sizes[q].parked_pages, 1u);
  EXPECT_EQ(found.page_sizes[q].live_pages, pages - 1u);
  EXPECT_EQ(found.page_sizes[q].queue_entries, 1u);
  EXPECT_GT(found.page_sizes[q].queue_chunks, 0u);
  EXPECT_EQ(found.free_chunks, 32u - 3 - 1 - found.page_sizes[q].queue_chunks);
}

}  // namespace
}  // namespace warpheap::test::ouroboros_parts_test
