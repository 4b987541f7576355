// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <barrier>
#include <cstdint>
#include <numeric>
#include <thread>
#include <utility>
#include <vector>

#include "churn.hpp"

namespace warpheap::bench {

/// The churn by several threads at once, in the stream pool each on a stream of its own. Measures
/// pairs of calls a second: the sum of what each thread did in the same time.
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
      const double nanoseconds = with.quick ? 1e6 : 1e8;
      std::vector<double> rate(threads);
      std::barrier start_together(threads);
      std::vector<std::thread> workers;
      for (int id = 0; id < threads; ++id) {
        workers.emplace_back([&, id] {
          churn own = std::move(states[id]);  // threads' states lie side by side, and shall share no cache line
          std::vector<std::uint64_t> sizes(churn::batch);
          std::uint64_t pairs = 0;
          double passed = 0;
          start_together.arrive_and_wait();
          const auto start = clock::now();
          while (passed < nanoseconds) {
            own.choose(sizes);
            own.take_back(subject, id);
            own.hand_out(subject, id, sizes);
            pairs += churn::batch;
            passed = nanoseconds_since(start);
          }
          rate[id] = static_cast<double>(pairs) / passed * 1e9;
          states[id] = std::move(own);
        });
      }
      for (std::thread& worker : workers) worker.join();
      rates.push_back(std::accumulate(rate.begin(), rate.end(), 0.0));
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
