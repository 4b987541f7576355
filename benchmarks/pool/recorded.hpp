// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <barrier>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common.hpp"
#include "recorded_subjects.hpp"
#include "recording.hpp"

namespace warpheap::bench {

/// Replays of one recording on one subject: its time, what it reserves, and what fails within a budget.
template <class Subject>
class recorded_case {
 public:
  recorded_case(const char* name, const settings& with, const recording& calls)
      : name_(name), with_(with), calls_(calls) {}

  void measure() {
    json_object record = begin();
    time(record, 1);
    record.add("peak_live_bytes", calls_.peak_live_bytes());
    add_reserved(record);
    add_budget(record);
    print(record);
    if (with_.quick) return;
    if (calls_.peak_live_bytes() * threads > with_.bytes) {
      std::fprintf(stderr, "%d replays at once need more than --bytes; they are left out\n", threads);
      return;
    }
    json_object together = begin();
    time(together, threads);
    print(together);
  }

 private:
  static constexpr int threads = 8;
  static constexpr int most_streams = 64;

  json_object begin() const {
    json_object record = begin_record("recording", name_);
    record.add("log", with_.log).add("calls", calls_.calls().size()).add("streams", calls_.streams());
    return record;
  }
  int streams(int replays) const { return std::min(most_streams, replays * calls_.streams()); }

  /// Carries out all calls on the streams of replay `id`; returns how many requests were refused. Blocks of these are
  /// not taken back. What the recording leaves stays in `held`.
  std::uint64_t replay(Subject& subject, std::vector<void*>& held, int id, int count, bool looks) const {
    std::uint64_t refused = 0;
    const int first = id * calls_.streams();
    for (const recorded_call& call : calls_.calls()) {
      const int stream = (first + call.stream) % count;
      void*& block = held[call.block];
      if (!call.takes_back) {
        block = subject.allocate(call.bytes, stream);
        refused += block == nullptr;
        if (looks) subject.look();
      } else if (block != nullptr) {
        subject.deallocate(std::exchange(block, nullptr), stream);
      }
    }
    return refused;
  }
  void take_back(Subject& subject, std::vector<void*>& held) const {
    for (void*& block : held) {
      if (block != nullptr) subject.deallocate(std::exchange(block, nullptr), 0);
    }
  }

  // The subject lives through all repetitions, as a program's pool does: the first, which is not timed, takes the
  // memory from the device.
  void time(json_object& record, int replays) const {
    const int count = streams(replays);
    Subject subject(with_.bytes, count);
    timings each;
    for (repetitions left(with_, 1, 2); left.another();) {
      std::vector<std::vector<void*>> held(replays, std::vector<void*>(calls_.blocks()));
      std::vector<std::uint64_t> refused(replays);
      std::vector<clock::time_point> starts(replays);
      std::vector<clock::time_point> ends(replays);
      std::barrier together(replays);
      const auto work = [&](int id) {
        together.arrive_and_wait();
        starts[id] = clock::now();
        refused[id] = replay(subject, held[id], id, count, false);
        ends[id] = clock::now();
      };
      std::vector<std::thread> workers;
      for (int id = 1; id < replays; ++id) workers.emplace_back(work, id);
      work(0);
      for (std::thread& worker : workers) worker.join();
      for (std::vector<void*>& blocks : held) take_back(subject, blocks);
      for (const std::uint64_t number : refused) {
        if (number != 0) throw std::runtime_error("the recording does not fit; give it more memory with --bytes");
      }
      if (!left.counts()) continue;
      const auto begin = *std::min_element(starts.begin(), starts.end());
      const auto end = *std::max_element(ends.begin(), ends.end());
      const double spent = std::chrono::duration<double, std::nano>(end - begin).count();
      each.add(spent / static_cast<double>(calls_.calls().size()) / replays);
    }
    record.add("threads", replays);
    each.write(record, "call");
  }

  void add_reserved(json_object& record) const {
    Subject subject(with_.bytes, streams(1));
    std::vector<void*> held(calls_.blocks());
    const std::uint64_t refused = replay(subject, held, 0, streams(1), true);
    const std::optional<std::uint64_t> peak = subject.reserved_peak();
    take_back(subject, held);
    if (refused != 0) throw std::runtime_error("the recording does not fit; give it more memory with --bytes");
    record.add("peak_reserved_bytes", peak);
  }

  void add_budget(json_object& record) const {
    const std::uint64_t budget = calls_.peak_live_bytes() + calls_.peak_live_bytes() / 10;
    record.add("budget_bytes", budget);
    if (!Subject::has_budget || budget == 0) {
      record.add_null("budget_failures");
      return;
    }
    Subject subject(budget, streams(1));
    std::vector<void*> held(calls_.blocks());
    record.add("budget_failures", replay(subject, held, 0, streams(1), false));
    take_back(subject, held);
  }

  const char* name_;
  const settings& with_;
  const recording& calls_;
};

/// Replays the recording that `with.log` names.
template <class Subject>
void measure_recording(const char* name, const settings& with) {
  const recording calls(with.log);
  recorded_case<Subject>(name, with, calls).measure();
}

}  // namespace warpheap::bench
