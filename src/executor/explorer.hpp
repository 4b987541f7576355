// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>
#include <warpheap/platform/executor.hpp>
#include <warpheap/platform/exploration.hpp>

#include "executor/policy.hpp"

namespace warpheap::executor {

/// True if two ranges of bytes have a byte in common.
inline bool overlap(const void* a, std::size_t a_bytes, const void* b, std::size_t b_bytes) {
  const auto first = reinterpret_cast<std::uintptr_t>(a);
  const auto second = reinterpret_cast<std::uintptr_t>(b);
  return first < second + b_bytes && second < first + a_bytes;
}

/// The search of `explore`: it chooses the lane of each step, learns what the step did, and finds the steps before
/// which another choice can matter. docs/design/exploration.md explains the algorithm.
///
/// It is the policy of an explored launch. A lane announces its next step and suspends; `take` finishes the step before
/// and chooses the next.
class explorer final : public policy {
 public:
  static constexpr std::uint32_t most_lanes = 8;

  /// With a `schedule` that is not empty, that one execution.
  explorer(const exploration_options& options, const std::vector<std::uint8_t>& schedule);

  /// Between executions.
  void begin();         ///< of the next execution
  bool prepare_next();  ///< the schedule of the next execution; false if none is left

  /// What became of an execution.
  enum class verdict : std::uint8_t {
    runs,       ///< nothing yet, or all lanes ended
    redundant,  ///< each step that could come next was explored elsewhere
    cut,        ///< a lane waited too often
    failed      ///< `reason` tells why
  };
  verdict outcome() const { return verdict_; }
  const std::string& reason() const { return reason_; }
  /// From the launch: why it failed, and where its lanes stood.
  void note_failure(std::string reason, std::string lanes);
  const std::string& lanes() const { return where_; }
  bool launched() const { return launched_; }
  void note_launch(std::uint64_t lanes);
  std::uint32_t steps() const { return static_cast<std::uint32_t>(trace_.size()); }
  std::string schedule() const;
  /// A line for each of the last steps.
  std::string describe_steps() const;

  // The policy. `put` allocates nothing.
  void put(lane& ready) override;
  lane* take() override;
  bool goes_on() override { return false; }

  /// *lane*: what it does when it is chosen next.
  void announce(lane& caller, access what, const void* object, std::size_t bytes);
  void announce_wait(lane& caller, call_site site);
  void end_wait(lane& caller);
  /// *lane*: the lanes of `members` of the caller's block have met, so what each did comes before what any does next.
  void note_meeting(const warp& of, std::uint32_t members);
  void note_barrier(const block& of, std::uint32_t threads);
  /// *lane*: true if a meeting of several lanes came about in this step.
  bool has_met() const { return (met_ & (met_ - 1)) != 0; }

  /// Finishes the last step of the launch.
  void finish();

 private:
  using lane_set = std::uint32_t;                       // a bit for each lane
  using clock = std::array<std::uint32_t, most_lanes>;  // of each lane: 1 + its latest step that comes before

  enum class kind : std::uint8_t { local, load, store, update, wait };
  // An object that a waiting lane has read, and the step in which it first did.
  struct seen_object {
    const void* object;
    std::uint32_t bytes;
    std::uint32_t at;
  };
  struct step {
    std::uint8_t lane = 0;
    kind what = kind::local;
    bool writes = false;   // an order among such steps matters
    bool changes = false;  // the object's value
    std::uint32_t bytes = 0;
    const void* object = nullptr;
    clock before{};                   // what comes before it, itself among it
    std::vector<seen_object> seen{};  // of a wait
  };
  // A place in the source where a lane waited, and where in `reads` its latest look there begins.
  struct wait_place {
    call_site site;
    std::size_t from;
    bool paused;  // in the present wait
  };
  struct lane_view {
    lane* who = nullptr;
    step next{};
    call_site site{};    // of a wait that is next
    bool awake = false;  // of a wait: it may end
    std::uint32_t waits = 0;
    clock known{};
    std::vector<seen_object> reads{};
    std::array<wait_place, 16> places{};
    std::size_t places_used = 0;
  };
  // A state on the current path: before step i is node i.
  struct node {
    lane_set enabled = 0;
    lane_set backtrack = 0;  // to be explored from here
    lane_set asleep = 0;     // explored from here, or elsewhere with the same result
    lane_set asleep_writes = 0;
    lane_set asleep_changes = 0;
    std::uint8_t chosen = 0;
    lane_set unforced = 0;       // those whose choice takes no lane off that could go on
    std::uint32_t switches = 0;  // such choices before this state
    clock before{};              // of the chosen step
  };

  static lane_set bit(std::uint32_t lane) { return lane_set{1} << lane; }
  // explorer.cpp: one execution
  std::uint32_t number_of(const lane& which) const;
  lane_set enabled_lanes() const;
  bool wake_idle();
  lane* choose(lane_set enabled);
  void fail(std::string reason);
  void settle_wait(lane_view& view);
  static wait_place& place_of(lane_view& view);
  void wake_waiting(const step& last);

  // explorer_search.cpp: which schedules are left
  void order(step& last);
  void reverse(std::uint32_t earlier, const step& later);
  bool can_end_without(const step& wait, std::uint32_t earlier) const;
  bool conflicts(const step& a, const step& b) const;
  bool could_go_on(std::uint32_t number, lane_set enabled) const;
  std::uint32_t prefer(lane_set candidates) const;
  void add_node(lane_set enabled);
  void put_to_sleep(node& fresh) const;

  const exploration_options options_;
  const std::vector<std::uint8_t> replay_;
  const bool replays_;
  const bool reduces_;

  // The search.
  std::vector<node> path_;
  std::size_t branch_ = 0;  // steps before this were taken before

  // The execution.
  std::vector<step> trace_;
  std::vector<std::uint32_t> writers_;  // steps that write
  std::array<lane_view, most_lanes> views_{};
  std::uint32_t lanes_ = 0;
  lane_set ready_ = 0;
  lane_set met_ = 0;
  bool running_ = false;
  step current_{};
  unsigned char value_before_[16] = {};
  std::uint32_t idle_ = 0;  // times that the waiting lanes were woken since the last change
  bool launched_ = false;
  verdict verdict_ = verdict::runs;
  std::string reason_;
  std::string where_;
};

/// The explorer whose scenario the calling thread runs, or null.
explorer*& this_explorer();

}  // namespace warpheap::executor
