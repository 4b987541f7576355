// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Parts of warp_slab, each made of an arena alone: slabs that are made, claimed from, hidden, shown and taken back.

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <type_traits>
#include <vector>
#include <warpheap/designs/warp_slab/warp_slab.hpp>
#include <warpheap/platform.hpp>

namespace warpheap::test::warp_slab_parts_test {
namespace {

using detail::slab_extension;
using detail::slab_growth;
using detail::slab_maker;
using detail::slab_reclamation;
using detail::slab_search;
using detail::slab_store;

static_assert(std::is_trivially_copyable_v<slab_extension>);
static_assert(sizeof(slab_extension) == sizeof(slab_store), "each part has the part below as its only member");

constexpr std::uint64_t unit_bytes = slab_classes::unit_bytes;
constexpr std::uint64_t units = 512;
constexpr std::uint64_t bytes = units * unit_bytes;

using told = std::uint64_t*;  // what a kernel of one lane tells the host

WARPHEAP_FN std::uint64_t places_of(const slab_store& store, std::uint32_t c) { return store.of_class(c).places; }
WARPHEAP_FN std::uint64_t free_units_of(const slab_store& store) {
  std::uint64_t sum = 0;
  for (std::uint32_t i = 0; i < units / bit_tree::leaf_bits; ++i) {
    sum += static_cast<std::uint64_t>(popcount(store.free_units().leaf_word(i)));
  }
  return sum;
}
// Adds slabs as the lock's holder does.
WARPHEAP_FN bool add_slabs(const slab_maker& maker, std::uint32_t c, std::uint32_t slabs) {
  std::uint32_t gaps = 0;
  maker.ledger().close(c, gaps);
  const bool added = maker.add_slabs(lane_bit(), c, slabs);
  maker.ledger().open(c);
  return added;
}
// What is in word 0 of the slab at `place`.
WARPHEAP_FN slab_look look_at_first(const slab_store& store, std::uint32_t c, std::uint32_t place) {
  const std::uint32_t entry = store.table(c, place).load(memory_order::relaxed, thread_scope::device);
  const std::uint32_t at = word_number::make(entry - 1, 0);
  return {at, slab_word{store.word(at).load(memory_order::relaxed, thread_scope::device)}.free_of(c)};
}

struct initialise_kernel {
  WARPHEAP_FN void operator()(slab_store store) const { store.initialise(); }
};

struct make_kernel {
  WARPHEAP_FN void operator()(slab_maker maker, std::uint32_t c, told out) const {
    const slab_store& store = maker.store();
    out[0] = add_slabs(maker, c, 3) ? 1 : 0;
    out[1] = places_of(store, c);
    out[2] = free_units_of(store);
    out[3] = store.hinted(c).leaf_word(0);
    for (std::uint32_t place = 0; place < 3; ++place) {
      const slab_look look = look_at_first(store, c, place);
      out[4] += look.free_bits == store.all_blocks(c, 0) ? 1 : 0;
      out[5] += unit_owner{store.header(word_number::unit(look.word)).owner}.of_class() == c ? 1 : 0;
    }
  }
};
// The last of four slabs has a block in use. The others are taken back, and it moves to the first place.
struct reclaim_kernel {
  WARPHEAP_FN void operator()(slab_reclamation reclamation, slab_maker maker, std::uint32_t c, told out) const {
    const slab_store& store = reclamation.store();
    add_slabs(maker, c, 4);
    const slab_look last = look_at_first(store, c, 3);
    const slab_claim taken = reclamation.claims().claim_and_cache(c, last, 1);
    out[0] = reclamation.reclaim(lane_bit(), units) ? 1 : 0;
    out[1] = places_of(store, c);
    out[2] = look_at_first(store, c, 0).word == last.word ? 1 : 0;
    out[3] = free_units_of(store);
    reclamation.hints().put_back(taken);
    out[4] = reclamation.reclaim(lane_bit(), units) ? 1 : 0;
    out[5] = places_of(store, c);
    out[6] = free_units_of(store);
  }
};
// What a sweep found, for requests that began before it and after it. Its only slab has no block in use any more when
// they ask.
struct sweep_kernel {
  WARPHEAP_FN void operator()(slab_reclamation reclamation, slab_maker maker, std::uint32_t c, told out) const {
    const atomic_view attempts{reclamation.store().control().attempts};
    add_slabs(maker, c, 1);
    const slab_claim taken = reclamation.claims().claim_and_cache(c, look_at_first(maker.store(), c, 0), 1);
    const std::uint64_t earlier = attempts.load(memory_order::relaxed, thread_scope::device);
    const std::uint64_t attempt = attempts.fetch_add(1, memory_order::relaxed, thread_scope::device) + 1;
    out[0] = reclamation.reclaim_since(lane_bit(), units, earlier) ? 1 : 0;
    reclamation.hints().put_back(taken);
    out[1] = reclamation.reclaim_since(lane_bit(), units, earlier) ? 1 : 0;
    out[2] = places_of(maker.store(), c);
    out[3] = reclamation.reclaim_since(lane_bit(), units, attempt) ? 1 : 0;
    out[4] = places_of(maker.store(), c);
  }
};
// Makes `slabs` slabs, and takes a block of each `stays`-th.
struct crowd_kernel {
  WARPHEAP_FN void operator()(slab_maker maker, std::uint32_t c, std::uint32_t slabs, std::uint32_t stays) const {
    add_slabs(maker, c, slabs);
    for (std::uint32_t place = 0; place < slabs; place += stays) {
      maker.claims().claim_and_cache(c, look_at_first(maker.store(), c, place), 1);
    }
  }
};
// Takes about one slab back of a class with seven leaves of places. Slabs of the three last have blocks in use.
struct reclaim_one_kernel {
  WARPHEAP_FN void operator()(slab_reclamation reclamation, slab_maker maker, std::uint32_t c, told out) const {
    constexpr std::uint32_t slabs = 7 * bit_tree::leaf_bits;
    add_slabs(maker, c, slabs);
    for (std::uint32_t place = 4 * bit_tree::leaf_bits; place < slabs; ++place) {
      reclamation.claims().claim_and_cache(c, look_at_first(maker.store(), c, place), 1);
    }
    out[0] = reclamation.reclaim(lane_bit(), 1) ? 1 : 0;
    out[1] = slabs - places_of(maker.store(), c);
    out[2] = free_units_of(maker.store());
  }
};
// The warp that comes first takes slabs back, as the lock's holder does. The others help until it is done.
struct help_kernel {
  struct meeting {
    std::uint64_t came;
    std::uint64_t over;
    std::uint64_t found;
  };
  WARPHEAP_FN void operator()(slab_reclamation reclamation, meeting* at) const {
    using enum memory_order;
    using enum thread_scope;
    const lane_mask group = active_group();
    std::uint64_t before = 0;
    if (is_leader(group)) before = atomic_view{at->came}.fetch_add(1, relaxed, device);
    const atomic_view over{at->over};
    if (shuffle(group, before, leader(group)) == 0) {
      const bool found = reclamation.reclaim(group, units);
      sync(group);
      if (!is_leader(group)) return;
      at->found = found ? 1 : 0;
      over.store(1, release, device);
      return;
    }
    for (backoff wait; any(group, over.load(acquire, device) == 0); wait.pause()) {
      if (!reclamation.has_work(group)) continue;
      wait.end();
      reclamation.help(group);
    }
  }
};
struct coalesce_kernel {
  WARPHEAP_FN void operator()(warp_slab heap) const { heap.coalesce(); }
};
// What there is at places [0, `slabs`): slabs, those of them with a block in use, and the sum of their units' numbers.
struct look_kernel {
  WARPHEAP_FN void operator()(slab_store store, std::uint32_t c, std::uint32_t slabs, told out) const {
    out[0] = places_of(store, c);
    out[1] = free_units_of(store);
    out[2] = store.control().slab_units;
    for (std::uint32_t place = 0; place < slabs; ++place) {
      if (store.table(c, place).load(memory_order::relaxed, thread_scope::device) == 0) continue;
      const slab_look look = look_at_first(store, c, place);
      out[3] += 1;
      out[4] += look.free_bits != store.all_blocks(c, 0) ? 1 : 0;
      out[5] += word_number::unit(look.word) + 1;
    }
  }
};
// A slab without free blocks is hidden, and a block that comes back shows it.
struct hide_kernel {
  WARPHEAP_FN void operator()(slab_search search, std::uint32_t c, told out) const {
    const slab_store& store = search.store();
    add_slabs(search.maker(), c, 1);
    const slab_look all = look_at_first(store, c, 0);
    const slab_claim taken =
        search.claims().claim_and_cache(c, all, static_cast<std::uint32_t>(popcount(all.free_bits)));
    out[0] = taken.blocks == all.free_bits ? 1 : 0;
    search.hints().hide(c, 0, word_number::unit(all.word));
    out[1] = store.hinted(c).leaf_word(0);
    out[2] = search.find(lane_bit(), lane_bit(), c) == nullptr ? 1 : 0;
    search.hints().put_back({taken.word, 4});
    out[3] = store.hinted(c).leaf_word(0);
    out[4] =
        search.find(lane_bit(), lane_bit(), c) == search.claims().block_of(slab_classes::bytes(c), {all.word, 4}, 0);
    out[5] = look_at_first(store, c, 0).free_bits;
  }
};

// Each thread takes a block by a ticket.
struct ticket_kernel {
  WARPHEAP_FN void operator()(slab_growth growth, std::uint32_t c, void** kept) const {
    bool there = false;
    kept[grid_thread_index()] = growth.tickets().take(active_group(), c, true, nullptr, there);
    if (!there) kept[grid_thread_index()] = nullptr;
  }
};
struct closed_ticket_kernel {
  WARPHEAP_FN void operator()(slab_growth growth, std::uint32_t c, void** kept, told out) const {
    bool there = false;
    std::uint32_t gaps = 0;
    const detail::slab_ledger& ledger = growth.maker().ledger();
    out[0] = ledger.close(c, gaps) ? 1 : 0;
    *kept = growth.tickets().take(lane_bit(), c, true, nullptr, there);
    out[1] = there || *kept != nullptr ? 1 : 0;
    ledger.draw(c, 3);  // void, by a thread that saw the ledger before it was closed
    ledger.open(c);
    *kept = growth.tickets().take(lane_bit(), c, true, nullptr, there);
    out[2] = there && *kept != nullptr ? 1 : 0;
    out[3] = places_of(growth.store(), c);
  }
};
// Draws tickets of two places, and settles these one after the other.
struct settle_kernel {
  WARPHEAP_FN void operator()(slab_maker maker, std::uint32_t c, told out) const {
    const detail::slab_ledger& ledger = maker.ledger();
    out[0] = ledger.is_settled(c) ? 1 : 0;
    ledger.draw(c, 2 * maker.store().blocks_of(c));
    out[1] = ledger.is_settled(c) ? 1 : 0;
    ledger.settle(c, false);
    out[2] = ledger.is_settled(c) ? 1 : 0;
    ledger.settle(c, false);
    out[3] = ledger.is_settled(c) ? 1 : 0;
  }
};
struct take_all_units_kernel {
  WARPHEAP_FN void operator()(slab_store store) const {
    for (std::uint32_t unit = 0; unit < units; ++unit) store.free_units().take_exactly({unit, 1});
  }
};
struct give_all_units_kernel {
  // As if slabs had been taken back. Then the ledger, which had stayed closed, is opened.
  WARPHEAP_FN void operator()(slab_maker maker, std::uint32_t c, told out) const {
    maker.ledger().open(c);
    out[0] = maker.ledger().look(c).is_closed() ? 1 : 0;
    maker.store().free_units().add({0, units});
    ++maker.store().control().reclaims;
    maker.ledger().open(c);
  }
};
struct close_kernel {
  WARPHEAP_FN void operator()(slab_maker maker, std::uint32_t c, told out) const {
    const bool was_open = maker.reclamation().compaction().close_ledger(lane_bit(), c);
    out[0] = was_open ? 1 : 0;
    out[1] = places_of(maker.store(), c);
    out[2] = free_units_of(maker.store());
    for (std::uint32_t place = 0; place < out[1]; ++place) {
      out[3] += static_cast<std::uint64_t>(popcount(look_at_first(maker.store(), c, place).free_bits));
    }
    out[4] =
        maker.store().table(c, static_cast<std::uint32_t>(out[1])).load(memory_order::relaxed, thread_scope::device);
    out[5] = maker.store().hinted(c).leaf_word(0);
    if (was_open) maker.ledger().open(c);
  }
};

class warp_slab_parts : public testing::Test {
 protected:
  warp_slab_parts() : memory_(bytes + unit_bytes), metadata_(warp_slab::metadata_bytes(bytes) + 256), out_(8) {
    const std::uint64_t begin = align_up(reinterpret_cast<std::uint64_t>(memory_.data()), unit_bytes);
    const std::uint64_t metadata = align_up(reinterpret_cast<std::uint64_t>(metadata_.data()), 256);
    place_ = {reinterpret_cast<std::byte*>(begin), bytes, bytes, reinterpret_cast<std::byte*>(metadata)};
    launch({1, 32}, initialise_kernel{}, part<slab_store>());
  }
  template <class Part>
  Part part() const {
    return Part{place_};
  }
  told out() const { return out_.data(); }
  std::vector<std::uint64_t> seen() const { return out_.to_host(); }
  const std::uint32_t c = slab_classes::of(512).of_class;  // a slab is one unit with one word

 private:
  device_array<std::byte> memory_;
  device_array<std::byte> metadata_;
  device_array<std::uint64_t> out_;
  arena place_{};
};

TEST_F(warp_slab_parts, made_slabs_are_listed_and_all_free) {
  launch({1, 1}, make_kernel{}, part<slab_maker>(), c, out());
  EXPECT_EQ(seen(), (std::vector<std::uint64_t>{1, 3, units - 3, 0b111, 3, 3, 0, 0}));
}

TEST_F(warp_slab_parts, slabs_without_a_block_in_use_become_units_and_leave_no_gap) {
  launch({1, 1}, reclaim_kernel{}, part<slab_reclamation>(), part<slab_maker>(), c, out());
  EXPECT_EQ(seen(), (std::vector<std::uint64_t>{1, 1, 1, units - 1, 1, 0, units, 0}));
}

// A request takes the word of a sweep that began after it, and only of such a one.
TEST_F(warp_slab_parts, a_sweep_serves_all_requests_that_began_before_it) {
  launch({1, 1}, sweep_kernel{}, part<slab_reclamation>(), part<slab_maker>(), c, out());
  EXPECT_EQ(seen(), (std::vector<std::uint64_t>{0, 0, 1, 1, 0, 0, 0, 0}));
}

// Four leaves with fully free slabs are offered after three without, and only one of them is needed.
TEST_F(warp_slab_parts, no_more_leaves_are_taken_back_than_it_takes) {
  launch({1, 1}, reclaim_one_kernel{}, part<slab_reclamation>(), part<slab_maker>(), c, out());
  EXPECT_EQ(seen(),
            (std::vector<std::uint64_t>{1, bit_tree::leaf_bits, units - 6 * bit_tree::leaf_bits, 0, 0, 0, 0, 0}));
}

// Slabs of all leaves are taken back by several warps, and those that stay close ranks.
TEST_F(warp_slab_parts, warps_that_help_take_each_slab_back_once) {
  constexpr std::uint32_t slabs = 250;
  constexpr std::uint32_t stays = 7;
  constexpr std::uint32_t left = (slabs + stays - 1) / stays;
  launch({1, 1}, crowd_kernel{}, part<slab_maker>(), c, slabs, stays);
  launch({1, 1}, look_kernel{}, part<slab_store>(), c, slabs, out());
  EXPECT_EQ(seen(),
            (std::vector<std::uint64_t>{slabs, units - slabs, slabs, slabs, left, slabs * (slabs + 1) / 2, 0, 0}));
  const device_array<help_kernel::meeting> at(1);
  device_fill(at.data(), 0, sizeof(help_kernel::meeting));
  launch({8, 32}, help_kernel{}, part<slab_reclamation>(), at.data());
  EXPECT_EQ(at.at(0).found, 1u);
  device_fill(out(), 0, 8 * sizeof(std::uint64_t));
  launch({1, 1}, look_kernel{}, part<slab_store>(), c, slabs, out());
  const std::uint64_t numbers = left + stays * left * (left - 1) / 2;
  EXPECT_EQ(seen(), (std::vector<std::uint64_t>{left, units - left, left, left, left, numbers, 0, 0}));
}

// All warps of a grid take slabs back, in one launch and in a later one.
TEST_F(warp_slab_parts, a_grid_coalesces_all_that_is_free) {
  constexpr std::uint32_t slabs = 250;
  constexpr std::uint32_t stays = 7;
  constexpr std::uint32_t left = (slabs + stays - 1) / stays;
  constexpr std::uint64_t numbers = left + stays * left * (left - 1) / 2;
  std::uint32_t apart = stays;
  for (const std::uint32_t more : {slabs, std::uint32_t{10}}) {
    launch({1, 1}, crowd_kernel{}, part<slab_maker>(), c, more, apart);
    launch({8, 64}, coalesce_kernel{}, part<warp_slab>());
    device_fill(out(), 0, 8 * sizeof(std::uint64_t));
    launch({1, 1}, look_kernel{}, part<slab_store>(), c, slabs, out());
    EXPECT_EQ(seen(), (std::vector<std::uint64_t>{left, units - left, left, left, left, numbers, 0, 0}));
    apart = slabs;  // the second time only the first slab, which stays anyway, loses a block
  }
}

TEST_F(warp_slab_parts, a_hidden_slab_is_shown_by_a_block_that_comes_back) {
  launch({1, 1}, hide_kernel{}, part<slab_search>(), c, out());
  EXPECT_EQ(seen(), (std::vector<std::uint64_t>{1, 0, 1, 1, 1, 0, 0, 0}));
}

// Tickets of several warps fill slabs to the last block, also where those of one warp lie in two slabs.
TEST_F(warp_slab_parts, tickets_make_as_many_slabs_as_are_asked_for) {
  constexpr std::uint32_t warps = 3;
  constexpr std::uint32_t lanes = 24;
  const device_array<void*> kept(warps * lanes);
  launch({warps, lanes}, ticket_kernel{}, part<slab_growth>(), c, kept.data());
  std::set<void*> blocks;
  for (void* block : kept.to_host()) {
    ASSERT_NE(block, nullptr);
    EXPECT_TRUE(blocks.insert(block).second) << "two threads have one block";
  }
  launch({1, 1}, close_kernel{}, part<slab_maker>(), c, out());
  EXPECT_EQ(seen(), (std::vector<std::uint64_t>{1, 3, units - 3, 3 * 32 - warps * lanes, 0, 0b111, 0, 0}));
}

// A slab of the largest blocks has fewer of them than a warp has lanes, which then draw for a slab each.
TEST_F(warp_slab_parts, tickets_serve_blocks_of_which_a_slab_has_few) {
  constexpr std::uint32_t warps = 3;
  constexpr std::uint32_t lanes = 20;
  constexpr std::uint32_t slabs = 8;
  const std::uint32_t largest = slab_classes::of(slab_classes::largest_bytes).of_class;
  ASSERT_EQ(slab_classes::blocks(largest), 8u);
  const device_array<void*> kept(warps * lanes);
  launch({warps, lanes}, ticket_kernel{}, part<slab_growth>(), largest, kept.data());
  std::set<void*> blocks;
  for (void* block : kept.to_host()) {
    ASSERT_NE(block, nullptr);
    EXPECT_TRUE(blocks.insert(block).second) << "two threads have one block";
  }
  launch({1, 1}, close_kernel{}, part<slab_maker>(), largest, out());
  EXPECT_EQ(seen(), (std::vector<std::uint64_t>{1, slabs, units - slabs * slab_classes::units(largest),
                                                slabs * 8 - warps * lanes, 0, 0xff, 0, 0}));
}

// The first draw of a later launch makes an eighth of the class ahead of need, and later draws of the launch do not.
TEST_F(warp_slab_parts, tickets_of_a_later_launch_make_slabs_ahead) {
  constexpr std::uint32_t lanes = 32;  // as many as a slab has blocks
  for (const std::uint32_t warps : {16u, 2u}) {
    const device_array<void*> kept(warps * lanes);
    launch({warps, lanes}, ticket_kernel{}, part<slab_growth>(), c, kept.data());
    for (void* block : kept.to_host()) EXPECT_NE(block, nullptr);
  }
  launch({1, 1}, close_kernel{}, part<slab_maker>(), c, out());
  EXPECT_EQ(seen(), (std::vector<std::uint64_t>{1, 20, units - 20, 2 * lanes, 0, 0xfffff, 0, 0}));
}

// Without units a ticket makes no slab, and the table has no gap after the ledger was closed.
TEST_F(warp_slab_parts, tickets_that_find_no_units_leave_nothing_behind) {
  constexpr std::uint32_t threads = 64;
  const device_array<void*> kept(threads);
  launch({1, 1}, take_all_units_kernel{}, part<slab_store>());
  launch({1, threads}, ticket_kernel{}, part<slab_growth>(), c, kept.data());
  for (void* block : kept.to_host()) EXPECT_EQ(block, nullptr);
  launch({1, 1}, close_kernel{}, part<slab_maker>(), c, out());
  EXPECT_EQ(seen(), (std::vector<std::uint64_t>{1, 0, 0, 0, 0, 0, 0, 0}));
  // What failed then is forgotten once units have come back.
  launch({1, 1}, give_all_units_kernel{}, part<slab_maker>(), c, out());
  EXPECT_EQ(seen()[0], 1u) << "the ledger was opened without units";
  launch({1, threads}, ticket_kernel{}, part<slab_growth>(), c, kept.data());
  for (void* block : kept.to_host()) EXPECT_NE(block, nullptr);
  launch({1, 1}, close_kernel{}, part<slab_maker>(), c, out());
  EXPECT_EQ(seen(), (std::vector<std::uint64_t>{1, 2, units - 2, 0, 0, 0b11, 0, 0}));
}

TEST_F(warp_slab_parts, a_class_is_settled_when_all_drawn_places_are) {
  launch({1, 1}, settle_kernel{}, part<slab_maker>(), c, out());
  EXPECT_EQ(seen(), (std::vector<std::uint64_t>{1, 0, 0, 1, 0, 0, 0, 0}));
}

// Tickets of a closed ledger are void, and those of the opened one begin with the first block that no slab has.
TEST_F(warp_slab_parts, a_closed_ledger_gives_no_tickets) {
  const device_array<void*> kept(1);
  launch({1, 1}, closed_ticket_kernel{}, part<slab_growth>(), c, kept.data(), out());
  const std::vector<std::uint64_t> told = seen();
  EXPECT_EQ(told[0], 1u) << "it was open";
  EXPECT_EQ(told[1], 0u) << "a ticket of a closed ledger counted";
  EXPECT_EQ(told[2], 1u) << "no ticket of the opened ledger";
  EXPECT_EQ(told[3], 1u) << "places";
}

}  // namespace
}  // namespace warpheap::test::warp_slab_parts_test
