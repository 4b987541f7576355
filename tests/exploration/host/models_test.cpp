// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The faults that an exploration has to find, each planted in a small model of the structure that could have it.
// Without the fault the model is clean. docs/design/exploration.md tells which scenario finds it in the structure
// itself.

#include <gtest/gtest.h>

#include <cstdint>
#include <exploration/host/litmus.hpp>
#include <string>
#include <vector>
#include <warpheap/platform.hpp>
#include <warpheap/platform/exploration.hpp>

namespace warpheap::test::models_test {
namespace {

using words_t = std::vector<word>;

// `Model{planted}` runs as a kernel, and `Model::look` judges. It is clean without the fault and caught with it.
template <class Model>
void expect_caught(unsigned lanes, const std::string& message) {
  const exploration right = explore_words(lanes, Model{false}, Model::look);
  expect_clean(right);
  const exploration wrong = explore_words(lanes, Model{true}, Model::look);
  EXPECT_NE(wrong.failure.find(message), std::string::npos) << "the fault was not found: " << wrong.failure;
  exploration_options replay;
  replay.replay = wrong.schedule;
  const exploration again = explore_words(lanes, Model{true}, Model::look, replay);
  EXPECT_NE(again.failure.find(message), std::string::npos) << "the schedule does not replay";
}

// A stack of nodes 1 and 2, whose top counts its changes, or does not. Words 1 and 2 are the nodes' links, word 0 the
// top.
struct counted_stack {
  bool planted;
  static constexpr word count_unit = 16;

  word replaced(word seen, word node) const { return (planted ? 0 : seen / count_unit + 1) * count_unit + node; }
  word pop(word* w) const {
    for (;;) {
      const word seen = read(w[0]);
      const word node = seen % count_unit;
      if (node == 0) return 0;
      if (swap_if(w[0], seen, replaced(seen, read(w[node])))) return node;
    }
  }
  void push(word* w, word node) const {
    for (;;) {
      const word seen = read(w[0]);
      write(w[node], seen % count_unit);
      if (swap_if(w[0], seen, replaced(seen, node))) return;
    }
  }
  void operator()(word* w, unsigned lane) const {
    if (lane == 0) {
      w[8] = pop(w);
      return;
    }
    const word first = pop(w);
    w[9] = pop(w);
    if (first != 0) push(w, first);
  }
  static std::string look(const words_t& w) {
    words_t seen(3);
    word node = w[0] % count_unit;
    for (int i = 0; node != 0 && i < 3; ++i, node = w[node]) ++seen[node];
    for (const word popped : {w[8], w[9]}) seen[popped] += popped != 0 ? 1 : 0;
    return seen[1] == 1 && seen[2] == 1 ? "" : "a node was lost, or is there twice";
  }
};
TEST(explored_model, a_stack_without_a_count_is_caught) {
  struct primed : counted_stack {
    void operator()(word* w, unsigned lane) const {
      // Node 2 on node 1 at first: lane 0 comes when they are there.
      if (lane == 1) {
        write(w[2], 1);
        write(w[0], 2);
        write(w[10], 1);
      } else {
        await(w[10], 1);
      }
      counted_stack::operator()(w, lane);
    }
  };
  expect_caught<primed>(2, "a node was lost");
}

// Word 0 holds free blocks and, in `listed`, whether the list leads to it; word 1 is the list; words 2 and 3 count
// changes begun and ended. A lane that put a block back must find it.
struct listed_word {
  bool planted;
  static constexpr word listed = 16;

  void put_back(word* w, word block) const {
    const word old = atomic_view{w[0]}.fetch_or(block, memory_order::seq_cst, thread_scope::device);
    if ((old & listed) != 0 || (planted && old != 0)) return;
    add(w[2], 1);
    atomic_view{w[0]}.fetch_or(listed, memory_order::seq_cst, thread_scope::device);
    write(w[1], 1);
    add(w[3], 1);
  }
  static bool find(word* w) {
    for (backoff wait;; wait.pause()) {
      const word ended = read(w[3]);
      const word begun = read(w[2]);
      if (read(w[1]) != 0 && (read(w[0]) & 3) != 0) return true;
      if (begun == ended && read(w[2]) == begun) return false;
    }
  }
  void operator()(word* w, unsigned lane) const {
    put_back(w, 1u << lane);
    if (lane == 1) require(find(w), "a block was put back and is not found");
  }
  static std::string look(const words_t& w) { return w[1] == 1 ? "" : "the list does not lead to the block"; }
};
TEST(explored_model, a_word_that_is_listed_only_if_it_was_empty_is_caught) {
  expect_caught<listed_word>(2, "a block was put back and is not found");
}

// Word 0 holds a free block; a lane takes the whole word for a moment. Another one that sees it empty takes it off the
// list, word 1, unless it looks whether the word is being taken.
struct taken_word {
  bool planted;
  static constexpr word of_class = 8;
  static constexpr word whole = of_class | 1;

  void operator()(word* w, unsigned lane) const {
    if (lane == 0) {
      write(w[0], whole);
      write(w[1], 1);
      if (swap_if(w[0], whole, 0)) write(w[0], whole);
    } else if (read(w[1]) == 1 && (read(w[0]) & 1) == 0) {
      write(w[1], 0);
      const word seen = add(w[0], 0);
      if ((seen & 1) != 0 || (!planted && seen == 0)) write(w[1], 1);
    }
  }
  static std::string look(const words_t& w) { return w[1] == 1 ? "" : "the list does not lead to the block"; }
};
TEST(explored_model, hiding_a_word_that_is_being_taken_is_caught) {
  expect_caught<taken_word>(2, "the list does not lead to the block");
}

// One block moves between words 0 and 1 by changes that are counted. A search of both that met nothing is repeated if a
// change began meanwhile.
struct moving_block {
  bool planted;

  static void move(word* w, word from, word to) {
    add(w[2], 1);
    write(w[from], 0);
    write(w[to], 1);
    add(w[3], 1);
  }
  bool find(word* w) const {
    for (backoff wait;; wait.pause()) {
      const word ended = read(w[3]);
      const word begun = read(w[2]);
      if (read(w[0]) != 0 || read(w[1]) != 0) return true;
      if (begun == ended && (planted || read(w[2]) == begun)) return false;
    }
  }
  void operator()(word* w, unsigned lane) const {
    if (lane == 0) {
      write(w[1], 1);
      write(w[4], 1);
      move(w, 1, 0);
      move(w, 0, 1);
    } else {
      await(w[4], 1);
      require(find(w), "a search missed a block");
    }
  }
  static std::string look(const words_t&) { return ""; }
};
TEST(explored_model, a_search_that_ignores_begun_changes_is_caught) {
  expect_caught<moving_block>(2, "a search missed a block");
}

// Word 0 counts the units of a bin and its pins. Two lanes give a unit each, and then look at the bin once more, word
// 1. A lane that sees both units and no pin takes the bin away, and writes to it.
struct pinned_bin {
  bool planted;
  static constexpr word pin = 16;

  void operator()(word* w, unsigned lane) const {
    if (lane < 2) {
      add(w[0], planted ? 1 : 1 + pin);
      require(read(w[1]) == 0, "a bin was taken from who gave to it");
      if (!planted) add(w[0], 0u - pin);
    } else if (swap_if(w[0], 2, 0)) {
      write(w[1], 1);
    }
  }
  static std::string look(const words_t&) { return ""; }
};
TEST(explored_model, a_bin_without_pins_is_caught) {
  expect_caught<pinned_bin>(3, "a bin was taken from who gave to it");
}

}  // namespace
}  // namespace warpheap::test::models_test
