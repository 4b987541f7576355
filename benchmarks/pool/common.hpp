// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// What all cases of the pool's benchmark share: what is asked for, times, and the beginning of a record.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>
#include <warpheap/platform.hpp>
#include <warpheap_fingerprint.hpp>

#include "json.hpp"

namespace warpheap::bench {

/// What the command line asks for.
struct settings {
  std::string what = "all";
  std::string subject = "all";
  std::string log;  ///< what the cases `replay` and `recording` replay
  std::uint64_t bytes = std::uint64_t{16} << 30;
  int repetitions = 9;
  double seconds = 60;  ///< a case that took so long does not begin another repetition
  bool quick = false;
  bool lists = false;  ///< print the subjects instead
};

using clock = std::chrono::steady_clock;
inline double nanoseconds_since(clock::time_point start) {
  return std::chrono::duration<double, std::nano>(clock::now() - start).count();
}

/// Counts repetitions: as many as asked for, but no further one begins when the case has taken its
/// time. Those of `warming` come first and are not counted; one more is always made. A case of
/// several `parts` divides its time among them.
class repetitions {
 public:
  explicit repetitions(const settings& with, int warming = 0, int parts = 1)
      : warming_(warming), most_(warming + with.repetitions), seconds_(with.seconds / parts) {}
  bool another() {
    const bool must = done_ <= warming_;
    const bool may = done_ < most_ && nanoseconds_since(start_) < seconds_ * 1e9;
    done_ += must || may;
    return must || may;
  }
  /// True if the one under way is to be timed.
  bool counts() const { return done_ > warming_; }

 private:
  clock::time_point start_ = clock::now();
  int warming_;
  int most_;
  double seconds_;
  int done_ = 0;
};

/// Times of one kind of call, a call each.
class timings {
 public:
  void add(double nanoseconds) { all_.push_back(nanoseconds); }
  bool empty() const { return all_.empty(); }
  void write(json_object& record, const std::string& name) {
    if (all_.empty()) {
      record.add_null(name + "_ns");
      return;
    }
    std::sort(all_.begin(), all_.end());
    record.add(name + "_ns", all_[all_.size() / 2])
        .add(name + "_least_ns", all_.front())
        .add(name + "_greatest_ns", all_.back());
  }

 private:
  std::vector<double> all_;
};

inline json_object begin_record(const char* what, const char* subject) {
  return std::move(json_object{}
                       .add("case", what)
                       .add("subject", subject)
                       .add("backend", backend_name(this_backend))
                       .add("device", describe_machine().name)
                       .add("version", WARPHEAP_VERSION)
                       .add("sources", sources_fingerprint));
}
inline void print(const json_object& record) {
  std::printf("%s\n", record.text().c_str());
  std::fflush(stdout);
}

}  // namespace warpheap::bench
