// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <warpheap/platform.hpp>

#include "free_order.hpp"
#include "requests.hpp"

namespace warpheap::bench {

/// The requests of all rounds of a run, as kernels know them: those of round r have the numbers from r * `count`.
struct request_stream {
  std::uint64_t count;  ///< requests of a round
  std::uint64_t size;   ///< bytes; the upper bound in mode `mixed`
  std::uint64_t seed;   ///< what random sizes are drawn from
  request_mode mode;

  static request_stream of(const run_options& run) {
    return {run.threads, run.size, run.seed, request_mode_of(run.mode)};
  }
  /// The requests of round `number`.
  WARPHEAP_FN requests round(std::uint64_t number) const { return {count, size, mix(seed ^ mix(number)), mode}; }
  /// Bytes of the request that has the number `request` among those of all rounds.
  WARPHEAP_FN std::uint64_t bytes(std::uint64_t request) const {
    return mode == request_mode::mixed ? round(request / count).bytes(request % count) : size;
  }
};

/// How many blocks a heap of `heap_bytes` bytes may come to hand out: a guess, to make room for their addresses.
inline std::uint64_t likely_blocks(const request_stream& asked, std::uint64_t heap_bytes) {
  const std::uint64_t mean = asked.mode == request_mode::mixed ? asked.size / 2 + 2 : asked.size;
  return heap_bytes / align_up(mean, 16) + 1;
}

/// How many of `asked`, from the first on, ask for no more than `left` bytes in all, which is lowered by what they ask.
inline std::uint64_t requests_within(const requests& asked, std::uint64_t& left) {
  std::uint64_t number = 0;
  while (number < asked.count && asked.bytes(number) <= left) left -= asked.bytes(number++);
  return number;
}

/// Where the requests of a round put their blocks: places are numbered from 0 and filled without
/// gaps. In each of the first `exchanges` pairs of requests the second one takes the place of a
/// block that was given back before. All other requests get new places, after those in use.
struct placement {
  std::uint64_t used;       ///< places in use before the round
  std::uint64_t exchanges;  ///< at most half of the requests and not more than `used`
  freed_block chosen;       ///< which places those are: random ones, no place twice

  WARPHEAP_FN bool gives_back(std::uint64_t request) const { return request % 2 != 0 && request / 2 < exchanges; }
  WARPHEAP_FN std::uint64_t place(std::uint64_t request) const {
    const std::uint64_t exchanging_below = request / 2 < exchanges ? request / 2 : exchanges;
    return gives_back(request) ? chosen(request / 2) : used + request - exchanging_below;
  }
};

}  // namespace warpheap::bench
