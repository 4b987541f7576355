// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

#include "churn.hpp"

namespace warpheap::bench {

/// The churn by several threads at once, in the stream pool each on a stream of its own: pairs of calls a second.
template <class Subject>
void measure_streams(const char* name, const settings& with) {
  // Each holds about a gigabyte, and needs room beside it.
  const auto room =
      static_cast<int>(std::min<std::uint64_t>(32, with.bytes / (churn::live * (std::uint64_t{1} << 19))));
  const int processors = static_cast<int>(std::thread::hardware_concurrency());
  const int most = with.quick ? 2 : std::max(1, std::min(room, processors));
  for (int threads = 1; threads <= most; threads *= 2) {
    std::vector<double> rates;
    for (repetitions left(with, 0, 6); left.another();) {
      Subject subject(with.bytes, threads);
      std::vector<churn> states;
      for (int id = 0; id < threads; ++id) states.emplace_back(static_cast<std::uint64_t>(id) + 1);
      for (int id = 0; id < threads; ++id) states[id].fill(subject, id);
      const int rounds = with.quick ? 4 : Subject::is_slow ? 100 : 1000;
      std::vector<std::thread> workers;
      const auto start = clock::now();
      for (int id = 0; id < threads; ++id) {
        workers.emplace_back([&, id] {
          std::vector<std::uint64_t> sizes(churn::batch);
          for (int round = 0; round < rounds; ++round) {
            states[id].choose(sizes);
            states[id].take_back(subject, id);
            states[id].hand_out(subject, id, sizes);
          }
        });
      }
      for (std::thread& worker : workers) worker.join();
      const double seconds = nanoseconds_since(start) / 1e9;
      rates.push_back(static_cast<double>(threads) * rounds * churn::batch / seconds);
      for (int id = 0; id < threads; ++id) states[id].empty(subject, id);
    }
    std::sort(rates.begin(), rates.end());
    json_object record = begin_record("streams", name);
    record.add("threads", threads)
        .add("pairs_per_second", rates[rates.size() / 2])
        .add("pairs_per_second_least", rates.front())
        .add("pairs_per_second_greatest", rates.back());
    print(record);
  }
}

}  // namespace warpheap::bench
