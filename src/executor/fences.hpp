// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Fences, told to ThreadSanitizer, which follows the orders of atomic operations and knows no fences.
///
/// In the C++ memory model a fence orders nothing by itself. It orders through the atomic accesses beside it: what
/// comes before a release fence happens before what follows an acquire fence, if a write after the first was read
/// before the second. `fence_notes` states that, and no more, for one lane.

#include <cstddef>
#include <cstdint>
#include <warpheap/platform/executor.hpp>

#include "executor/notes.hpp"

namespace warpheap::executor {

/// The fences of one lane, or of one thread that runs no lane. Does nothing where ThreadSanitizer is off.
///
/// Invariant: `strand_` has acquired `clock_` and nothing else, so that its view of time is the lane's at its last
/// release fence. By a release from that strand a word gets this time, and not what the lane did since.
class fence_notes {
 public:
  /// The record belongs to another lane from here on, which has passed no fence.
  void begin_lane() {
    fenced_ = false;
    reads_ = 0;
    for (seen_word& each : seen_) each = {};
  }
  /// The lane passes a release fence.
  void release();
  /// The lane is about to write the atomic word at `word`, with an order that releases or with one that does not.
  void write(void* word, bool releases);
  /// The lane has read the atomic word at `word` with an order that is no acquire.
  void read(void* word);
  /// The lane passes an acquire fence.
  void acquire();
  /// Gives back what ThreadSanitizer keeps for the record. The record is then as new.
  void forget();

 private:
  // A word as the lane read it: `version` counts what was published through it. Words share counts; it costs time only.
  struct seen_word {
    void* word = nullptr;
    std::uint32_t version = 0;
  };
  // A fence is known to follow this many reads of different words, or of words that were published through meanwhile.
  static constexpr std::size_t most_reads = notes::thread_sanitizer ? 256 : 1;
  static constexpr std::size_t most_seen = notes::thread_sanitizer ? 128 : 1;

  void publish(void* word);

  bool fenced_ = false;
  void* clock_ = nullptr;
  void* strand_ = nullptr;
  std::uint64_t reads_ = 0;
  void* read_[most_reads] = {};     // since the last acquire fence
  seen_word seen_[most_seen] = {};  // reads that `read_` has or had, so that a word that stays is acquired once
};

}  // namespace warpheap::executor
