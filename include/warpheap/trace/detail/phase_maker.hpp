// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <queue>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>
#include <warpheap/trace/detail/trace_log.hpp>
#include <warpheap/trace/trace.hpp>

namespace warpheap::detail {

// Makes phases of events: addresses become places, and a free that would have to wait for another thread goes to a
// phase of its own.
//
// The places depend on what each thread did alone, not on how threads took turns nor on addresses: threads are gone
// through in order, and each takes the lowest place that is empty since an earlier phase, or one that it emptied
// itself. So a program whose threads do the same in each run gives the same trace in each run, on any heap.
class phase_maker {
 public:
  // The events since the last call, in the log's order.
  void add(const std::vector<trace_event>& events) {
    for (const trace_event& each : events) {
      if (each.what == trace_event::kind::reset) {
        make_phase();
        free_all();
      } else {
        note(each);
      }
    }
    make_phase();
  }

  std::uint64_t refused() const { return refused_; }

  trace take() {
    trace done = std::exchange(made_, {});
    *this = {};
    return done;
  }

 private:
  struct block {
    std::uint64_t bytes;
    std::uint32_t thread;  // that took it
    bool of_this_phase;
    std::uint32_t place;
  };
  struct step {
    std::uint32_t thread;
    std::uint64_t block;  // its number in blocks_
    bool is_free;
  };

  void note(const trace_event& event) {
    if (event.what == trace_event::kind::free) {
      const auto found = live_.find(event.block);
      if (found == live_.end()) fail("freed a block that is not live", event);
      steps_.push_back({event.thread, found->second, true});
      live_.erase(found);
      return;
    }
    if (event.block == 0) {
      ++refused_;
      return;
    }
    if (event.bytes > trace_operation::most_bytes) fail("took more than a trace can say", event);
    if (!live_.try_emplace(event.block, blocks_.size()).second) fail("got a block that is live already", event);
    steps_.push_back({event.thread, blocks_.size(), false});
    blocks_.push_back({event.bytes, event.thread, true, 0});
  }

  void make_phase() {
    if (steps_.empty()) return;
    const auto in_order = [](const step& a, const step& b) { return a.thread < b.thread; };
    std::stable_sort(steps_.begin(), steps_.end(), in_order);
    const auto is_foreign = [&](const step& each) {
      const block& of = blocks_[each.block];
      return each.is_free && of.of_this_phase && of.thread != each.thread;
    };
    std::vector<step> later;
    std::copy_if(steps_.begin(), steps_.end(), std::back_inserter(later), is_foreign);
    std::erase_if(steps_, is_foreign);
    emit(std::exchange(steps_, {}));
    if (!later.empty()) emit(later);
    forget_freed();
  }

  // A phase of steps that are in the threads' order.
  void emit(const std::vector<step>& steps) {
    trace_phase& phase = made_.phases.emplace_back();
    std::vector<std::uint32_t> own;      // places that this thread emptied in this phase
    std::vector<std::uint32_t> emptied;  // those of the threads before it
    std::uint32_t thread = steps.front().thread;
    for (const step& each : steps) {
      if (each.thread != thread) {
        emptied.insert(emptied.end(), own.begin(), own.end());
        own.clear();
        thread = each.thread;
      }
      block& of = blocks_[each.block];
      if (each.is_free) {
        phase.add(thread, {of.place, trace_operation::free_mark});
        own.push_back(of.place);
      } else {
        of.place = empty_place(own);
        phase.add(thread, {of.place, static_cast<std::uint32_t>(of.bytes)});
      }
    }
    for (const std::uint32_t place : own) empty_.push(place);
    for (const std::uint32_t place : emptied) empty_.push(place);
  }

  std::uint32_t empty_place(std::vector<std::uint32_t>& own) {
    if (!own.empty()) {
      const std::uint32_t place = own.back();
      own.pop_back();
      return place;
    }
    if (empty_.empty()) return places_++;
    const std::uint32_t place = empty_.top();
    empty_.pop();
    return place;
  }

  // A reset is as if the thread that took each block freed it in a kernel of its own.
  void free_all() {
    for (const auto& [address, number] : live_) steps_.push_back({blocks_[number].thread, number, true});
    live_.clear();
    std::sort(steps_.begin(), steps_.end(), [&](const step& a, const step& b) {
      return std::pair{a.thread, blocks_[a.block].place} < std::pair{b.thread, blocks_[b.block].place};
    });
    make_phase();
  }

  // Numbers anew those blocks that live on, so that the record does not grow with the run.
  void forget_freed() {
    std::vector<block> kept;
    kept.reserve(live_.size());
    for (auto& [address, number] : live_) {
      kept.push_back(blocks_[number]);
      kept.back().of_this_phase = false;
      number = kept.size() - 1;
    }
    blocks_ = std::move(kept);
  }

  [[noreturn]] static void fail(const char* what, const trace_event& event) {
    throw trace_error("recorder: thread " + std::to_string(event.thread) + " " + what + " (" +
                      std::to_string(event.bytes) + " bytes)");
  }

  trace made_;
  std::uint64_t refused_ = 0;
  std::vector<step> steps_;  // of the phase in hand
  std::vector<block> blocks_;
  std::unordered_map<std::uint64_t, std::uint64_t> live_;  // address of each live block, and its number
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> empty_;
  std::uint32_t places_ = 0;
};

}  // namespace warpheap::detail
