// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "throughput.hpp"

namespace warpheap::bench {

// One run of the case: the heap, and what was found so far.
template <device_allocator A>
class throughput::course {
 public:
  explicit course(const run_options& options)
      : options_(options), heap_(options.heap_bytes), blocks_(options.threads), damaged_(1) {}

  // Warm-ups, timed rounds, and a last round that is judged and not timed. A fault or a refusal ends it.
  std::string run() {
    const auto start = std::chrono::steady_clock::now();
    const auto out_of_time = [&] {
      const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
      return options_.soft_limit > 0 && spent.count() > options_.soft_limit;
    };
    const bool always = options_.verify == verify_policy::all;
    for (std::uint64_t i = 0; i < options_.warmup && flawless() && !(i > 0 && out_of_time()); ++i) {
      round({.timed = false, .judged = always || i == 0});
    }
    for (std::uint64_t i = 0; i < options_.iterations && flawless() && !(i > 0 && out_of_time()); ++i) {
      round({.timed = true, .judged = always});
    }
    if (flawless() && !always) round({.timed = false, .judged = true});
    if (!fault_.empty()) return fault_;
    if (failures_ != 0) return refusal();
    return "";
  }

  void report(json_object& record) const {
    const bool timed = flawless();
    record.add("failures", failures_)
        .add("requests", requests_)
        .add("verified", fault_.empty() && judged_ != 0)
        .add("rounds", rounds_)
        .add("rounds_judged", judged_)
        .add("malloc_us", timed ? malloc_times_.summary() : std::nullopt)
        .add("free_us", timed ? free_times_.summary() : std::nullopt)
        .add("memory", memory_);
  }

 private:
  struct round_kind {
    bool timed;
    bool judged;
  };

  bool flawless() const { return fault_.empty() && failures_ == 0; }

  void round(round_kind kind) {
    const requests asked = requests::of_round(options_, rounds_++);
    launch_timer timer;
    timer.start();
    launch(asked.grid(), malloc_kernel<A>{}, heap_.ref(), asked, blocks_.data());
    const double malloc_time = timer.stop();
    if (kind.timed) malloc_times_.add(malloc_time);

    const std::vector<void*> blocks = blocks_.to_host();
    const std::uint64_t null = count_null(blocks);
    requests_ += asked.count;
    failures_ += null;
    // A round with refusals is the last, so it is judged: what was granted must be sound all the same.
    if (kind.judged || null != 0) judge(asked, blocks);
    if (!fault_.empty()) return;

    if constexpr (A::capabilities.individual_free) {
      timer.start();
      launch(asked.grid(), free_kernel<A>{}, heap_.ref(), asked, static_cast<void* const*>(blocks_.data()));
      const double free_time = timer.stop();
      if (kind.timed) free_times_.add(free_time);
    } else if constexpr (A::capabilities.reset) {
      heap_.reset();
    } else {
      heap_ = heap<A>{options_.heap_bytes};
    }
  }

  void judge(const requests& asked, const std::vector<void*>& blocks) {
    static_assert(A::capabilities.alignment % 4 == 0, "throughput: payloads are written in words");
    ++judged_;
    const address_findings found = judge_addresses(asked, blocks, A::capabilities.alignment);
    const heap_statistics stats = heap_.stats();
    memory_ = json_object{}
                  .add("requested_bytes", found.requested_bytes)
                  .add("span_bytes", found.span_bytes)
                  .add("reserved_bytes", stats.reserved_bytes)
                  .add("committed_bytes", stats.committed_bytes)
                  .add("metadata_bytes", stats.metadata_bytes)
                  .add("live_bytes", stats.live_bytes);
    fault_ = found.fault;
    if (!fault_.empty()) return;
    damaged_.clear();
    launch(asked.grid(), fill_payload{}, asked, static_cast<void* const*>(blocks_.data()));
    launch(asked.grid(), check_payload{}, asked, static_cast<void* const*>(blocks_.data()), damaged_.data());
    synchronise();
    if (const std::uint64_t damaged = damaged_.at(0); damaged != 0) {
      fault_ = std::to_string(damaged) + " of " + std::to_string(found.granted) +
               " blocks lost what was written to them though no two overlap";
    }
  }

  std::string refusal() const {
    const requests asked = requests::of_round(options_, rounds_ - 1);
    std::uint64_t wanted = 0;
    for (std::uint64_t i = 0; i < asked.count; ++i) wanted += asked.bytes(i);
    return std::to_string(failures_) + " of " + std::to_string(asked.count) + " requests in round " +
           std::to_string(rounds_) + " got null: " + std::to_string(wanted) +
           " bytes were asked for in all, the heap has " + std::to_string(heap_.size());
  }

  const run_options& options_;
  heap<A> heap_;
  device_array<void*> blocks_;
  device_array<std::uint64_t> damaged_;
  samples malloc_times_;
  samples free_times_;
  std::uint64_t rounds_ = 0;
  std::uint64_t judged_ = 0;
  std::uint64_t requests_ = 0;
  std::uint64_t failures_ = 0;
  std::string fault_;
  std::optional<json_object> memory_;
};

template <device_allocator A>
std::string throughput::run(const run_options& options, json_object& record) {
  course<A> run{options};
  std::string reason = run.run();
  run.report(record);
  return reason;
}

}  // namespace warpheap::bench
