// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>
#include <warpheap/platform/executor.hpp>

#include "executor/context.hpp"
#include "executor/explorer.hpp"
#include "executor/launch_state.hpp"
#include "executor/policy.hpp"
#include "executor/quiet.hpp"
#include "executor/random.hpp"
#include "executor/records.hpp"

namespace warpheap::executor {

/// One thread's part of a launch: it keeps some blocks under way and runs their lanes one at a time.
///
/// Functions come in two kinds. The lane that runs calls those marked *lane*, on its own stack; they allocate nothing,
/// throw nothing and call nothing of the standard library that a kernel might share. All others run on the thread's
/// own stack, while no lane runs.
class worker {
 public:
  worker(launch_state& launch, unsigned index, unsigned workers);
  ~worker();

  /// Runs blocks until none is left or the launch fails. Called once, by the worker's thread.
  void work();
  /// Instead of `work`: the worker gets no thread.
  void retire() { finished_.set(1); }

  lane& running() const { return *current_; }  ///< *lane*: the caller
  std::uint64_t launch_number() const;         ///< *lane*: of the launch that the caller belongs to

  /// *lane*: each as the function of that name in platform/executor.hpp.
  const round& meet(meeting what, std::uint32_t group, std::uint64_t value, call_site site);
  void leave(const round& left);
  std::uint32_t gather(call_site site);
  void block_barrier(call_site site);
  void access_point(access what, const void* object, std::size_t bytes) {
    if (explored_ == nullptr) {
      switch_point();
    } else if (what != access::fence) {
      explored_->announce(*current_, what, object, bytes);
      suspend();
    }
  }
  void switch_point() {
    if (explored_ != nullptr && !explored_->has_met()) return;
    progress_.increment();
    if (!policy_->goes_on()) suspend();
  }
  void wait(call_site site);
  void end_wait();
  void stop_point(const char* name, call_site site);  // holds.cpp
  std::uint32_t processor();
  /// *lane*: stops the caller for good and fails the launch.
  [[noreturn]] void fail(fault why);

  /// What the watchdogs read, from any thread.
  std::uint64_t moves() const { return moves_.get(); }
  std::uint64_t progress() const { return progress_.get(); }  ///< grows with each turn and each switch point
  bool finished() const { return finished_.get() != 0; }
  bool stalled_since(std::uint64_t moves) const { return finished() || stalled_since_.get() == moves + 1; }
  bool quiet_since(std::uint64_t moves) const { return finished() || quiet_since_.get() == moves + 1; }

  /// The blocks under way are those with live lanes. Look at them when no lane of this worker runs or, for a last
  /// message, when the running one is stuck.
  const std::vector<block>& blocks() const { return blocks_; }
  const launch_state& launch() const { return launch_; }
  const std::string& last_words() const { return last_words_; }  ///< where each lane stood when the launch failed
  bool in_lane() const { return current_ != nullptr; }

  /// The monitor's own notes on this worker.
  struct {
    std::uint64_t progress = 0;
    unsigned unchanged = 0;
  } seen;

 private:
  // worker.cpp: blocks and turns
  void schedule_lanes();
  void admit();
  void start_block(block& fresh, std::uint64_t index);
  void end_block(block& over);
  void turn(lane& next);
  void settle(lane& last);
  void settle_exit(lane& last);
  void park(lane& parked);
  void make_ready(lane& parked);
  void moved();
  void idle();
  void abandon_lanes();
  void suspend();       // *lane*: lets another lane run, or the scheduler
  lane* choose_next();  // *lane*: the lane to switch to, if the scheduler has nothing else to do
  void begin_turn(lane& next);
  const char* keep(const char* message);  // *lane*: copies the message of an exception
  static void lane_main(void* self);

  // collective.cpp
  open_round& join_round(lane& caller, meeting what, std::uint32_t group);
  void complete(warp& home, open_round& full);
  void open_barrier(block& home);

  // gather.cpp
  void release_gathered(warp& home);
  void hand_out(warp& home, std::uint32_t group);
  std::uint32_t random_part(std::uint32_t group);

  launch_state& launch_;
  random_stream random_;
  std::unique_ptr<policy> own_policy_;
  explorer* explored_;  // null in an ordinary launch
  policy* policy_;
  context self_;
  context* left_ = &self_;  // the stack that the running lane was switched to from
  lane* current_ = nullptr;

  std::vector<block> blocks_;   // as many as are under way at a time
  std::vector<block*> vacant_;  // those that are not under way
  bool blocks_left_ = true;
  std::uint64_t live_lanes_ = 0;
  void* start_clock_;  // orders what the host and the worker did before what a new lane does

  // The stall watchdog; idle() tells how it works.
  std::uint64_t idle_turns_ = 0;
  std::uint64_t idle_rounds_ = 0;
  std::uint64_t idle_since_ = 0;
  published moves_;
  published quiet_since_;
  published stalled_since_;
  published progress_;
  published finished_;
  std::string last_words_;
  char exception_message_[256] = {};
};

/// The worker whose lane the calling thread runs, or null.
worker* this_worker();

}  // namespace warpheap::executor
