// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <support/random.hpp>
#include <utility>
#include <vector>

#include "common.hpp"

namespace warpheap::bench {

/// Time against the number of live blocks, of 1 to 10 bytes: as many more, up to a thousand, and those taken back.
template <class Subject>
void measure_live(const char* name, const settings& with) {
  Subject subject(with.bytes);
  test::random_stream random(1, 0);
  std::vector<void*> held;
  const std::uint64_t most = with.quick ? 10'000 : Subject::is_slow ? 100'000 : 10'000'000;
  for (std::uint64_t live = 1; live <= most; live *= 10) {
    while (held.size() < live) {
      void* const block = subject.allocate(1 + random.below(10), 0);
      if (block == nullptr) return;
      held.push_back(block);
    }
    timings allocate;
    timings deallocate;
    timings scattered;
    constexpr std::uint64_t batch = 1000;
    std::vector<void*> more(batch);
    for (repetitions left(with, 1, 8); left.another();) {
      auto start = clock::now();
      for (void*& block : more) block = subject.allocate(1 + random.below(10), 0);
      const double allocated = nanoseconds_since(start);
      start = clock::now();
      for (void* const block : more) subject.deallocate(block, 0);
      const double deallocated = nanoseconds_since(start);
      // Blocks from anywhere, chosen before, one taken back and one handed out in its place.
      const std::uint64_t several = std::min(batch, live);
      for (std::uint64_t k = 0; k < several; ++k) {
        std::swap(held[held.size() - 1 - k], held[random.below(held.size() - k)]);
      }
      start = clock::now();
      for (std::uint64_t k = 0; k < several; ++k) {
        void*& block = held[held.size() - 1 - k];
        subject.deallocate(block, 0);
        block = subject.allocate(1 + random.below(10), 0);
      }
      const double replaced = nanoseconds_since(start);
      if (!left.counts()) continue;
      allocate.add(allocated / batch);
      deallocate.add(deallocated / batch);
      scattered.add(replaced / static_cast<double>(several));
    }
    json_object record = begin_record("live", name);
    record.add("live", live);
    if (const std::uint64_t bytes = subject.host_bytes(); bytes != 0)
      record.add("host_bytes", bytes);  // where it is known
    allocate.write(record, "allocate");
    deallocate.write(record, "deallocate");
    scattered.write(record, "replace_any");
    print(record);
  }
  for (void* const block : held) subject.deallocate(block, 0);
}

}  // namespace warpheap::bench
