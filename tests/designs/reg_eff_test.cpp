// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// What the allocators of Vinkler and Havran promise beyond the suite of all designs: the chunks of an empty heap, where
// blocks lie, what a pointer means, cursors that begin apart, the option to connect chunks when they are freed, and
// what the figures of a heap say.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <support/schedules.hpp>
#include <vector>
#include <warpheap/designs/reg_eff/reg_eff.hpp>
#include <warpheap/heap.hpp>

namespace warpheap::test::reg_eff_test {
namespace {

using detail::reg_eff_pre_split;
constexpr std::uint64_t granule = 32;  // bytes of the smallest chunk

// nvcc loses the name of a constant of class type outside of a template.
template <bool Fused, bool Multiple, bool Connect>
using design_of = basic_reg_eff<reg_eff_options{.fused = Fused, .multiple = Multiple, .connect_on_free = Connect}>;

template <class A>
class reg_eff : public ::testing::Test {};
using designs = testing::Types<reg_eff_c, reg_eff_cf, reg_eff_cm, reg_eff_cfm, design_of<false, false, true>,
                               design_of<true, true, true>>;
TYPED_TEST_SUITE(reg_eff, designs);

TEST(reg_eff_names, are_those_of_the_authors) {
  EXPECT_EQ(std::string{reg_eff_c::name}, "reg_eff_c");
  EXPECT_EQ(std::string{reg_eff_cf::name}, "reg_eff_cf");
  EXPECT_EQ(std::string{reg_eff_cm::name}, "reg_eff_cm");
  EXPECT_EQ(std::string{reg_eff_cfm::name}, "reg_eff_cfm");
}

// The chunks of an empty heap cover it, each once, and those of a tree lie at multiples of their size.
TEST(reg_eff_pre_split, covers_the_heap_with_aligned_chunks) {
  for (const std::uint32_t units : {1u, 2u, 3u, 4u, 5u, 11u, 12u, 31u, 32u, 1000u, 8192u, 100'000u, 1'000'003u}) {
    for (const std::uint32_t cursors : {1u, 3u, 128u}) {
      const reg_eff_pre_split split{units, cursors};
      ASSERT_LE(split.parts(), cursors);
      std::vector<std::uint8_t> covered(units);
      for (std::uint32_t part = 0; part < split.parts(); ++part) {
        std::uint32_t of_one = 0;
        for (std::uint32_t i = 0; i < split.chunks_in_part(); ++i) {
          const auto [begin, end] = split.chunk_of(part, i);
          ASSERT_LE(begin, end);
          ASSERT_LE(end, units);
          ASSERT_TRUE(i != 0 || begin == split.part_begin(part));
          for (std::uint32_t at = begin; at < end; ++at) ASSERT_EQ(covered[at]++, 0);
          if (i + 1 == split.chunks_in_part()) continue;
          EXPECT_TRUE(is_power_of_two(end - begin));
          EXPECT_EQ(begin % (end - begin), 0u) << "a request of its size would not fit";
          of_one += end - begin == 1 ? 1 : 0;
        }
        EXPECT_EQ(of_one, split.root()) << "the last level";
      }
      for (const std::uint8_t each : covered) ASSERT_EQ(each, 1);
    }
  }
}

TEST(reg_eff_pre_split, has_the_levels_of_the_authors) {
  // 4 GiB in chunks of 32 bytes: i levels, so that (i + 1) 2^i chunks of the smallest size are at least the heap.
  const reg_eff_pre_split split{std::uint32_t{1} << 27, 1};
  EXPECT_EQ(split.levels(), 23u);
  EXPECT_EQ(split.root(), std::uint32_t{1} << 22);
}

struct take_kernel {
  template <class A>
  WARPHEAP_FN void operator()(heap_ref<A> heap, std::uint64_t alignment, std::uint64_t bytes, void** blocks) const {
    blocks[grid_thread_index()] = heap.aligned_malloc(alignment, bytes);
  }
};

struct free_kernel {
  template <class A>
  WARPHEAP_FN void operator()(heap_ref<A> heap, void** blocks) const {
    heap.free(blocks[grid_thread_index()]);
  }
};

// A heap holds as many blocks of a size as it has multiples of the size, whatever came before.
TYPED_TEST(reg_eff, a_heap_holds_of_each_size_what_fits_side_by_side) {
  for_each_schedule(
      [](std::uint64_t) {
        constexpr std::uint64_t bytes_of_heap = 1 << 14;
        heap<TypeParam> of{bytes_of_heap};
        const device_array<void*> blocks(1024);
        for (const std::uint64_t bytes : {32, 1, 33, 64, 160, 500, 4096, 5000, 16384, 40}) {
          launch({8, 128}, take_kernel{}, of.ref(), std::uint64_t{16}, bytes, blocks.data());
          std::uint64_t count = 0;
          for (void* const block : blocks.to_host()) count += block != nullptr ? 1 : 0;
          const std::uint64_t units = divide_up(bytes, granule);
          EXPECT_EQ(count, bytes_of_heap / granule / units) << bytes << " bytes";
          EXPECT_EQ(of.statistics().live_bytes, count * units * granule);
          launch({8, 128}, free_kernel{}, of.ref(), blocks.data());
          EXPECT_EQ(of.statistics().live_bytes, 0u);
        }
      },
      1);
}

TYPED_TEST(reg_eff, blocks_are_aligned_to_powers_of_two) {
  for (std::uint64_t alignment = 16; alignment <= std::uint64_t{1} << 17; alignment *= 2) {
    for (const std::uint64_t bytes : {1, 100, 512, 3000, 70'000}) {
      heap<TypeParam> of{std::uint64_t{1} << 20};
      const device_array<void*> blocks(3);
      launch({1, 3}, take_kernel{}, of.ref(), alignment, bytes, blocks.data());
      std::set<void*> different;
      for (void* const block : blocks.to_host()) {
        ASSERT_NE(block, nullptr) << bytes << " bytes aligned to " << alignment;
        ASSERT_EQ(reinterpret_cast<std::uint64_t>(block) % alignment, 0u) << bytes << " bytes";
        different.insert(block);
      }
      EXPECT_EQ(different.size(), 3u);
    }
  }
}

struct initialise_kernel {
  template <class A>
  WARPHEAP_FN void operator()(A allocator) const {
    allocator.initialise();
  }
};

struct locate_kernel {
  template <class A>
  WARPHEAP_FN void operator()(A allocator, std::byte* data, std::uint64_t bytes) const {
    auto* const small = static_cast<std::byte*>(allocator.malloc(40));
    auto* const large = static_cast<std::byte*>(allocator.malloc(30 * granule));
    using enum block_location;
    require(allocator.usable_size(small) == 2 * granule && allocator.usable_size(large) == 30 * granule, "sizes");
    require(allocator.locate(small) == block && allocator.locate(large) == block, "the first byte");
    require(allocator.locate(small + 1) == inside && allocator.locate(small + 63) == inside, "another byte");
    require(allocator.locate(large + granule) == inside && allocator.locate(large + 30 * granule - 1) == inside,
            "bytes of other granules");
    require(allocator.locate(data + bytes) == outside && allocator.locate(data - 1) == outside, "other memory");
    allocator.free(small);
    allocator.free(large);
    for (std::uint64_t at = 0; at < bytes; at += 8) require(allocator.locate(data + at) == free, "what is free");
  }
};

TYPED_TEST(reg_eff, locates_blocks) {
  constexpr std::uint64_t bytes = 128 * granule;
  const device_array<std::byte> data(bytes + 4096), metadata(TypeParam::metadata_bytes(bytes) + 256);
  const auto aligned = [](std::byte* at, std::uint64_t to) {
    return reinterpret_cast<std::byte*>(align_up(reinterpret_cast<std::uint64_t>(at), to));
  };
  const arena place{aligned(data.data(), 4096), bytes, bytes, aligned(metadata.data(), 256)};
  launch({1, 1}, initialise_kernel{}, TypeParam{place});
  launch({1, 1}, locate_kernel{}, TypeParam{place}, place.data, bytes);
}

struct take_one_kernel {
  template <class A>
  WARPHEAP_FN void operator()(heap_ref<A> heap, std::uint64_t bytes, void** block) const {
    *block = heap.malloc(bytes);
    require(*block != nullptr, "room");
  }
};

struct free_one_kernel {
  template <class A>
  WARPHEAP_FN void operator()(heap_ref<A> heap, void** block) const {
    heap.free(*block);
  }
};

// What the figures say of a heap with nothing in it: one chunk for each of the pre-split. The largest is a root, or
// what is left of a part after its tree.
void expect_pre_split(const reg_eff_statistics& now, const reg_eff_pre_split& split) {
  std::uint64_t chunks = 0;
  std::uint64_t largest = 0;
  for (std::uint32_t part = 0; part < split.parts(); ++part) {
    for (std::uint32_t i = 0; i < split.chunks_in_part(); ++i) {
      const auto [begin, end] = split.chunk_of(part, i);
      chunks += begin != end ? 1 : 0;
      largest = std::max<std::uint64_t>(largest, end - begin);
    }
  }
  EXPECT_EQ(now.free_chunks, chunks);
  EXPECT_EQ(now.chunks(), chunks);
  EXPECT_EQ(now.largest_free_granules, largest);
  EXPECT_EQ(now.free_granules, now.granules);
  EXPECT_EQ(now.blocks, 0u);
  EXPECT_EQ(now.block_granules, 0u);
}

TYPED_TEST(reg_eff, figures_say_what_is_taken_and_what_is_free) {
  const std::uint32_t cursors = std::string{TypeParam::name}.ends_with("m") ? 128 : 1;
  for (const std::uint32_t units : {11u, 1000u, 5000u}) {
    heap<TypeParam> of{units * granule, {.plain = true}};
    const reg_eff_statistics empty = of.allocator_statistics();
    EXPECT_EQ(empty.granule_bytes, granule);
    EXPECT_EQ(empty.granules, of.size() / granule);
    EXPECT_EQ(empty.cursors, cursors);
    expect_pre_split(empty, reg_eff_pre_split{static_cast<std::uint32_t>(empty.granules), cursors});

    // All of it as one block, and then what is left of one chunk.
    const device_array<void*> blocks(2);
    launch({1, 1}, take_one_kernel{}, of.ref(), of.size(), blocks.data());
    const reg_eff_statistics whole = of.allocator_statistics();
    EXPECT_EQ(whole.blocks, 1u);
    EXPECT_EQ(whole.block_granules, whole.granules);
    EXPECT_EQ(whole.free_chunks, 0u);
    EXPECT_EQ(whole.free_granules, 0u);
    EXPECT_EQ(whole.largest_free_granules, 0u);
    launch({1, 1}, free_one_kernel{}, of.ref(), blocks.data());
    EXPECT_EQ(of.allocator_statistics().free_chunks, 1u);
    EXPECT_EQ(of.allocator_statistics().largest_free_granules, whole.granules);

    launch({1, 1}, take_one_kernel{}, of.ref(), 3 * granule - 31, blocks.data());
    launch({1, 1}, take_one_kernel{}, of.ref(), std::uint64_t{1}, blocks.data() + 1);
    const reg_eff_statistics two = of.allocator_statistics();
    EXPECT_EQ(two.blocks, 2u);
    EXPECT_EQ(two.block_granules, 4u);
    EXPECT_EQ(two.live_bytes(), 4 * granule);
    EXPECT_EQ(two.live_bytes(), of.statistics().live_bytes);
    EXPECT_EQ(two.free_granules, two.granules - 4);
    launch({1, 1}, free_one_kernel{}, of.ref(), blocks.data());
    const reg_eff_statistics split = of.allocator_statistics();
    EXPECT_EQ(split.blocks, 1u);
    EXPECT_EQ(split.free_chunks, 2u);
    EXPECT_EQ(split.free_granules, split.granules - 1);
    EXPECT_EQ(split.largest_free_granules, split.granules - 4);
    of.reset();
    expect_pre_split(of.allocator_statistics(), reg_eff_pre_split{static_cast<std::uint32_t>(empty.granules), cursors});
  }
}

// Threads take and free at once; afterwards the figures are exact, and in a larger heap they count what was added.
TYPED_TEST(reg_eff, figures_add_up_after_many_threads) {
  for_each_schedule(
      [](std::uint64_t) {
        heap<TypeParam> of{1 << 15, {.reserve_bytes = 1 << 16}};
        const device_array<void*> blocks(256);
        for (const std::uint64_t bytes : {40, 300}) {
          launch({2, 128}, take_kernel{}, of.ref(), std::uint64_t{16}, bytes, blocks.data());
          std::uint64_t count = 0;
          for (void* const block : blocks.to_host()) count += block != nullptr ? 1 : 0;
          const reg_eff_statistics now = of.allocator_statistics();
          EXPECT_EQ(now.blocks, count);
          EXPECT_EQ(now.block_granules, count * divide_up(bytes, granule));
          EXPECT_EQ(now.live_bytes(), of.statistics().live_bytes);
          EXPECT_EQ(now.block_granules + now.free_granules, now.granules);
          launch({2, 128}, free_kernel{}, of.ref(), blocks.data());
          EXPECT_EQ(of.allocator_statistics().free_granules, now.granules);
        }
        if (!device_can_map()) return;
        of.grow(1 << 16);
        EXPECT_EQ(of.allocator_statistics().granules, of.size() / granule);
        EXPECT_EQ(of.allocator_statistics().free_granules, of.size() / granule);
      },
      1);
}

// The cursors of an empty heap: one for each part, all of them where a chunk begins.
struct cursors_kernel {
  template <class A>
  WARPHEAP_FN void operator()(A allocator, std::uint32_t parts, std::uint32_t count) const {
    const auto ring = allocator.ring();
    const auto cursors = ring.cursors();
    require(cursors.count() == count, "cursors");
    for (std::uint32_t i = 0; i < count; ++i) {
      require((ring.look(cursors[i]) & ring_word::free) != 0, "a cursor is not where a chunk begins");
      if (i != 0 && i < parts) require(cursors[i] > cursors[i - 1], "two cursors begin together");
    }
  }
};

TYPED_TEST(reg_eff, cursors_begin_in_different_parts) {
  for (const std::uint64_t units : {100u, 5000u, 20000u, 400000u}) {
    const std::uint64_t bytes = units * granule;
    const device_array<std::byte> metadata(TypeParam::metadata_bytes(bytes) + 256);
    const arena place{nullptr, bytes, bytes,
                      reinterpret_cast<std::byte*>(align_up(reinterpret_cast<std::uint64_t>(metadata.data()), 256))};
    const std::uint32_t count = std::string{TypeParam::name}.ends_with("m") ? 128 : 1;
    launch({1, 64}, initialise_kernel{}, TypeParam{place});
    launch({1, 1}, cursors_kernel{}, TypeParam{place},
           reg_eff_pre_split{static_cast<std::uint32_t>(units), count}.parts(), count);
  }
}

}  // namespace
}  // namespace warpheap::test::reg_eff_test
