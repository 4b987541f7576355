// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "common.hpp"

namespace warpheap::bench {

/// Time against size: blocks of one size, until `bytes` are full or there are 1,024 of them, then
/// taken back in the order they came. Each repetition goes through all sizes, so that a machine
/// that is slow for a while is so for all of them.
template <class Subject>
void measure_sizes(const char* name, const settings& with) {
  struct measured {
    std::uint64_t size;
    std::uint64_t served = 0;
    timings allocate = {};
    timings deallocate = {};
  };
  std::vector<measured> sizes;
  for (std::uint64_t size = 1; size <= std::uint64_t{1} << 30; size *= 2) sizes.push_back({.size = size});
  Subject subject(with.bytes);
  std::vector<void*> held(Subject::is_slow ? 128 : 1024);
  for (repetitions left(with, 1); left.another();) {
    for (measured& each : sizes) {
      const std::uint64_t upto =
          std::min<std::uint64_t>(held.size(), std::max<std::uint64_t>(with.bytes / each.size / 2, 1));
      // Few large blocks are handed out and taken back several times, so that the clock does not count.
      const std::uint64_t rounds = Subject::is_slow ? 1 : held.size() / upto;
      double out = 0;
      double back = 0;
      for (std::uint64_t round = 0; round < rounds; ++round) {
        std::uint64_t served = 0;
        auto start = clock::now();
        while (served < upto && (held[served] = subject.allocate(each.size, 0)) != nullptr) ++served;
        out += nanoseconds_since(start);
        start = clock::now();
        for (std::uint64_t k = 0; k < served; ++k) subject.deallocate(held[k], 0);
        back += nanoseconds_since(start);
        each.served = served;
      }
      if (!left.counts() || each.served == 0) continue;
      each.allocate.add(out / static_cast<double>(rounds * each.served));
      each.deallocate.add(back / static_cast<double>(rounds * each.served));
    }
  }
  for (measured& each : sizes) {
    json_object record = begin_record("sizes", name);
    record.add("size", each.size).add("blocks", each.served);
    each.allocate.write(record, "allocate");
    each.deallocate.write(record, "deallocate");
    print(record);
  }
}

}  // namespace warpheap::bench
