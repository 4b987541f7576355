// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Blocks in a bit tree, neighbours that begin at a multiple of their number: they are found while others add and while
// others take, and nobody gets one twice.

#include <gtest/gtest.h>

#include <cstdint>
#include <support/random.hpp>
#include <support/scale.hpp>
#include <support/schedules.hpp>
#include <warpheap/structures.hpp>

#include "set_memory.hpp"

namespace warpheap::test::bit_tree_blocks_test {
namespace {

/// One warp, and the results are known.
struct block_steps_kernel {
  WARPHEAP_FN void operator()(bit_tree set) const {
    if (is_leader(full_warp)) single_blocks(set);
    sync(full_warp);
    blocks(set);
    blocks_apart(set);
  }
  // Each lane from another leaf.
  WARPHEAP_FN static void blocks_apart(const bit_tree& set) {
    std::uint32_t leaf = 0;
    require(take_apart(set, 4, 9) == 0, "no block in an empty set");
    if (is_leader(full_warp)) set.add({2, 300});
    sync(full_warp);
    const std::uint64_t lowest = set.take_blocks_apart(full_warp, 8, 1, leaf);
    require(is_leader(full_warp) ? lowest == 1 << 8 && leaf == 0 : lowest == 0, "one block, the lowest");
    require(take_apart(set, 16, 3) == 3, "no more than are wanted");
    std::uint32_t rest = 0;
    for (std::uint32_t got = 1; got != 0; rest += got) got = take_apart(set, 16, 1000);
    require(rest == 14, "all that there are");
    if (is_leader(full_warp)) require(set.take_exactly({2, 6}) && set.take_exactly({288, 14}), "what was no block");
    sync(full_warp);
  }
  // How many blocks all lanes got.
  WARPHEAP_FN static std::uint32_t take_apart(const bit_tree& set, std::uint32_t size, std::uint32_t most) {
    std::uint32_t leaf = 0;
    const std::uint64_t mine = set.take_blocks_apart(full_warp, size, most, leaf);
    for (std::uint64_t left = mine; left != 0; left &= left - 1) {
      require(static_cast<std::uint32_t>(lowest_bit(left)) % size == 0, "a block that is not aligned");
    }
    return reduce(full_warp, static_cast<std::uint32_t>(popcount(mine)), plus{});
  }

  WARPHEAP_FN static void blocks(const bit_tree& set) {
    require(is(set.take_blocks(full_warp, 1, 1), 0, 0), "no block in an empty set");
    if (is_leader(full_warp)) set.add({3, 10});
    sync(full_warp);
    require(is(set.take_blocks(full_warp, 8, 1), 0, 0), "neighbours that are not aligned");
    require(is(set.take_blocks(full_warp, 4, 1), 4, 4), "the lowest block");
    require(is(set.take_blocks(full_warp, 4, 9), 8, 4), "what there is, in whole blocks");
    if (is_leader(full_warp)) set.add({60, 3000});
    sync(full_warp);
    require(is(set.take_blocks(full_warp, 64, 2), 64, 128), "whole leaves");
    require(is(set.take_blocks(full_warp, 2, 9), 60, 4), "up to a gap");
    require(is(set.take_blocks(full_warp, 32, 21), 192, 672), "from the begin of a leaf to within another");
    require(is(set.take_blocks(full_warp, 16, 1000), 864, 2192), "across many leaves, to the last whole block");
    require(is(set.take_blocks(full_warp, 1, 3), 3, 1), "a single one");
    require(is(set.take_blocks(full_warp, 1, 99), 12, 1), "another one");
    require(is(set.take_blocks(full_warp, 1, 99), 3056, 4), "what was no whole block");
    require(is(set.take_blocks(full_warp, 1, 99), 0, 0), "nothing is left");
    odd_blocks(set);
  }
  // Blocks that begin in one leaf and end in the next.
  WARPHEAP_FN static void odd_blocks(const bit_tree& set) {
    if (is_leader(full_warp)) set.add({60, 8});
    sync(full_warp);
    require(is(set.take_blocks(full_warp, 7, 1), 0, 0), "neighbours that do not begin at a multiple");
    require(is(set.take_blocks(full_warp, 3, 1), 60, 3), "within a leaf");
    require(is(set.take_blocks(full_warp, 3, 9), 63, 3), "across leaves");
    require(is(set.take_blocks(full_warp, 1, 9), 66, 2), "the rest");
    if (is_leader(full_warp)) set.add({128, 400});
    sync(full_warp);
    require(is(set.take_blocks(full_warp, 28, 2), 140, 56), "to within a block of a leaf");
    require(is(set.take_blocks(full_warp, 5, 1000), 130, 10), "up to a gap");
    require(is(set.take_blocks(full_warp, 24, 1000), 216, 312), "across many leaves");
    require(is(set.take_blocks(full_warp, 7, 1000), 196, 14), "what lies between");
    require(is(set.take_blocks(full_warp, 5, 9), 210, 5), "beside it");
    require(is(set.take_blocks(full_warp, 1, 9), 128, 2) && is(set.take_blocks(full_warp, 1, 9), 215, 1),
            "and the rest");
    require(is(set.take_blocks(full_warp, 1, 9), 0, 0), "nothing is left");
  }
  WARPHEAP_FN static void single_blocks(const bit_tree& set) {
    std::uint32_t first = 0;
    require(!set.try_take_block(1, 0, 1, first), "a block of an empty set");
    set.add({3, 10});
    require(!set.try_take_block(8, 0, 1, first), "neighbours that are not aligned");
    require(set.try_take_block(4, 7, 1, first) && first == 8, "the block whose turn it is");
    require(set.try_take_block(4, 7, 1, first) && first == 4, "the block that there is");
    set.add({64, 192});
    require(set.try_take_block(64, 1, 1, first) && first == 64, "a leaf");
    require(set.try_take_block(64, 2, 3, first) && first == 128, "a leaf that lies further on");
    require(set.take_exactly({192, 64}) && set.take_exactly({12, 1}) && set.take_exactly({3, 1}), "the rest");
  }
};

TEST(bit_tree_blocks, finds_what_is_there) {
  for_each_schedule([](std::uint64_t) {
    for (const set_kind kind : set_kinds) {
      const set_memory memory{5060, kind};
      launch({1, warp_width}, block_steps_kernel{}, memory.tree());
      memory.expect_members(0);
    }
  });
}

/// One warp takes blocks of all sizes while others add what it takes.
struct blocks_kernel {
  bit_tree set;
  std::uint64_t* owners;  // 1: the warp took it
  std::uint64_t members;
  std::uint64_t seed;

  WARPHEAP_FN void operator()() const {
    random_stream random{seed, grid_thread_index()};
    if (block_index() == 0) {
      take(random);
    } else {
      add(random);
    }
  }

  WARPHEAP_FN void take(random_stream& random) const {
    const lane_mask group = full_warp;
    std::uint64_t taken = 0;
    while (taken != members) {
      const auto power = static_cast<std::uint32_t>(1u << random.below(7));
      const auto other = static_cast<std::uint32_t>(1 + random.below(64));
      const std::uint32_t size = shuffle(group, random.below(2) == 0 ? power : other, leader(group));
      const auto most = shuffle(group, static_cast<std::uint32_t>(1 + random.size(40)), leader(group));
      if (shuffle(group, random.below(2), leader(group)) == 0) {
        const std::uint64_t got = take_apart(group, size, most);
        taken += got;
        if (got == 0) backoff{}.pause();
        continue;
      }
      const index_run run = set.take_blocks(group, size, most);
      sync(group);
      require(run.first % size == 0 && run.count % size == 0 && run.count <= std::uint64_t{size} * most,
              "no whole blocks");
      const auto lanes = static_cast<std::uint64_t>(group_size(group));
      for (auto i = static_cast<std::uint64_t>(group_rank(group)); i < run.count; i += lanes) {
        require(owners[run.first + i] == 0, "taken twice");
        owners[run.first + i] = 1;
      }
      taken += run.count;
      if (run.count == 0) backoff{}.pause();  // not one wait for all: each search is work
    }
    require(set.take_blocks(group, 1, 1).count == 0, "more than was added");
  }

  // Takes blocks of other leaves in each lane; returns their members.
  WARPHEAP_FN std::uint64_t take_apart(lane_mask group, std::uint32_t size, std::uint32_t most) const {
    std::uint32_t leaf = 0;
    const std::uint64_t begins = set.take_blocks_apart(group, size, most, leaf);
    for (std::uint64_t left = begins; left != 0; left &= left - 1) {
      const std::uint64_t first =
          std::uint64_t{leaf} * bit_tree::leaf_bits + static_cast<std::uint64_t>(lowest_bit(left));
      require(first % bit_tree::leaf_bits + size <= bit_tree::leaf_bits, "not of one leaf");
      for (std::uint64_t i = first; i < first + size; ++i) {
        require(owners[i] == 0, "taken twice");
        owners[i] = 1;
      }
    }
    const std::uint32_t count = reduce(group, static_cast<std::uint32_t>(popcount(begins)), plus{});
    require(count <= most, "more than were wanted");
    return std::uint64_t{count} * size;
  }

  // Each thread adds a part of the members, in pieces.
  WARPHEAP_FN void add(random_stream& random) const {
    const std::uint64_t adders = grid_threads() - block_threads();
    const std::uint64_t index = grid_thread_index() - block_threads();
    const std::uint64_t end = members * (index + 1) / adders;
    for (std::uint64_t at = members * index / adders; at != end;) {
      const std::uint64_t piece = 1 + random.size(100);
      const std::uint64_t count = piece < end - at ? piece : end - at;
      set.add({at, count});
      at += count;
    }
  }
};

TEST(bit_tree_blocks, hands_out_blocks_while_others_add) {
  for_each_schedule([&](std::uint64_t seed) {
    for (const std::uint64_t members : {scaled(1000, 1000), scaled(9000, 1 << 17)}) {
      const set_memory memory{members, set_kinds[seed % 2]};
      const device_array<std::uint64_t> owners(members);
      launch({3, warp_width}, blocks_kernel{memory.tree(), owners.data(), members, seed});
      memory.expect_members(0);
    }
  });
}

/// Threads that hold one block at most each, of one block more than there are threads: a search for one never finds
/// nothing, though blocks move from words ahead of it to words that it has passed. Each leaf has one block and a member
/// more, so none is ever hidden: only the takers themselves tell that something changes.
struct moving_blocks_kernel {
  static constexpr std::uint32_t size = 32;
  bit_tree set;
  std::uint64_t* owners;  // plain: a block is one thread's or in the set
  std::uint64_t seed;
  int rounds;

  WARPHEAP_FN void operator()() const {
    random_stream random{seed, grid_thread_index()};
    for (int round = 0; round < rounds; ++round) {
      if (block_index() == 0) {
        const index_run run = set.take_blocks(full_warp, size, 1);
        require(run.count == size, "a block was not found");
        sync(full_warp);
        if (is_leader(full_warp)) hold(static_cast<std::uint32_t>(run.first));
        sync(full_warp);
      } else if (thread_index() == 0) {
        std::uint32_t first = 0;
        const auto mine = static_cast<std::uint32_t>(random.below(1000));
        const auto window = static_cast<std::uint32_t>(random.size(4));
        if (set.try_take_block(size, mine, window, first)) hold(first);
      }
    }
  }

  WARPHEAP_FN void hold(std::uint32_t first) const {
    require(first % bit_tree::leaf_bits == 0, "not a block");
    std::uint64_t& owner = owners[first / bit_tree::leaf_bits];
    require(owner == 0, "taken twice");
    owner = 1;
    backoff{}.pause();
    owner = 0;
    set.add({first, size});
  }
};

TEST(bit_tree_blocks, a_search_finds_a_block_beside_others_that_move) {
  constexpr std::uint64_t seeds = 12;  // about one of four schedules finds a take that is not told of
  for_each_schedule(
      [](std::uint64_t seed) {
        for (const std::uint64_t takers : {1, 2, 5}) {
          const std::uint64_t leaves = takers + 1;
          const std::uint64_t in_leaf = moving_blocks_kernel::size + 1;
          const set_memory memory{leaves * bit_tree::leaf_bits, set_kinds[seed % 2]};
          const device_array<std::uint64_t> owners(leaves);
          for (std::uint64_t leaf = 0; leaf < leaves; ++leaf) {
            launch({1, 1}, insert_kernel{}, memory.tree(), index_run{leaf * bit_tree::leaf_bits, in_leaf});
          }
          launch({takers + 1, warp_width}, moving_blocks_kernel{memory.tree(), owners.data(), seed, 200});
          memory.expect_members(leaves * in_leaf);
        }
      },
      seeds);
}

}  // namespace
}  // namespace warpheap::test::bit_tree_blocks_test
