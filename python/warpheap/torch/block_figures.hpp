// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

namespace warpheap_torch {

/** How much there is now, at most was since the last `reset_peak`, and ever came and went. */
struct running_sum {
  std::uint64_t now = 0;
  std::uint64_t peak = 0;
  std::uint64_t in = 0;
  std::uint64_t out = 0;

  void add(std::uint64_t more) {
    now += more;
    in += more;
    peak = std::max(peak, now);
  }
  void take(std::uint64_t less) {
    now -= less;
    out += less;
  }
  void reset_peak() { peak = now; }
};

/** Figures of PyTorch's blocks.
 *
 * Invariant: the sums are of live blocks alone. A block that is held for a checkpoint was taken from them when it was
 * freed, and what others have of the pool was never added, so a peak is never below what it is a peak of. */
struct block_figures {
  running_sum requested;  ///< bytes that were asked for
  running_sum bytes;      ///< sizes of the blocks
  running_sum blocks;
  std::uint64_t held_blocks = 0;
  std::uint64_t held_bytes = 0;

  void add(std::uint64_t asked, std::uint64_t size) {
    requested.add(asked);
    bytes.add(size);
    blocks.add(1);
  }
  void take(std::uint64_t asked, std::uint64_t size) {
    requested.take(asked);
    bytes.take(size);
    blocks.take(1);
  }
  void hold(std::uint64_t size) {
    ++held_blocks;
    held_bytes += size;
  }
  void let_go(std::uint64_t size) {
    --held_blocks;
    held_bytes -= size;
  }
  void reset_peaks() {
    for (running_sum* each : {&requested, &bytes, &blocks}) {
      each->reset_peak();
    }
  }
};

}  // namespace warpheap_torch
