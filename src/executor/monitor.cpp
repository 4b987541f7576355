// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

#include "executor/monitor.hpp"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>

#include "executor/quiet.hpp"
#include "executor/report.hpp"
#include "executor/worker.hpp"

#if defined(WARPHEAP_SANITIZE_THREAD)
// A process that ends with threads still there would linger for a second, so that they can race once more. The monitor
// is always there, and asleep.
extern "C" __attribute__((weak, visibility("default"))) const char* __tsan_default_options() {
  return "atexit_sleep_ms=0";
}
#endif

namespace warpheap::executor {
namespace {

constexpr std::chrono::milliseconds tick{100};
constexpr unsigned patience = 20;  // ticks without a launch after which the monitor sleeps until it is called

class monitor {
 public:
  monitor() : process_(::getpid()) {
    ::sem_init(&call_, 0, 0);
    // Signals are for the program's own threads.
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    std::thread([this] { look_after(); }).detach();
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  // Threads do not survive a fork: a child needs a monitor of its own.
  bool serves_this_process() const { return process_ == ::getpid(); }

  void add(watch& started) {
    const std::lock_guard guard(lock_);
    started.next = first_;
    if (first_ != nullptr) first_->previous = &started;
    first_ = &started;
    quiet_ticks_ = 0;
    if (asleep_) {
      asleep_ = false;
      ::sem_post(&call_);
    }
  }

  void remove(watch& ended) {
    const std::lock_guard guard(lock_);
    moves_of_ended_ += ended.launch.moves();
    (ended.previous == nullptr ? first_ : ended.previous->next) = ended.next;
    if (ended.next != nullptr) ended.next->previous = ended.previous;
  }

  process_progress progress() {
    const std::lock_guard guard(lock_);
    return progress_so_far();
  }

  // What each worker has seen is part of what is seen here, so an equal sum means that all saw the same.
  bool stalled_since(std::uint64_t moves) {
    const std::lock_guard guard(lock_);
    for (watch* each = first_; each != nullptr; each = each->next) {
      if (!each->launch.all_stalled_since(moves)) return false;
    }
    return progress_so_far().moves == moves;
  }

  bool is_quiet() {
    const std::lock_guard guard(lock_);
    const std::uint64_t moves = progress_so_far().moves;
    for (watch* each = first_; each != nullptr; each = each->next) {
      if (!each->launch.all_quiet_since(moves)) return false;
    }
    return progress_so_far().moves == moves;
  }

 private:
  process_progress progress_so_far() const {
    process_progress sum{moves_of_ended_, 0};
    for (const watch* each = first_; each != nullptr; each = each->next) {
      sum.moves += each->launch.moves();
      sum.workers += each->launch.workers.size();
    }
    return sum;
  }

  [[noreturn]] void look_after() {
    while (true) {
      bool sleep = false;
      {
        const std::lock_guard guard(lock_);
        for (watch* each = first_; each != nullptr; each = each->next) look_at(each->launch);
        if (first_ == nullptr && ++quiet_ticks_ > patience) sleep = asleep_ = true;
      }
      if (sleep) {
        while (::sem_wait(&call_) != 0) {
        }
      } else {
        std::this_thread::sleep_for(tick);
      }
    }
  }

  // Counts ticks that it saw itself, so that a process that was stopped for an hour is not taken for a stuck one.
  static void look_at(launch_state& launch) {
    for (const auto& each : launch.workers) {
      const std::uint64_t progress = each->progress();
      if (each->finished() || !each->in_lane() || progress != each->seen.progress) {
        each->seen = {progress, 0};
      } else if (++each->seen.unchanged * tick >= launch.plan.lane_limit) {
        end_process(launch, *each);
      }
    }
  }

  [[noreturn]] static void end_process(const launch_state& launch, const worker& stuck) {
    const std::string reason = describe_stuck(launch.plan, stuck.running());
    std::fputs(describe_failure(launch, reason, describe_lanes(stuck)).c_str(), stderr);
    std::abort();
  }

  const pid_t process_;
  sem_t call_;
  quiet_lock lock_;
  watch* first_ = nullptr;
  std::uint64_t moves_of_ended_ = 0;
  unsigned quiet_ticks_ = 0;
  bool asleep_ = false;
};

// Never destroyed: its thread runs until the process ends.
monitor& the_monitor() {
  static quiet_lock lock;
  static monitor* current = nullptr;
  const std::lock_guard guard(lock);
  if (current == nullptr || !current->serves_this_process()) current = new monitor;
  return *current;
}

}  // namespace

process_progress progress_of_process() { return the_monitor().progress(); }
bool process_stalled_since(std::uint64_t moves) { return the_monitor().stalled_since(moves); }

bool process_is_quiet() { return the_monitor().is_quiet(); }

watch::watch(launch_state& watched) : launch(watched) { the_monitor().add(*this); }
watch::~watch() { the_monitor().remove(*this); }

}  // namespace warpheap::executor
