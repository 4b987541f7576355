// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Cases whose heap holds a graph find each fault of an allocator that shows in lists and blocks, and none in a sound
// one. Each broken allocator runs in a child process of its own, because it may break anything.

#include <gtest/gtest.h>

#include <algorithm>
#include <allocator/mutants.hpp>
#include <allocator/reference.hpp>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <support/child_process.hpp>
#include <support/schedules.hpp>
#include <vector>
#include <warpheap/allocator.hpp>
#include <warpheap/designs/bump/bump.hpp>
#include <warpheap/platform.hpp>

#include "case_outcome.hpp"
#include "cases/graph_init.hpp"
#include "cases/graph_update.hpp"
#include "measure/graph_lists.hpp"

namespace warpheap::bench::graph_cases_test {
namespace {

using namespace test_of_cases;

using sound = test::locked_list<>;

constexpr std::uint64_t vertices = 1000;

run_options options_of(const char* mode, std::uint64_t heap_bytes = std::uint64_t{1} << 20) {
  return small_run(mode, vertices, 400 * graph_update::edge_bytes, heap_bytes, 2);
}

// Blocks of more than 16 bytes are half as long as was asked for.
struct halved : sound {
  using sound::sound;
  static constexpr const char* name = "halved";
  WARPHEAP_FN void* malloc(std::uint64_t bytes) const { return sound::malloc(bytes > 16 ? bytes / 2 : bytes); }
};

// Blocks begin 8 bytes late.
struct late : sound {
  using sound::sound;
  static constexpr const char* name = "late";
  WARPHEAP_FN void* malloc(std::uint64_t bytes) const {
    auto* const block = static_cast<std::byte*>(sound::malloc(bytes + 8));
    return block == nullptr ? nullptr : block + 8;
  }
  WARPHEAP_FN void free(void* block) const {
    if (block != nullptr) sound::free(static_cast<std::byte*>(block) - 8);
  }
};

// A request for 64 bytes writes to the first word of a block that was handed out before.
struct scribbling : sound {
  explicit scribbling(const arena& from) : sound(from), kept_(reinterpret_cast<void**>(from.data + from.bytes) - 2) {}
  static constexpr const char* name = "scribbling";
  WARPHEAP_FN void* malloc(std::uint64_t bytes) const {
    void* const block = sound::malloc(bytes);
    if (bytes != 64 || block == nullptr) return block;
    shadow_unpoison(kept_, sizeof(*kept_));
    if (*kept_ != nullptr) *static_cast<vertex_id*>(*kept_) = ~vertex_id{0};
    *kept_ = block;
    return block;
  }

 private:
  void** kept_;
};

// A design that serves no request of more than 32 bytes, and says so.
struct small_blocks : sound {
  using sound::sound;
  static constexpr const char* name = "small_blocks";
  static constexpr allocator_capabilities capabilities{
      .individual_free = true, .reset = true, .uses_arena = true, .state_in_arena = true, .largest_bytes = 32};
};

using graph_cases = with_children;

#define EXPECT_CAUGHT(measured, allocator, options, words) \
  WARPHEAP_EXPECT_CAUGHT((run_and_exit<measured, allocator>(options)), words)

TEST_F(graph_cases, find_blocks_that_overlap) {
  EXPECT_CAUGHT(graph_init, halved, options_of("delaunay"), "overlap");
  EXPECT_CAUGHT(graph_update, halved, options_of("coauthors_uniform"), "overlap");
}

TEST_F(graph_cases, find_blocks_that_are_misaligned) {
  EXPECT_CAUGHT(graph_init, late, options_of("delaunay"), "is not aligned");
}

TEST_F(graph_cases, find_a_full_heap_that_grants) {
  EXPECT_CAUGHT(graph_init, test::mutants::never_null, options_of("delaunay", 20'000), "overlap");
}

TEST_F(graph_cases, find_blocks_that_are_lost) {
  EXPECT_CAUGHT(graph_init, test::mutants::leaking, options_of("delaunay"), "are live after all blocks were freed");
  EXPECT_CAUGHT(graph_update, test::mutants::leaking, options_of("delaunay_window", std::uint64_t{4} << 20),
                "are live after all blocks were freed");
}

TEST_F(graph_cases, find_lists_that_changed) {
  EXPECT_CAUGHT(graph_update, scribbling, options_of("coauthors_window"), "which are not those that it should have");
}

template <class Case, class A>
std::string record_of(const run_options& options, std::string& reason) {
  json_object record;
  reason = Case::template run<A>(options, record);
  return record.text();
}

bool says(const std::string& record, const std::string& text) { return record.find(text) != std::string::npos; }

template <class Case, class A = sound>
void expect_flawless(const char* mode, const char* measure) {
  std::string reason;
  const std::string record = record_of<Case, A>(options_of(mode), reason);
  EXPECT_EQ(reason, "");
  EXPECT_TRUE(says(record, R"("failures": 0, )") && says(record, R"("verified": true)")) << record;
  EXPECT_TRUE(says(record, std::string{"\""} + measure + R"(": {"median": )")) << record;
  EXPECT_TRUE(says(record, R"("graph": {"stand_in_of": )")) << record;
}

TEST(sound_allocator, is_flawless) {
  const auto under_schedule = [](std::uint64_t) {
    for (const case_mode& each : graph_init::modes) expect_flawless<graph_init>(each.name, "init");
    for (const case_mode& each : graph_update::modes) expect_flawless<graph_update>(each.name, "delete");
  };
  test::for_each_schedule(under_schedule, 1);
}

TEST(design_without_free, makes_lists_and_is_told_from_a_fault) {
  expect_flawless<graph_init, bump>("delaunay", "range");
  std::string reason;
  EXPECT_TRUE(says(record_of<graph_update, bump>(options_of("delaunay_uniform"), reason), R"("failures": 0, )"));
  EXPECT_EQ(reason, lacks_individual_free);
}

TEST(design_of_small_blocks, is_told_from_a_fault) {
  std::string reason;
  EXPECT_TRUE(says(record_of<graph_init, small_blocks>(options_of("coauthors"), reason), R"("failures": 0, )"));
  EXPECT_EQ(reason.find("the design serves requests of up to 32 bytes"), 0u) << reason;
  record_of<graph_update, small_blocks>(options_of("delaunay_uniform"), reason);
  EXPECT_EQ(reason.find("the design serves requests of up to 32 bytes"), 0u) << reason;
}

TEST(wrong_options, are_refused) {
  run_options options = options_of("delaunay");
  options.threads = 999;
  std::string reason;
  record_of<graph_init, sound>(options, reason);
  EXPECT_TRUE(says(reason, "use 1000 to")) << reason;
  options = options_of("delaunay_uniform");
  options.size = 7;
  record_of<graph_update, sound>(options, reason);
  EXPECT_TRUE(says(reason, "use a size of 8 to")) << reason;
}

// The lists that were made, and those that were not, are as the kernels say: a fault would have other words.
TEST(full_heap, is_counted_and_has_no_measures) {
  std::string reason;
  std::string record = record_of<graph_init, sound>(options_of("coauthors", 20'000), reason);
  EXPECT_TRUE(says(reason, "of 1000 vertices in round 1 got null")) << reason;
  EXPECT_TRUE(says(record, R"("verified": true)") && says(record, R"("measures": {})")) << record;
  EXPECT_FALSE(says(record, R"("failures": 0, )")) << record;

  // Room for the lists of the graph, and for few of those that grow, as most do.
  const stand_in_graph graph("delaunay", vertices, 1);
  std::uint64_t heap_bytes = graph.list_bytes();
  do {
    heap_bytes += 4096;
    run_options options = options_of("delaunay_uniform", heap_bytes);
    options.size = 4000 * graph_update::edge_bytes;
    record = record_of<graph_update, sound>(options, reason);
  } while (says(reason, "vertices in round 1"));
  EXPECT_TRUE(says(reason, "lists that grew in round 1 got null")) << reason;
  EXPECT_TRUE(says(record, R"("verified": true)") && says(record, R"("measures": {})")) << record;
}

TEST(list_size, is_a_power_of_two_that_holds_the_list) {
  for (std::uint64_t degree = 0; degree < 5000; ++degree) {
    std::uint64_t wanted = 16;
    while (wanted < 4 * degree) wanted *= 2;
    ASSERT_EQ(list_bytes(degree), wanted) << degree;
  }
  EXPECT_EQ(list_bytes(0xffff'ffff), std::uint64_t{1} << 34);
}

TEST(stand_ins, have_the_degrees_of_their_originals) {
  const stand_in_graph even("delaunay", vertices, 1), skewed("coauthors", vertices, 1);
  EXPECT_EQ(even.vertices(), vertices);
  EXPECT_NEAR(static_cast<double>(even.edges()) / vertices, 6, 0.1);
  EXPECT_LT(even.largest_degree(), 20u);
  EXPECT_EQ(skewed.vertices(), vertices);
  EXPECT_NEAR(static_cast<double>(skewed.edges()) / vertices, 7, 0.4);
  EXPECT_GT(skewed.largest_degree(), 50u);
}

TEST(batches, have_new_edges_of_their_sources_only) {
  const stand_in_graph graph("delaunay", vertices, 1);
  for (const batch_sources sources : {batch_sources::uniform, batch_sources::window}) {
    edge_batches batches(graph, 400, sources, 7);
    std::set<std::vector<vertex_id>> drawn;
    for (std::uint64_t round = 0; round < 12; ++round) {
      batches.draw(round);
      const std::vector<std::uint64_t> offsets = batches.offsets();
      const std::vector<vertex_id> targets = batches.neighbours();
      EXPECT_GT(targets.size(), 380u);
      drawn.insert(targets);
      vertex_id lowest = vertices, highest = 0;
      for (vertex_id v = 0; v < vertices; ++v) {
        const std::vector<vertex_id> present = graph.neighbours(v);
        for (std::uint64_t i = offsets[v]; i < offsets[v + 1]; ++i) {
          EXPECT_NE(targets[i], v);
          EXPECT_FALSE(std::binary_search(present.begin(), present.end(), targets[i]));
          EXPECT_TRUE(i == offsets[v] || targets[i - 1] < targets[i]);
          lowest = std::min(lowest, v);
          highest = std::max(highest, v);
        }
      }
      if (sources == batch_sources::window) {
        const std::uint64_t first = round * edge_batches::window % (vertices - edge_batches::window + 1);
        EXPECT_GE(lowest, first);
        EXPECT_LT(highest, first + edge_batches::window);
      } else {
        EXPECT_GT(highest - lowest, vertices / 2);
      }
    }
    EXPECT_EQ(drawn.size(), 12u);
  }
}

}  // namespace
}  // namespace warpheap::bench::graph_cases_test
