// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// random_walk under the schedules of two or three threads with few switches: a search that finds nothing while blocks
// move, or while a run of lines is taken and put back, knows that it may have missed something.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <exploration/host/snapshot.hpp>
#include <string>
#include <warpheap/designs/random_walk/random_walk.hpp>
#include <warpheap/platform.hpp>
#include <warpheap/platform/exploration.hpp>

namespace warpheap::test::random_walk_exploration_test {
namespace {

constexpr std::uint64_t line_bytes = line_word::line_bytes;
using allocator = basic_random_walk<1, 1>;  // few counters and random steps, so few steps of a search

/// A heap of a few lines, in which lane i holds the block `held(i)`.
class heap_memory {
 public:
  explicit heap_memory(std::uint64_t lines) : lines_(lines), memory_(metadata() + lines * line_bytes) {
    in_one_lane([self = self()] { self.initialise(); });
  }
  template <class Body>
  void set_up(Body body) {
    in_one_lane([self = self(), body] { body(self); });
    memory_.freeze();
  }
  allocator self() const {
    return allocator{arena{memory_.data() + metadata(), lines_ * line_bytes, lines_ * line_bytes, memory_.data()}};
  }
  std::uint64_t live_lines() const {
    allocator_counts counts{0};
    in_one_lane([self = self(), to = &counts] { self.count(*to); });
    return counts.live_bytes / line_bytes;
  }
  const snapshot& memory() const { return memory_; }

 private:
  std::uint64_t metadata() const { return align_up(allocator::metadata_bytes(lines_ * line_bytes), 4096); }
  std::uint64_t lines_;
  snapshot memory_;
};

// Each lane gives its block back and asks for another one of the size: it must get one, wherever the blocks move to.
struct free_and_take {
  allocator self;
  void* held[3];
  std::uint64_t bytes;
  void operator()(std::uint64_t* out, unsigned lane) const {
    self.free(held[lane]);
    out[lane] = self.malloc(bytes) != nullptr ? 1 : 0;
    require(out[lane] != 0, "refused with a block for each");
  }
};

TEST(explored_random_walk, blocks_that_move_are_not_missed) {
  for (const std::uint64_t lines : {1u, 2u}) {
    for (const int first : {0, 1}) {  // a lane's walk begins at its own block, or at the other one's
      heap_memory memory{2 * lines};
      free_and_take kernel{memory.self(), {}, lines * line_bytes};
      memory.set_up([to = &kernel, first](const allocator& self) {
        for (int i = 0; i < 2; ++i) to->held[i ^ first] = self.malloc(to->bytes);
      });
      expect_all_clean(explore_snapshot(
          memory.memory(), 2, kernel,
          [&](const results&) -> std::string { return memory.live_lines() == 2 * lines ? "" : "a line is lost"; },
          few_switches(3)));
    }
  }
}

// Lane 0 wants both lines of the heap, lane 1 one after the other. If lane 0 gets nothing it never had a line. So lane
// 1 is served twice, though it may see a line that lane 0 puts back.
struct run_against_lines {
  allocator self;
  void operator()(std::uint64_t* out, unsigned lane) const {
    for (unsigned round = 0; round <= lane; ++round) {
      if (self.malloc((2 - lane) * line_bytes) != nullptr) out[lane] += 2 - lane;
    }
  }
};

TEST(explored_random_walk, a_run_that_is_put_back_refuses_nobody) {
  heap_memory memory{2};
  memory.set_up([](const allocator&) {});
  expect_all_clean(explore_snapshot(
      memory.memory(), 2, run_against_lines{memory.self()},
      [&](const results& out) -> std::string {
        if (memory.live_lines() != out[0] + out[1]) return "a line is lost or made";
        return out[0] + out[1] == 2 ? "" : "refused because of a run that was not taken";
      },
      few_switches(3)));
}

// Lane 0 gives a run of two lines back while the others ask for one each, and look whether their block ends with its
// line. When all are done, what lane 0 gave serves.
struct return_against_take {
  allocator self;
  void* held;
  void operator()(std::uint64_t* out, unsigned lane) const {
    if (lane == 0) return self.free(held);
    void* const block = self.malloc(line_bytes);
    out[lane] = block != nullptr ? 1 : 0;
    require(block == nullptr || self.usable_size(block) == line_bytes, "a block that goes on in another one's line");
  }
};

TEST(explored_random_walk, a_run_that_comes_back_serves) {
  heap_memory memory{2};
  return_against_take kernel{memory.self(), nullptr};
  memory.set_up([to = &kernel](const allocator& self) { to->held = self.malloc(2 * line_bytes); });
  expect_all_clean(explore_snapshot(
      memory.memory(), 3, kernel,
      [&](const results& out) -> std::string {
        std::uint64_t taken = out[1] + out[2];
        if (memory.live_lines() != taken) return "a line is lost or made";
        for (; taken < 2; ++taken) {
          std::uint64_t served = 0;
          in_one_lane([self = memory.self(), to = &served] { *to = self.malloc(line_bytes) != nullptr ? 1 : 0; });
          if (served == 0) return "a note of a refusal outlives a return";
        }
        return "";
      },
      few_switches(2)));
}

}  // namespace
}  // namespace warpheap::test::random_walk_exploration_test
