// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Fences, told to ThreadSanitizer, which follows the orders of atomic operations and knows no fences.
///
/// In the C++ memory model a fence orders nothing by itself. It orders through the atomic accesses beside it: what
/// comes before a release fence happens before what follows an acquire fence, if a write after the first was read
/// before the second. `fence_notes` states that for one lane.
///
/// Words of ThreadSanitizer: a *strand* is what it takes for a thread (`__tsan_create_fiber`); its *time* is its vector
/// clock; an address whose *clock* a strand releases gets the strand's time, and a strand that acquires it, too.
///
/// Where the notes order more than the language does, a race can hide: lanes that share a `fence_strand` publish each
/// other's fences; an acquire fence takes the time that a word has at the fence, not at the read; a compare and
/// exchange publishes though it fails; and a word has the time just before it has the value. Where a lane reads more
/// than `most_reads` words between two acquire fences, the oldest are forgotten, and a
/// correct program can be reported.

#include <cstddef>
#include <cstdint>
#include <warpheap/platform/executor.hpp>

#include "executor/notes.hpp"
#include "executor/quiet.hpp"

namespace warpheap::executor {

/// A strand whose time is that of its lanes at their last release fences: it acquires nothing else. A word that it
/// releases gets these times, and not what the lanes did since.
///
/// Each strand makes every other release and acquire of the process slower, so there are a few for all lanes. Lanes
/// that share one publish each other's times, too.
struct fence_strand {
  quiet_lock lock;  ///< ThreadSanitizer runs a strand in one thread at a time
  void* strand = nullptr;

  /// The strand acquires or releases `clock`. Called by a lane, which goes on in its own strand.
  void acquire(void* clock);
  void release(void* clock);
};

/// The fences of one lane, or of one thread that runs no lane. Does nothing where ThreadSanitizer is off.
///
/// Invariant: `strand_` has acquired `clock_`, which has the lane's time at its last release fence.
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
  /// The lane is about to write the atomic word at `word`, with an order that releases or with one that does not, or
  /// has written it.
  void begin_write(void* word, bool releases);
  void end_write(void* word, bool releases);
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

  bool fenced_ = false;
  void* clock_ = nullptr;
  fence_strand* strand_ = nullptr;
  std::uint64_t reads_ = 0;
  void* read_[most_reads] = {};     // since the last acquire fence
  seen_word seen_[most_seen] = {};  // reads that `read_` has or had, so that a word that stays is acquired once
};

}  // namespace warpheap::executor
