// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Searches for fully free slabs that several groups share. A refusal that rests on the sweep of an earlier attempt is
// no word for a thread that came after that sweep: meanwhile a slab may have lost its last block. And a lane that
// helps draws no more of one job than it can do of the next.

#include <gtest/gtest.h>

#include <cstdint>
#include <exploration/host/private_member.hpp>
#include <warpheap/designs/warp_slab/warp_slab.hpp>

namespace warpheap::test::warp_slab_sweep_test {
namespace {

using detail::slab_extension;
using outcome = slab_extension::outcome;

WARPHEAP_TEST_PRIVATE(extend_alone, slab_extension::extend_alone)
WARPHEAP_TEST_PRIVATE(take_next, detail::slab_reclamation::take_next)
WARPHEAP_TEST_PRIVATE(growing_classes, detail::slab_reclamation::growing_classes)

constexpr std::uint64_t units = 256;
constexpr std::uint64_t unit_bytes = slab_classes::unit_bytes;

// One lane acts for three threads, of which two have asked for blocks and wait for the lock.
struct refusal_kernel {
  slab_extension extension;
  arena place;

  WARPHEAP_FN void operator()() const {
    const detail::slab_store& store = extension.store();
    store.initialise();
    const std::uint32_t x = slab_classes::of(64).of_class;
    const std::uint32_t c = slab_classes::of(512).of_class;
    const std::uint32_t other = slab_classes::of(1024).of_class;
    require(extend(x, 0) == outcome::extended, "a slab of class x");
    for (std::uint32_t unit = 0; unit < units; ++unit) store.free_units().take_exactly({unit, 1});
    bool lost = false;
    void* const block = extension.search().follow_hints(lane_bit(), x, true, nullptr, lost);
    require(block != nullptr, "a block of it");

    const std::uint64_t first_asks = attempts();
    require(extend(other, first_asks) == outcome::refused, "another size has nothing to be had");
    warp_slab{place}.free(block);
    const std::uint64_t second_asks = attempts();
    require(extend(c, first_asks) == outcome::refused, "a sweep serves who had asked before it");
    require(store.of_class(c).refused <= second_asks, "a thread is refused what it has freed itself");
    require(extend(c, second_asks) == outcome::extended, "the slab is free");
  }

  WARPHEAP_FN std::uint64_t attempts() const { return extension.store().control().attempts; }
  // As the lock's holder, for one block.
  WARPHEAP_FN outcome extend(std::uint32_t c, std::uint64_t earlier) const {
    void* found = nullptr;
    require(extension.store().control().lock.try_acquire(), "the lock is not free");
    return extend_alone(extension, lane_bit(), lane_bit(), c, earlier, found);
  }
};

// A lane that helps to look at sections draws one at a time, since it can take one leaf back in a turn of another job.
struct lone_helper_kernel {
  WARPHEAP_FN void operator()(detail::slab_reclamation reclamation) const {
    reclamation.store().initialise();
    const detail::slab_reclaim_job& job = reclamation.job();
    job.begin_look(static_cast<std::uint32_t>(units) / 64);
    require(job.offer_next(), "nothing to look at");
    std::uint32_t most = 1;
    std::uint32_t turns = 0;
    for (; take_next(reclamation, lane_bit(), most); ++turns) require(most == 1, "more leaves than lanes are drawn");
    require(turns == units / 64, "a section was left out");
    require(!job.offer_next() && job.end_look() == 0, "an empty heap has a slab");
  }
};

// A slab in the making for a ticket may be fully free as soon as it is made, so a sweep counts its class.
struct growing_kernel {
  WARPHEAP_FN void operator()(detail::slab_reclamation reclamation) const {
    reclamation.store().initialise();
    const std::uint32_t c = slab_classes::of(512).of_class;
    const std::uint64_t all = ~std::uint64_t{0} >> (64 - slab_classes::count);
    require(growing_classes(reclamation, lane_bit(), all) == 0, "a class of an empty heap grows");
    reclamation.ledger().draw(c, 1);
    require(growing_classes(reclamation, lane_bit(), all) == std::uint64_t{1} << c, "a slab in the making is missed");
    reclamation.ledger().settle(c, false);
    require(growing_classes(reclamation, lane_bit(), all) == 0, "a class grows, though all places are settled");
  }
};

class warp_slab_sweep : public testing::Test {
 protected:
  warp_slab_sweep()
      : memory_((units + 1) * unit_bytes), metadata_(warp_slab::metadata_bytes(units * unit_bytes) + 256) {
    const std::uint64_t begin = align_up(reinterpret_cast<std::uint64_t>(memory_.data()), unit_bytes);
    const std::uint64_t behind = align_up(reinterpret_cast<std::uint64_t>(metadata_.data()), 256);
    place_ = {reinterpret_cast<std::byte*>(begin), units * unit_bytes, units * unit_bytes,
              reinterpret_cast<std::byte*>(behind)};
  }
  const arena& place() const { return place_; }

 private:
  device_array<std::byte> memory_;
  device_array<std::byte> metadata_;
  arena place_{};
};

TEST_F(warp_slab_sweep, serves_who_asked_before_it) {
  launch({1, 1}, refusal_kernel{slab_extension{place()}, place()});
}

TEST_F(warp_slab_sweep, counts_classes_that_grow) {
  launch({1, 1}, growing_kernel{}, detail::slab_reclamation{place()});
}

TEST_F(warp_slab_sweep, a_lone_helper_draws_what_it_can_do) {
  launch({1, 1}, lone_helper_kernel{}, detail::slab_reclamation{place()});
}

}  // namespace
}  // namespace warpheap::test::warp_slab_sweep_test
