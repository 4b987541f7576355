// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The gate of occupants, the sets of slabs and the source of pages under every schedule of two lanes, or of three with
// few switches.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <exploration/host/litmus.hpp>
#include <exploration/host/snapshot.hpp>
#include <string>
#include <warpheap/platform.hpp>
#include <warpheap/platform/exploration.hpp>
#include <warpheap/structures.hpp>

namespace warpheap::test::occupancy_exploration_test {
namespace {

// words[0] is the gate. words[1] counts occupants as the test sees them, and holds 100 while a lane holds the gate.
// words[2] is what the gate guards: an occupant makes it 1, a holder 0.
constexpr word holds = 100;

void hold(word* words) {
  require(add(words[1], holds) == 0, "closed with an occupant or another holder inside");
  write(words[2], 0);
  require(add(words[1], word{0} - holds) == holds, "entered a closed gate");
  occupancy_gate{words[0]}.reopen();
}

// Lane 2 closes the gate from outside. The others enter, each with `count` of a limit of two, and leave.
struct enter_leave_close {
  std::uint32_t count;
  void operator()(word* words, unsigned lane) const {
    const occupancy_gate gate{words[0]};
    if (lane == 2) {
      if (gate.try_close()) hold(words);
      return;
    }
    std::uint32_t before = 0;
    if (!gate.try_enter(count, 2, before)) {
      require(before != 0, "refused by an empty gate");
      return;
    }
    require(add(words[1], count) + count <= 2, "a crowd, or a holder inside");
    write(words[2], 1);
    add(words[1], word{0} - count);
    if (gate.leave(count)) hold(words);
  }
};

TEST(explored_occupancy_gate, enter_against_leave_against_close) {
  const auto look = [](const std::vector<word>& words) -> std::string {
    if (words[0] != 0 || words[1] != 0) return "an occupant is left, or the gate is closed";
    return words[2] == 0 ? "" : "the last occupant did not close the gate";
  };
  for (const std::uint32_t count : {1u, 2u}) {
    expect_clean(explore_words(2, enter_leave_close{count}, look));
    const exploration three = explore_words(3, enter_leave_close{count}, look, few_switches(3));
    print(three);
    expect_all_clean(three);
  }
}

// Each lane enters as a heavy occupant and stays as two light ones of a limit of three; who finds no room leaves.
struct visit_and_settle {
  static constexpr std::uint32_t heavy = 8;
  void operator()(word* words, unsigned) const {
    const occupancy_gate gate{words[0]};
    std::uint32_t before = 0;
    if (!gate.try_enter(heavy, 100, before)) return;
    write(words[2], 1);
    const std::uint32_t in = gate.settle(heavy, 2, 3);
    require(add(words[1], in) + in <= 3, "a crowd, or a holder inside");
    add(words[1], word{0} - in);
    if (gate.leave(in != 0 ? in : heavy)) hold(words);
  }
};

TEST(explored_occupancy_gate, a_visit_becomes_a_stay) {
  const auto look = [](const std::vector<word>& words) -> std::string {
    if (words[0] != 0 || words[1] != 0) return "an occupant is left, or the gate is closed";
    return words[2] == 0 ? "" : "the last occupant did not close the gate";
  };
  expect_clean(explore_words(2, visit_and_settle{}, look));
  const exploration three = explore_words(3, visit_and_settle{}, look, few_switches(2));
  print(three);
  expect_all_clean(three);
}

class sets_memory {
 public:
  static constexpr std::uint32_t sets = 3;
  static constexpr std::uint32_t slabs = 64;
  sets_memory() : memory_(words_at + 16 * sizeof(std::uint32_t)) {}
  slab_sets view() const { return {memory_.data(), sets, slabs}; }
  std::uint32_t& word_of(std::uint32_t slab) const {
    return reinterpret_cast<std::uint32_t*>(memory_.data() + words_at)[slab];
  }
  /// Puts slab 0 into the set that its word tells.
  void set_up() {
    in_one_lane([this] { view().put(0, where()); });
    memory_.freeze();
  }
  /// A slab's word is the number of its set.
  struct by_word {
    const sets_memory* of;
    std::uint32_t operator()(std::uint32_t slab) const {
      return atomic_view{of->word_of(slab)}.load(memory_order::relaxed, thread_scope::device);
    }
  };
  by_word where() const { return {this}; }
  const snapshot& memory() const { return memory_; }
  std::string misplaced() const {
    for (std::uint32_t set = 0; set <= sets; ++set) {
      if (view().contains(0, set) != (word_of(0) == set)) return "the slab is not where its word tells";
    }
    return "";
  }

 private:
  static constexpr std::size_t words_at = align_up(slab_sets::bytes(sets, slabs), 128);
  snapshot memory_;
};

// Each lane moves the slab on by `step`, modulo the number of sets and the rest, whatever it was in.
struct two_moves {
  const sets_memory* memory;
  std::uint32_t step[3];
  void operator()(std::uint64_t*, unsigned lane) const {
    using enum memory_order;
    using enum thread_scope;
    const atomic_view word{memory->word_of(0)};
    std::uint32_t from = word.load(relaxed, device);
    while (!word.compare_exchange(from, (from + step[lane]) % (sets_memory::sets + 1), relaxed, device)) {
    }
    memory->view().moved(0, from, memory->where());
  }
};

TEST(explored_slab_sets, moves_in_any_order_end_where_the_word_tells) {
  sets_memory memory;
  memory.set_up();
  const auto look = [&](const results&) { return memory.misplaced(); };
  for (const std::uint32_t second : {1u, 2u, 3u}) {
    expect_all_clean(explore_snapshot(memory.memory(), 2, two_moves{&memory, {1, second, 0}}, look, few_switches(3)));
  }
  expect_all_clean(explore_snapshot(memory.memory(), 3, two_moves{&memory, {1, 1, 3}}, look, few_switches(2)));
}

// Lane 0 picks the slab and puts it back; lane 1 changes its word and moves it.
struct pick_against_move {
  const sets_memory* memory;
  std::uint32_t step;
  void operator()(std::uint64_t* out, unsigned lane) const {
    if (lane == 1) {
      two_moves{memory, {0, step, 0}}(out, lane);
      return;
    }
    const auto got = memory->view().pick(lane_bit(), set_order::of(0, 1), 0);
    out[0] = got.slab + 1;  // 0: none
    if (got.slab != slab_sets::none) memory->view().put(got.slab, memory->where());
  }
};

TEST(explored_slab_sets, a_picked_slab_follows_its_word) {
  sets_memory memory;
  memory.set_up();
  for (const std::uint32_t step : {1u, 3u}) {
    const auto look = [&](const results&) { return memory.misplaced(); };
    expect_all_clean(explore_snapshot(memory.memory(), 2, pick_against_move{&memory, step}, look, few_switches(3)));
  }
}

// Lane 0 searches sets 0 and 1 for the slab, which lane 1 moves from the one to the other. If it finds nothing it knows
// that it can have missed the slab.
struct search_against_move {
  const sets_memory* memory;
  void operator()(std::uint64_t* out, unsigned lane) const {
    if (lane == 1) {
      two_moves{memory, {0, 1, 0}}(out, lane);
      return;
    }
    const auto before = memory->view().begin_snapshot();
    if (memory->view().pick(lane_bit(), set_order::of(1, 0), 0).slab == slab_sets::none) {
      require(!memory->view().was_quiescent(before), "a search missed a slab and calls itself quiescent");
    }
  }
};

TEST(explored_slab_sets, a_search_knows_that_a_slab_moved) {
  sets_memory memory;
  memory.set_up();
  expect_all_clean(explore_snapshot(
      memory.memory(), 2, search_against_move{&memory}, [](const results&) { return std::string{}; }, few_switches(3)));
}

class pages_memory {
 public:
  pages_memory() : memory_(words_at + 64) {}
  page_source source() const {
    return {reinterpret_cast<page_source::state*>(memory_.data()),
            reinterpret_cast<page_source::span*>(memory_.data() + span_at)};
  }
  word& returned() const { return *reinterpret_cast<word*>(memory_.data() + words_at); }
  /// A source of two pages, of which page 0 and maybe page 1 are taken.
  void set_up(std::uint32_t taken) {
    in_one_lane([this, taken] {
      source().add(0, 2);
      for (std::uint32_t i = 0; i < taken; ++i) require(source().take(0) == i, "the lowest page");
    });
    memory_.freeze();
  }
  const snapshot& memory() const { return memory_; }

 private:
  static constexpr std::size_t span_at = align_up(sizeof(page_source::state), 128);
  static constexpr std::size_t words_at = span_at + sizeof(page_source::span);
  snapshot memory_;
};

// Lane 1 gives page 0 back. Lane 0 takes a block and reads the epoch before. If it is refused, the give had not
// returned at that moment, and once it has, the epoch is another one, and a block is there.
struct take_against_give {
  const pages_memory* memory;
  std::uint32_t order;
  void operator()(std::uint64_t* out, unsigned lane) const {
    const page_source source = memory->source();
    if (lane == 1) {
      source.give(0);
      write(memory->returned(), 1);
      return;
    }
    const bool had_returned = read(memory->returned()) != 0;
    const std::uint64_t epoch = source.epoch();
    std::uint32_t page = source.take(order);
    if (page == page_source::none) {
      require(!had_returned, "refused with a block there");
      await(memory->returned(), 1);
      require(source.epoch() != epoch, "a refused thread would never try again");
      page = source.take(order);
      require(page != page_source::none, "the block that came back is not found");
    }
    require(source.order_of(page) == order, "its order is not known");
    out[0] = page + 1;
  }
};

TEST(explored_page_source, take_against_give_with_the_epoch) {
  struct plan {
    std::uint32_t taken, order;
  };
  for (const plan each : {plan{2, 0}, plan{1, 1}}) {
    pages_memory memory;
    memory.set_up(each.taken);
    const auto look = [](const results& out) -> std::string {
      return out[0] == 1 ? "" : "another page than the one that came back";
    };
    expect_all_clean(
        explore_snapshot(memory.memory(), 2, take_against_give{&memory, each.order}, look, few_switches(3)));
  }
}

}  // namespace
}  // namespace warpheap::test::occupancy_exploration_test
