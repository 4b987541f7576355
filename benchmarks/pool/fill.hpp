// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <support/random.hpp>
#include <utility>
#include <vector>

#include "common.hpp"

namespace warpheap::bench {

/// The first experiment of the paper as it was: blocks of random sizes from 1 B to 1 GiB, each
/// power of two as likely as another, until one is refused. Then all are taken back. Calls are
/// timed one by one and gathered by power of two. What two readings of the clock take is part of
/// each time, and is reported beside.
template <class Subject>
void measure_fill(const char* name, const settings& with) {
  constexpr std::uint64_t classes = 31;
  struct block {
    void* begin;
    std::uint64_t kind;
  };
  std::vector<timings> allocate(classes);
  std::vector<timings> deallocate(classes);
  timings reading;
  Subject subject(with.bytes);
  test::random_stream random(3, 0);
  std::vector<block> held;
  const int rounds = with.quick ? 1 : 20;
  for (repetitions left(with); left.another();) {
    for (int round = 0; round < rounds; ++round) {
      auto start = clock::now();
      reading.add(nanoseconds_since(start));
      std::uint64_t taken = 0;
      while (true) {
        const std::uint64_t kind = random.below(classes);
        const std::uint64_t least = std::uint64_t{1} << kind;
        const std::uint64_t size = kind + 1 == classes ? least : least + random.below(least);
        if (taken + size > with.bytes) break;  // for those that would go on in the rest of the machine's memory
        start = clock::now();
        void* const begin = subject.allocate(size, 0);
        const double allocated = nanoseconds_since(start);
        if (begin == nullptr) break;
        allocate[kind].add(allocated);
        taken += size;
        held.push_back({begin, kind});
      }
      for (std::size_t k = held.size(); k > 1; --k) std::swap(held[k - 1], held[random.below(k)]);
      for (const block& each : held) {
        start = clock::now();
        subject.deallocate(each.begin, 0);
        deallocate[each.kind].add(nanoseconds_since(start));
      }
      held.clear();
    }
  }
  for (std::uint64_t kind = 0; kind < classes; ++kind) {
    json_object record = begin_record("fill", name);
    record.add("size", std::uint64_t{1} << kind);
    allocate[kind].write(record, "allocate");
    deallocate[kind].write(record, "deallocate");
    timings clock_reading = reading;
    clock_reading.write(record, "clock");
    print(record);
  }
}

}  // namespace warpheap::bench
