// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Requests of a group as one: shares follow each other in lane order, a sum that is too large refuses all, and of the
// pieces of a block the last that comes back gives the block away, whoever gives them back and together with whom.

#include <gtest/gtest.h>

#include <cstdint>
#include <support/masks.hpp>
#include <support/random.hpp>
#include <support/scale.hpp>
#include <support/schedules.hpp>
#include <vector>
#include <warpheap/structures.hpp>

namespace warpheap::test::combined_test {
namespace {

struct combine_kernel {
  WARPHEAP_FN void operator()(lane_mask group, const std::uint64_t* bytes, std::uint64_t alignment,
                              byte_share* out) const {
    if ((group & lane_bit()) == 0) return;
    out[lane_index()] = combine(group, bytes[lane_index()], alignment);
  }
};

TEST(combined, shares_follow_each_other_in_lane_order) {
  random_stream random{11, 0};
  for (const lane_mask group : mask_zoo(3)) {
    for (const std::uint64_t alignment : {1, 16, 256}) {
      std::vector<std::uint64_t> asked(warp_width);
      for (std::uint64_t& each : asked) each = random.below(3) == 0 ? 0 : random.below(5000);
      const device_array<std::uint64_t> bytes(asked);
      const device_array<byte_share> out(warp_width);
      launch({1, warp_width}, combine_kernel{}, group, static_cast<const std::uint64_t*>(bytes.data()), alignment,
             out.data());
      const std::vector<byte_share> shares = out.to_host();
      std::uint64_t sum = 0;
      for (int lane = 0; lane < warp_width; ++lane) {
        if ((group >> lane & 1) == 0) continue;
        ASSERT_EQ(shares[lane].offset, sum) << "lane " << lane;
        sum += align_up(asked[lane], alignment);
      }
      for (int lane = 0; lane < warp_width; ++lane) {
        if ((group >> lane & 1) != 0) {
          ASSERT_TRUE(shares[lane].fits() && shares[lane].total == sum) << "lane " << lane;
        }
      }
    }
  }
}

TEST(combined, a_sum_beyond_64_bits_is_too_many_for_all) {
  for (const std::uint64_t large : {~std::uint64_t{0}, ~std::uint64_t{0} - 14, std::uint64_t{1} << 63}) {
    std::vector<std::uint64_t> asked(warp_width, 16);
    asked[3] = large;
    asked[warp_width - 2] = large;
    const device_array<std::uint64_t> bytes(asked);
    const device_array<byte_share> out(warp_width);
    launch({1, warp_width}, combine_kernel{}, full_warp, static_cast<const std::uint64_t*>(bytes.data()),
           std::uint64_t{16}, out.data());
    for (const byte_share& each : out.to_host()) EXPECT_FALSE(each.fits());
  }
}

constexpr std::uint64_t block_bytes = 16384;

/// A warp makes pieces in a block of its own, fills them, and leaves them in a table.
struct make_kernel {
  WARPHEAP_FN void operator()(lane_mask group, std::byte* blocks, void** table, std::uint64_t seed) const {
    if ((group & lane_bit()) == 0) return;
    random_stream random{seed, grid_thread_index()};
    const std::uint64_t bytes = random.below(400);
    const byte_share share = combine(group, combined_piece::bytes_for(bytes), combined_piece::unit_bytes);
    require(share.fits() && share.total <= block_bytes, "a share that is too large");
    std::byte* const block = blocks + grid_warp_index() * block_bytes;
    auto* const payload = static_cast<std::byte*>(combined_piece::make(group, block, share, bytes));
    const combined_piece& piece = combined_piece::of(payload);
    require(piece.usable_bytes() >= bytes && piece.usable_bytes() < bytes + 16, "a piece of another size");
    require(piece.block() == reinterpret_cast<std::uint64_t>(block), "a piece of another block");
    for (std::uint64_t i = 0; i < piece.usable_bytes(); ++i) payload[i] = static_cast<std::byte>(grid_thread_index());
    table[grid_thread_index()] = payload;
  }
};

/// Threads give back pieces that others made, in an order of their own, alone or together, and the one that gets a
/// block finds in it what all of its pieces' releasers wrote.
struct release_kernel {
  WARPHEAP_FN void operator()(std::byte* blocks, void* const* table, std::uint32_t* last, std::uint64_t count,
                              std::uint64_t step, std::uint32_t* sums) const {
    const std::uint64_t self = grid_thread_index() * step % count;  // `step` has no divisor in common with the count
    auto* const payload = static_cast<std::byte*>(table[self]);
    if (payload == nullptr) return;
    const combined_piece& piece = combined_piece::of(payload);
    const std::uint64_t number = (piece.block() - reinterpret_cast<std::uint64_t>(blocks)) / block_bytes;
    for (std::uint64_t i = 0; i < piece.usable_bytes(); ++i) {
      require(payload[i] == static_cast<std::byte>(self), "a piece was written by another lane");
    }
    sums[self] = 1;  // plain: the release hands it on
    if (!combined_piece::release(active_group(), piece)) return;
    ++last[number];
    const std::uint64_t first = number * warp_width;
    for (std::uint64_t i = first; i < first + warp_width; ++i) {
      require(table[i] == nullptr || sums[i] == 1, "a block was given away before its last piece");
    }
  }
};

TEST(combined, the_last_piece_gives_the_block_away) {
  for_each_schedule([](std::uint64_t seed) {
    const std::uint64_t warps = scaled(6, 512);
    const std::uint64_t count = warps * warp_width;
    for (const lane_mask group : {full_warp, lane_mask{1}, full_warp & 0x55555555u, full_warp & 0xf00ff00eu}) {
      const device_array<std::byte> blocks(warps * block_bytes);
      const device_array<void*> table(count);
      const device_array<std::uint32_t> last(warps);
      const device_array<std::uint32_t> sums(count);
      launch({warps, warp_width}, make_kernel{}, group, blocks.data(), table.data(), seed);
      // By the lanes that made them, or by lanes of warps far apart.
      const std::uint64_t step = seed % 2 == 0 ? 1 : count / 2 + 1;
      launch({warps, warp_width}, release_kernel{}, blocks.data(), static_cast<void* const*>(table.data()), last.data(),
             count, step, sums.data());
      synchronise();
      for (const std::uint32_t each : last.to_host()) ASSERT_EQ(each, 1u) << "lanes that got the block";
    }
  });
}

}  // namespace
}  // namespace warpheap::test::combined_test
