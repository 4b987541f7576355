// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <vector>
#include <warpheap/heap.hpp>

#include "../json.hpp"
#include "../measure/course.hpp"
#include "../measure/findings.hpp"
#include "../measure/fixtures.hpp"
#include "../measure/requests.hpp"
#include "../measure/rounds.hpp"
#include "../measure/samples.hpp"
#include "../options.hpp"

namespace warpheap::bench {

/// How long it takes to make a heap, and to reset one that was used, on the host's clock, until kernels can use it; and
/// the memory that it takes beside its blocks.
///
/// The first heaps of the process are warm-ups, so that the start of the device and of its kernels is not in the times.
/// Each new heap, and each after its reset, has to serve `threads` requests, and the blocks of rounds that are judged
/// are checked.
struct initialisation {
  static constexpr const char* name = "initialisation";
  static constexpr const char* summary = "the time that a heap takes to be made and to be reset, and its own memory";
  static constexpr case_mode modes[] = {{"heap", "a heap is made, used, reset, used again, and given back"}};
  static constexpr std::array<const char*, 0> axes{};

  /// Measures; adds to `record`. Returns why the case is not ok, or nothing if it is.
  template <device_allocator A>
  static std::string run(const run_options& options, json_object& record) {
    return run_course<course<A>>(options, record);
  }

 private:
  template <device_allocator A>
  class course;
};

// One run of the case; each round makes a heap.
template <device_allocator A>
class initialisation::course : public course_defaults {
 public:
  using fixture = own_heaps<A>;
  explicit course(fixture& on) : on_(on) {}

  std::vector<const samples*> watched() const { return {&construct_times_, &reset_times_}; }

  void round(round_kind kind) {
    synchronise();
    const wall_clock since;
    heap<A> made(on_.options.heap_bytes);
    synchronise();
    const double construct_time = since.microseconds();
    metadata_ = static_cast<double>(made.statistics().metadata_bytes);
    use(made, kind.judged);
    if (kind.timed) construct_times_.add(construct_time);
    if constexpr (A::capabilities.reset) {
      synchronise();
      const wall_clock since_use;
      made.reset();
      synchronise();
      const double reset_time = since_use.microseconds();
      use(made, kind.judged);
      if (kind.timed) reset_times_.add(reset_time);
    }
  }

  void add_measures(findings& found) const {
    found.add("construct", microseconds, construct_times_);
    found.add("reset", microseconds, reset_times_);
    // What a heap of the toolkit's keeps for itself nobody can tell: that is no 0.
    if constexpr (A::capabilities.uses_arena) {
      found.add("metadata", bytes_taken, metadata_);
    } else {
      found.add("metadata", bytes_taken, std::nullopt);
    }
  }

 private:
  class wall_clock {
   public:
    double microseconds() const {
      return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start_).count();
    }

   private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  };

  // Blocks go back one by one only where no reset takes them all: a heap may be one of several that share memory.
  void use(const heap<A>& made, bool judged) {
    if (!on_.found.flawless()) return;
    const requests asked = on_.next_requests();
    on_.malloc_all(made, asked);
    on_.look(made, asked, judged);
    if constexpr (!A::capabilities.reset) on_.free_all(made, asked);
  }

  fixture& on_;
  samples construct_times_;
  samples reset_times_;
  double metadata_ = 0;
};

}  // namespace warpheap::bench
