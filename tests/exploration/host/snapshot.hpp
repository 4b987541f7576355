// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string>
#include <support/scale.hpp>
#include <system_error>
#include <vector>
#include <warpheap/platform.hpp>
#include <warpheap/platform/exploration.hpp>

namespace warpheap::test {

/// Memory that is set up once and found so by each execution. A few pages are copied back. Of more memory, what an
/// execution wrote is dropped, page by page, which costs less than making megabytes of state anew.
class snapshot {
 public:
  explicit snapshot(std::size_t bytes) : bytes_(bytes), file_(::memfd_create("warpheap_snapshot", 0)) {
    must(file_ >= 0 && ::ftruncate(file_, static_cast<off_t>(bytes)) == 0);
    reserved_ = ::mmap(nullptr, bytes + alignment, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    must(reserved_ != MAP_FAILED);
    void* begin = reinterpret_cast<void*>(align_up(reinterpret_cast<std::uintptr_t>(reserved_), alignment));
    data_ = ::mmap(begin, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file_, 0);
    must(data_ == begin);
  }
  ~snapshot() {
    ::munmap(reserved_, bytes_ + alignment);
    ::close(file_);
  }
  snapshot(const snapshot&) = delete;
  snapshot& operator=(const snapshot&) = delete;

  /// Zeroed at first.
  std::byte* data() const { return static_cast<std::byte*>(data_); }
  /// Ends the set-up.
  void freeze() {
    if (bytes_ <= most_copied) {
      frozen_.assign(data(), data() + bytes_);
      return;
    }
    must(::mmap(data_, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, file_, 0) == data_);
  }
  /// Makes the memory again what it was at `freeze`.
  void reset() const {
    if (!frozen_.empty()) {
      std::memcpy(data_, frozen_.data(), bytes_);
    } else {
      must(::madvise(data_, bytes_, MADV_DONTNEED) == 0);
    }
  }

 private:
  // A copy of so much takes less time than a system call and the page faults after it. A sanitizer would look at the
  // copy, too, and a heap may have told it that no one uses some of the bytes.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  static constexpr std::size_t most_copied = 0;
#else
  static constexpr std::size_t most_copied = std::size_t{32} << 10;
#endif
  // How many units a heap has can depend on where its memory begins. From a multiple of this on, larger than each unit,
  // an exploration meets the same states in each process.
  static constexpr std::uintptr_t alignment = std::uintptr_t{1} << 20;
  static void must(bool done) {
    if (!done) throw std::system_error(errno, std::generic_category(), "memory for a snapshot");
  }
  std::size_t bytes_;
  int file_;
  void* reserved_ = nullptr;
  void* data_ = nullptr;
  std::vector<std::byte> frozen_;  // what is copied back
};

using results = std::vector<std::uint64_t>;

/// Lanes of one-thread blocks that run `kernel(out, lane)` on a snapshot; `look(out)` says what is wrong afterwards.
/// `out` has 16 words, zeroed for each execution.
template <class Kernel, class Look>
class snapshot_scenario {
 public:
  snapshot_scenario(const snapshot& memory, unsigned lanes, Kernel kernel, Look look)
      : lanes_(lanes), kernel_(kernel), look_(look) {
    memory.reset();
  }
  void run() { launch(grid_shape{lanes_, 1}, entry{kernel_, out_.data()}); }
  std::string check() { return look_(out_); }

 private:
  struct entry {
    Kernel kernel;
    std::uint64_t* out;
    void operator()() const { kernel(out, static_cast<unsigned>(grid_thread_index())); }
  };
  unsigned lanes_;
  Kernel kernel_;
  Look look_;
  results out_ = results(16);
};

/// Prints how much an exploration did, which the bounds of a scenario are chosen by.
inline void print(const exploration& result) {
  std::cout << "  " << result.executions << " executions of up to " << result.steps << " steps, " << result.redundant
            << " redundant, " << result.cut << " cut\n";
}

template <class Kernel, class Look>
exploration explore_snapshot(const snapshot& memory, unsigned lanes, Kernel kernel, Look look,
                             const exploration_options& options = {}) {
  const exploration result =
      explore(options, [&] { return snapshot_scenario<Kernel, Look>(memory, lanes, kernel, look); });
  print(result);
  return result;
}

/// Runs `body()` in one lane, as set-up or as a look at the outcome.
template <class Body>
void in_one_lane(Body body) {
  launch(grid_shape{1, 1}, body);
}

/// All schedules with at most so many switches away from a lane that could go on, one less at a small scale; with the
/// full scale all schedules, which may take long.
inline exploration_options few_switches(std::uint32_t most) {
  exploration_options options;
  options.most_executions = 100'000'000;
  const work_scale scale = scale_in_force();
  if (scale != work_scale::full) options.preemptions = scale == work_scale::small ? most - 1 : most;
  return options;
}

/// All schedules; at a small scale those with two such switches at most.
inline exploration_options all_schedules() {
  exploration_options options;
  options.most_executions = 100'000'000;
  if (scale_in_force() == work_scale::small) options.preemptions = 2;
  return options;
}

/// Fails the test if the exploration found something or left something out.
inline void expect_all_clean(const exploration& result) {
  EXPECT_EQ(result.failure, "");
  const bool replays = std::getenv("WARPHEAP_EXPLORE_REPLAY") != nullptr;
  EXPECT_TRUE(result.complete || replays || !result.failure.empty()) << "the exploration left schedules out";
}

}  // namespace warpheap::test
