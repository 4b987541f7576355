// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// What a page source promises beside what its buddy system does: it knows each block's order and begin, gives back
// without being told a size, and its epoch tells when a refused thread should try again.

#include <gtest/gtest.h>

#include <cstdint>
#include <support/random.hpp>
#include <support/scale.hpp>
#include <support/schedules.hpp>
#include <warpheap/structures.hpp>

namespace warpheap::test::page_source_test {
namespace {

class source_memory {
 public:
  source_memory(std::uint32_t first, std::uint32_t end)
      : first_span_(first / page_source::span_pages),
        upper_(1),
        spans_(divide_up(end, page_source::span_pages) - first_span_) {}
  page_source source() const { return {upper_.data(), &spans_.data()->of_source, first_span_, sizeof(span)}; }

  /// Expects nothing written between the spans.
  void expect_untouched() const {
    for (const span& each : spans_.to_host()) {
      for (const std::uint64_t word : each.of_owner) EXPECT_EQ(word, 0u);
    }
  }

 private:
  // Something else of the owner lies between.
  struct span {
    page_source::span of_source;
    std::uint64_t of_owner[32];
  };
  std::uint32_t first_span_;
  device_array<page_source::state> upper_;
  device_array<span> spans_;
};

/// One lane, and the results are known. The pages are [first, end), which is added in two parts.
struct steps_kernel {
  WARPHEAP_FN void operator()(page_source source, std::uint32_t first, std::uint32_t middle, std::uint32_t end) const {
    constexpr std::uint32_t none = page_source::none;
    require(page_source::order_for(1) == 0 && page_source::order_for(2) == 1 && page_source::order_for(3) == 2 &&
                page_source::order_for(4) == 2 && page_source::order_for(5) == 3,
            "the smallest order that is enough");
    require(source.epoch() == 0 && source.take(0) == none && source.refuses(0), "a source of nothing");
    source.add(first, middle - first);
    require(source.epoch() != 0 && !source.refuses(0), "what is added ends refusals");
    const std::uint32_t block = source.take(3);
    require(block != none && block % 8 == 0 && source.order_of(block) == 3, "a block of eight pages");
    for (std::uint32_t page = block; page < block + 8; ++page) {
      require(source.first_of(page, first) == block, "its pages");
      require(page == block || source.order_of(page) == none, "it begins once");
    }
    const std::uint32_t page = source.take(0);
    require(source.order_of(page) == 0 && source.first_of(page, first) == page, "a page");
    const std::uint64_t epoch = source.epoch();
    require(source.take(page_source::largest_order) == none && source.take(40) == none && source.epoch() == epoch,
            "a refusal changes nothing");
    source.give(block);
    require(source.order_of(block) == none && source.first_of(block + 3, first) == none, "it is nobody's");
    require(source.epoch() == epoch + 1, "a block came back");
    source.add(middle, end - middle);
    require(source.epoch() > epoch + 1 && source.free_pages(end) == end - first - 1, "more pages");
    source.give(page);
    require(source.free_pages(end) == end - first, "all is back");
    const std::uint32_t parted = source.take(2);
    require(source.forget(parted) == 2 && source.order_of(parted) == none, "it is no block");
    source.add(parted + 1, 3);
    require(source.free_pages(end) == end - first - 1, "in parts");
    source.add_each(lane_bit(), parted);
    require(source.free_pages(end) == end - first, "all of it");
  }
};

TEST(page_source, knows_blocks_and_counts_what_comes_back) {
  for (const std::uint32_t first : {0u, 1000u, 70'000u}) {
    const source_memory memory{first, first + 900};
    launch({1, 1}, steps_kernel{}, memory.source(), first, first + 500, first + 900);
  }
}

/// Threads take and give blocks, alone and together, and write plain to the ends of what they have.
struct churn_kernel {
  static constexpr int slots = 4;

  page_source source;
  std::uint32_t* owners;  // a plain word for each page
  std::uint32_t begin;
  std::uint32_t orders;
  std::uint64_t seed;
  int rounds;

  WARPHEAP_FN void operator()() const {
    std::uint32_t held[slots];
    for (std::uint32_t& each : held) each = page_source::none;
    random_stream random{seed, grid_thread_index()};
    for (int round = 0; round < rounds + slots; ++round) {
      std::uint32_t& slot = held[round < rounds ? random.below(slots) : static_cast<std::uint64_t>(round - rounds)];
      if (slot != page_source::none) {
        give(slot, random);
        slot = page_source::none;
      } else if (round < rounds) {
        slot = take(random);
      }
    }
  }

  WARPHEAP_FN std::uint32_t take(random_stream& random) const {
    const auto order = static_cast<std::uint32_t>(random.below(orders));
    const std::uint64_t epoch = source.epoch();
    const bool together = random.below(2) == 0;
    const std::uint32_t page = together ? source.take(match(active_group(), order), order) : source.take(order);
    require(source.epoch() >= epoch, "the epoch fell");
    if (page == page_source::none) return page;
    const std::uint32_t last = page + (1u << order) - 1;
    require(source.order_of(page) == order && source.first_of(last, begin) == page, "its order is not known");
    require(owners[page - begin] == 0 && owners[last - begin] == 0, "a page has two owners");
    owners[page - begin] = owners[last - begin] = 1 + static_cast<std::uint32_t>(grid_thread_index());
    return page;
  }

  WARPHEAP_FN void give(std::uint32_t page, random_stream& random) const {
    const std::uint32_t last = page + (1u << source.order_of(page)) - 1;
    require(owners[page - begin] == 1 + grid_thread_index() && owners[last - begin] == 1 + grid_thread_index(),
            "a page lost its owner");
    owners[page - begin] = owners[last - begin] = 0;
    const std::uint64_t epoch = source.epoch();
    if (random.below(2) == 0) {
      source.give(active_group(), page);
    } else if (source.order_of(page) == 0 && random.below(2) == 0) {
      source.forget(page);
      source.add_each(lane_bit(), page);
    } else {
      source.give(page);
    }
    require(source.epoch() > epoch, "what came back is not counted");
  }
};

struct add_kernel {
  WARPHEAP_FN void operator()(page_source source, std::uint32_t first, std::uint32_t count) const {
    source.add(first, count);
  }
};

/// Counts the free pages below `end`, and expects no tag.
struct look_kernel {
  WARPHEAP_FN void operator()(page_source source, std::uint32_t first, std::uint32_t end, std::uint64_t* sum) const {
    *sum = source.free_pages(end);
    for (std::uint32_t page = first; page < end; ++page) {
      require(source.order_of(page) == page_source::none, "a tag is left");
    }
  }
};

TEST(page_source, knows_blocks_under_churn) {
  for_each_schedule(
      [](std::uint64_t seed) {
        constexpr std::uint32_t first = 5000;
        const std::uint32_t pages = this_backend == backend::host ? 700 : 20'000;
        const source_memory memory{first, first + pages};
        const device_array<std::uint32_t> owners(pages);
        launch({1, 1}, add_kernel{}, memory.source(), first, pages);
        launch(grid_shape::covering(scaled(192, 1 << 12), 64),
               churn_kernel{memory.source(), owners.data(), first, 6, seed, static_cast<int>(scaled(32, 48))});
        const device_array<std::uint64_t> free(1);
        launch({1, 1}, look_kernel{}, memory.source(), first, first + pages, free.data());
        ASSERT_EQ(free.at(0), pages) << "pages were lost";
        memory.expect_untouched();
      },
      4);
}

}  // namespace
}  // namespace warpheap::test::page_source_test
