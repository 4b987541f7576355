// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>
#include <warpheap/platform.hpp>
#include <warpheap/platform/exploration.hpp>

namespace warpheap::test {

using word = std::uint32_t;

inline word read(word& object) { return atomic_view{object}.load(memory_order::seq_cst, thread_scope::device); }
inline void write(word& object, word value) {
  atomic_view{object}.store(value, memory_order::seq_cst, thread_scope::device);
}
inline word add(word& object, word value) {
  return atomic_view{object}.fetch_add(value, memory_order::seq_cst, thread_scope::device);
}
inline bool swap_if(word& object, word expected, word desired) {
  return atomic_view{object}.compare_exchange(expected, desired, memory_order::seq_cst, thread_scope::device);
}
inline void await(word& object, word value) {
  backoff wait;
  while (read(object) != value) wait.pause();
}

/// A scenario of words: lanes of one-thread blocks that run `Kernel{}(words, lane)`; `Look` says what is wrong with the
/// words.
template <class Kernel, class Look>
struct words_scenario {
  grid_shape shape;
  Kernel kernel;
  Look look;
  std::vector<word> words = std::vector<word>(16);

  struct entry {
    Kernel kernel;
    word* words;
    void operator()() const { kernel(words, static_cast<unsigned>(grid_thread_index())); }
  };
  void run() { launch(shape, entry{kernel, words.data()}); }
  std::string check() { return look(words); }
};

/// Explores `kernel(words, lane)` with `lanes` lanes.
template <class Kernel, class Look>
exploration explore_words(unsigned lanes, Kernel kernel, Look look, exploration_options options = {}) {
  return explore(options, [&] { return words_scenario<Kernel, Look>{grid_shape{lanes, 1}, kernel, look}; });
}

/// Explores `kernel` on `lanes` lanes of one warp; `look` judges each final state.
template <class Kernel, class Look>
exploration explore_warp(unsigned lanes, Kernel kernel, Look look, exploration_options options = {}) {
  return explore(options, [&] { return words_scenario<Kernel, Look>{grid_shape{1, lanes}, kernel, look}; });
}

/// Prints what an exploration came to, and fails the test unless it was complete and found nothing.
inline void expect_clean(const exploration& result) {
  EXPECT_EQ(result.failure, "");
  EXPECT_TRUE(result.complete) << result.executions << " executions, " << result.cut << " cut";
  testing::Test::RecordProperty("executions", static_cast<int>(result.executions));
}

}  // namespace warpheap::test
