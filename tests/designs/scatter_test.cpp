// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// What is special to scatter and flatter_scatter: chunk sizes, proofs of exhaustion, pages whose size ends with the
// last chunk, blocks of pages that get them back, what a pointer means, and other constants than the usual ones.

#include <gtest/gtest.h>

#include <allocator/conformance/churn.hpp>
#include <allocator/conformance/returns.hpp>
#include <cstdint>
#include <string>
#include <support/scale.hpp>
#include <vector>
#include <warpheap/designs/scatter/scatter.hpp>

namespace warpheap::test::scatter_test {
namespace {

using detail::scatter_chunk_size;

TEST(scatter, chunk_sizes_waste_no_chunk) {
  for (const std::uint32_t page : {256u, 8192u}) {
    for (std::uint32_t bytes = 1; bytes <= 8 * page; ++bytes) {
      const scatter_chunk_size size = scatter_chunk_size::fit(bytes, 16, page);
      const std::uint32_t least = (bytes + 15) / 16;
      ASSERT_GE(size.bytes(), bytes);
      ASSERT_EQ(size.capacity(page), page / least) << "as many chunks as of the least size, with " << bytes << " B";
      ASSERT_LT(page / (size.units + 1), page / least) << "a larger size has as many chunks, with " << bytes << " B";
      ASSERT_TRUE(size.serves({least}, 16, 2) || size.units > 2 * least);
    }
  }
  EXPECT_EQ(scatter_chunk_size::fit(3, 64, 256).bytes(), 64u);
  EXPECT_EQ(scatter_chunk_size::fit(100, 32, 256).bytes(), 128u);
  EXPECT_TRUE((scatter_chunk_size{8}.serves({4}, 64, 2)));
  EXPECT_FALSE((scatter_chunk_size{6}.serves({4}, 64, 2))) << "chunks of 96 bytes are not aligned to 64";
  EXPECT_FALSE((scatter_chunk_size{9}.serves({4}, 16, 2))) << "more than twice as large";
  EXPECT_FALSE((scatter_chunk_size{3}.serves({4}, 16, 2))) << "too small";
}

using detail::scatter_quiescence;

/// What a search may conclude from the counts of changes and frees.
struct watch_changes {
  WARPHEAP_FN void operator()(scatter_quiescence::state* state, std::uint64_t* out) const {
    const scatter_quiescence of{*state};
    auto& stripes = state->changes.stripes();
    const detail::scatter_snapshot first = of.begin_search();
    out[0] = of.was_quiescent(first);
    stripes[1].begin();
    out[1] = of.was_quiescent(first);  // begun since
    const detail::scatter_snapshot within = of.begin_search();
    out[2] = of.was_quiescent(within);  // under way at the begin
    stripes[5].end();                   // by a thread of another multiprocessor
    out[3] = of.was_quiescent(within);  // ended since: it was under way all the same
    detail::scatter_snapshot later = of.begin_search();
    out[4] = of.was_quiescent(later);
    of.begin_change();
    of.end_change();
    out[5] = of.was_quiescent(later);  // begun and ended since
    later = of.begin_search();
    stripes[7].freed += 1;
    out[6] = of.was_quiescent(later);
    later = of.begin_search();
    later.unsettled = true;
    out[7] = of.was_quiescent(later);
  }
};
TEST(scatter_quiescence, only_a_search_that_nothing_slipped_by_is_proof) {
  const device_array<scatter_quiescence::state> state(1);
  const device_array<std::uint64_t> out(8);
  launch({1, 1}, watch_changes{}, state.data(), out.data());
  const std::vector<std::uint64_t> expected{1, 0, 0, 0, 1, 0, 0, 0};
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(out.at(i), expected[i]) << i;
}

/// How often a search in vain is repeated, up to 100 times, while `event` happens during each; then whether a refusal
/// was noted.
struct repeat_searches {
  enum class event { none, unsettled, change, free };

  WARPHEAP_FN void operator()(scatter_quiescence::state* state, event what, std::uint32_t number,
                              std::uint64_t* out) const {
    const scatter_quiescence of{*state};
    scatter_quiescence::retry_limits more;
    for (bool again = true; again && out[0] < 100;) {
      detail::scatter_snapshot before = of.begin_search();
      before.unsettled = what == event::unsettled;
      if (what == event::change) {
        of.begin_change();
        of.end_change();
      }
      if (what == event::free) of.note_free();
      again = of.shall_retry(number, before, more);
      if (again) ++out[0];
    }
    out[1] = of.is_refused(number, of.freed());
    out[2] = of.is_refused(number + 1, of.freed());
    of.note_free();
    out[3] = of.is_refused(number, of.freed());
  }
};
TEST(scatter_quiescence, a_search_without_proof_is_repeated_a_limited_number_of_times) {
  using event = repeat_searches::event;
  const auto run = [](event what, std::uint32_t number) {
    const device_array<scatter_quiescence::state> state(1);
    const device_array<std::uint64_t> out(4);
    launch({1, 1}, repeat_searches{}, state.data(), what, number, out.data());
    return out.to_host();
  };
  using counts = std::vector<std::uint64_t>;
  EXPECT_EQ(run(event::none, 7), (counts{0, 1, 0, 0})) << "proof, which is noted until something is freed";
  EXPECT_EQ(run(event::none, scatter_quiescence::unnoted), (counts{0, 0, 0, 0})) << "proof that is not noted";
  EXPECT_EQ(run(event::unsettled, 7), (counts{100, 0, 0, 0})) << "memory that is about to move";
  EXPECT_EQ(run(event::change, 7), (counts{64, 0, 0, 0})) << "memory moved";
  EXPECT_EQ(run(event::free, 7), (counts{4, 0, 0, 0})) << "memory was freed";
}

template <class A>
class scatter_family : public ::testing::Test {};
using designs = ::testing::Types<scatter, flatter_scatter>;
TYPED_TEST_SUITE(scatter_family, designs);

/// Takes blocks of `bytes` until it is refused; each is a thread's of its own.
struct fill_all_kernel {
  template <class A>
  WARPHEAP_FN void operator()(heap_ref<A> heap, std::uint64_t bytes, void** blocks, std::uint64_t* count) const {
    for (void* block = heap.malloc(bytes); block != nullptr; block = heap.malloc(bytes)) {
      blocks[atomic_view{*count}.fetch_add(1, memory_order::relaxed, thread_scope::device)] = block;
    }
  }
};
struct free_all_kernel {
  template <class A>
  WARPHEAP_FN void operator()(heap_ref<A> heap, void* const* blocks, std::uint64_t count) const {
    for (std::uint64_t i = grid_thread_index(); i < count; i += grid_threads()) heap.free(blocks[i]);
  }
};

constexpr std::uint64_t page = 4096;

/// Pages that had chunks of one size serve any other when these are gone, and all of them one block.
TYPED_TEST(scatter_family, a_page_s_size_ends_with_its_last_chunk) {
  const std::uint64_t bytes = this_backend == backend::host ? 64 * page : 1024 * page;
  const heap<TypeParam> of{bytes};
  const grid_shape grid = grid_shape::covering(scaled(128, 1 << 13), 64);
  const auto fill = [&](std::uint64_t size) {
    const device_array<void*> blocks(bytes / size + 1);
    const device_array<std::uint64_t> count(1);
    launch(grid, fill_all_kernel{}, of.ref(), size, blocks.data(), count.data());
    launch(grid, free_all_kernel{}, of.ref(), static_cast<void* const*>(blocks.data()), count.at(0));
    return count.at(0);
  };
  for (const std::uint64_t size : {16ul, 2048ul, 400ul, 4096ul, 64ul, 16384ul, 2000ul}) {
    const std::uint64_t upto = size <= page / 2 ? page / size : 1;
    // Pages cost nothing but what does not divide them.
    const std::uint64_t room = size <= page / 2 ? bytes / page * upto : bytes / size;
    const std::uint64_t got = fill(size);
    EXPECT_LE(got, bytes / size);
    EXPECT_GE(got, size <= page ? room : room / 2) << "blocks of " << size << " B";
  }
  EXPECT_GE(fill(bytes / 2), 1u) << "half of the heap in one block";
}

/// What pointers mean while there are chunks and blocks of pages, and after.
struct locate_kernel {
  template <class A>
  WARPHEAP_FN void operator()(heap_ref<A> heap, A self, std::uint64_t bytes) const {
    auto* const block = static_cast<std::byte*>(heap.malloc(bytes));
    require(block != nullptr, "refused");
    const std::uint64_t usable = heap.usable_size(block);
    require(usable >= bytes, "a block that is too small");
    require(self.locate(block) == block_location::block, "the begin of a block");
    require(self.locate(block + 1) == block_location::inside, "a byte of it");
    require(self.locate(block + usable - 1) == block_location::inside, "its last byte");
    heap.free(block);
    require(self.locate(block) == block_location::free && self.locate(block + usable - 1) == block_location::free,
            "a block that is no more");
    int local = 0;
    require(self.locate(&local) == block_location::outside && self.locate(nullptr) == block_location::outside,
            "no memory of the heap");
  }
};

struct initialise_kernel {
  template <class A>
  WARPHEAP_FN void operator()(A self) const {
    self.initialise();
  }
};

TYPED_TEST(scatter_family, knows_what_pointers_mean) {
  constexpr std::uint64_t bytes = 64 * page;
  const device_array<std::byte> data(bytes + page);
  const device_array<std::byte> metadata(TypeParam::metadata_bytes(bytes));
  auto* const begin = reinterpret_cast<std::byte*>(align_up(reinterpret_cast<std::uint64_t>(data.data()), page));
  const TypeParam self{arena{begin, bytes, bytes, metadata.data()}};
  launch({2, 64}, initialise_kernel{}, self);
  for (const std::uint64_t size : {16ul, 100ul, 2048ul, 3000ul, 4096ul, 20'000ul}) {
    launch({1, 1}, locate_kernel{}, heap_ref<TypeParam>{self}, self, size);
  }
}

/// Options that make all that is rare common: tiny access blocks, quick sweeps that give up at once, all or next to
/// nothing open at first.
template <class A>
void keeps_its_promises() {
  findings found;
  churn_when_full<A>(found);
  freed_memory_is_there_at_once<A>(found, 2);
  for (const std::string& text : found.texts()) ADD_FAILURE() << text;
}
constexpr scatter_options narrow{.access_block_pages = 2, .opened_part = 64, .quick_looks = 1, .quick_blocks = 1};
constexpr scatter_options wide{.waste_factor = 4, .opened_part = 1, .crowded = 1};

// A template, since nvcc cannot write template arguments that are values of a class, and need not write these.
template <bool is_wide>
struct with_constants {
  static constexpr scatter_options constants = is_wide ? wide : narrow;
  static void scatter_keeps_its_promises() { keeps_its_promises<basic_scatter<constants>>(); }
  static void flatter_scatter_keeps_its_promises() { keeps_its_promises<basic_flatter_scatter<constants>>(); }
};

TEST(scatter, serves_with_other_constants) {
  with_constants<false>::scatter_keeps_its_promises();
  with_constants<true>::scatter_keeps_its_promises();
}
TEST(flatter_scatter, serves_with_other_constants) {
  with_constants<false>::flatter_scatter_keeps_its_promises();
  with_constants<true>::flatter_scatter_keeps_its_promises();
}

}  // namespace
}  // namespace warpheap::test::scatter_test
