// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Which lanes are to be tried in which state, and which need not be.

#include <algorithm>
#include <vector>
#include <warpheap/platform/bits.hpp>

#include "executor/explorer.hpp"

namespace warpheap::executor {

bool explorer::prepare_next() {
  if (replays_) return false;
  while (!path_.empty()) {
    node& last = path_.back();
    const lane_set done = bit(last.chosen);
    last.asleep |= done;
    if (path_.size() <= trace_.size()) {  // else the execution was cut before this step
      const step& taken = trace_[path_.size() - 1];
      if (taken.writes) last.asleep_writes |= done;
      if (taken.changes) last.asleep_changes |= done;
    }
    const lane_set left = last.backtrack & ~last.asleep;
    if (left != 0) {
      last.chosen = static_cast<std::uint8_t>(lowest_bit(left));
      branch_ = path_.size() - 1;
      return true;
    }
    path_.pop_back();
    if (trace_.size() > path_.size()) trace_.resize(path_.size());
  }
  return false;
}

void explorer::add_node(lane_set enabled) {
  node fresh;
  fresh.enabled = enabled;
  const std::size_t at = trace_.size();
  lane_set local = 0;
  for (std::uint32_t i = 0; i < lanes_; ++i) {
    if ((enabled >> i & 1) != 0 && views_[i].next.what == kind::local) local |= bit(i);
  }
  // A lane that has only begun, or come from a meeting, has done nothing yet from which it could be taken off.
  const bool goes_on = at != 0 && trace_.back().what != kind::local && could_go_on(trace_.back().lane, enabled);
  fresh.unforced = goes_on ? bit(trace_.back().lane) : enabled;
  if (at != 0) {
    const node& parent = path_.back();
    fresh.switches = parent.switches + ((parent.unforced & bit(parent.chosen)) == 0 ? 1 : 0);
    if (reduces_) put_to_sleep(fresh);
  }
  const lane_set candidates = enabled & ~fresh.asleep;
  if (candidates == 0) {
    verdict_ = verdict::redundant;
    return;
  }
  if ((local & candidates) != 0) {
    // A step that touches nothing shared may come at any time, so it comes first.
    fresh.chosen = static_cast<std::uint8_t>(lowest_bit(local & candidates));
    fresh.backtrack = bit(fresh.chosen);
  } else {
    fresh.chosen = static_cast<std::uint8_t>(prefer(candidates));
    const bool may_switch = !options_.preemptions.has_value() || fresh.switches < *options_.preemptions;
    fresh.backtrack = reduces_ ? bit(fresh.chosen) : may_switch ? enabled : fresh.unforced;
  }
  path_.push_back(fresh);
}

// The lanes of which a step was explored before, and that step still has the same result.
void explorer::put_to_sleep(node& fresh) const {
  const node& parent = path_.back();
  const step& taken = trace_.back();
  for (lane_set rest = parent.asleep & ~bit(taken.lane); rest != 0; rest &= rest - 1) {
    const auto number = static_cast<std::uint32_t>(lowest_bit(rest));
    step sleeper = views_[number].next;
    sleeper.lane = static_cast<std::uint8_t>(number);
    sleeper.writes = (parent.asleep_writes >> number & 1) != 0;
    sleeper.changes = (parent.asleep_changes >> number & 1) != 0;
    if (conflicts(sleeper, taken)) continue;
    fresh.asleep |= bit(number);
    fresh.asleep_writes |= parent.asleep_writes & bit(number);
    fresh.asleep_changes |= parent.asleep_changes & bit(number);
  }
}

bool explorer::could_go_on(std::uint32_t number, lane_set enabled) const {
  return (enabled & bit(number)) != 0 && views_[number].next.what != kind::wait;
}

// The lane that ran last, since a schedule with few switches is the easiest to read, unless it waits.
std::uint32_t explorer::prefer(lane_set candidates) const {
  lane_set working = 0;
  for (std::uint32_t i = 0; i < lanes_; ++i) {
    if ((candidates >> i & 1) != 0 && views_[i].next.what != kind::wait) working |= bit(i);
  }
  if (working == 0) working = candidates;
  if (!trace_.empty() && (working >> trace_.back().lane & 1) != 0) return trace_.back().lane;
  return static_cast<std::uint32_t>(lowest_bit(working));
}

// True if the order of two steps of different lanes matters.
bool explorer::conflicts(const step& a, const step& b) const {
  if (a.what == kind::wait && b.what == kind::wait) return false;
  if (a.what == kind::wait || b.what == kind::wait) {
    const step& wait = a.what == kind::wait ? a : b;
    const step& other = a.what == kind::wait ? b : a;
    return other.changes && std::any_of(wait.seen.begin(), wait.seen.end(), [&](const seen_object& each) {
             return overlap(other.object, other.bytes, each.object, each.bytes);
           });
  }
  return (a.writes || b.writes) && a.object != nullptr && b.object != nullptr &&
         overlap(a.object, a.bytes, b.object, b.bytes);
}

// Computes what comes before `last`. An earlier step that conflicts with it, with no step between them in that order,
// could as well come later.
void explorer::order(step& last) {
  const auto at = static_cast<std::uint32_t>(trace_.size());
  if (at < branch_) {  // as in the execution before
    last.before = path_[at].before;
    return;
  }
  clock before = views_[last.lane].known;
  std::vector<std::uint32_t> races;
  const auto meet = [&](std::uint32_t i) {
    const step& other = trace_[i];
    if (other.lane == last.lane || before[other.lane] > i || !conflicts(other, last)) return;
    races.push_back(i);
    for (std::size_t j = 0; j < most_lanes; ++j) before[j] = std::max(before[j], other.before[j]);
  };
  // The latest first, since what comes before it is no race.
  if (last.writes) {
    for (std::uint32_t i = at; i-- != 0;) meet(i);
  } else {
    for (std::size_t i = writers_.size(); i-- != 0;) meet(writers_[i]);
  }
  before[last.lane] = at + 1;
  path_[at].before = last.before = before;
  for (const std::uint32_t i : races) reverse(i, last);
}

// Has a lane explored from the state before step `earlier` whose steps lead to `later` without it.
void explorer::reverse(std::uint32_t earlier, const step& later) {
  node& state = path_[earlier];
  const auto end = static_cast<std::uint32_t>(trace_.size());
  const std::uint8_t culprit = trace_[earlier].lane;
  if (later.what == kind::wait && !can_end_without(later, earlier)) return;
  // The steps that do not depend on `earlier`, and then `later`; those lanes whose first step of these comes before all
  // others of them, or at least not after any.
  std::vector<std::uint32_t> kept;
  lane_set seen = 0;
  lane_set initial = 0;
  const auto first_of_lane = [&](const step& each) {
    if ((seen >> each.lane & 1) != 0) return;
    seen |= bit(each.lane);
    const bool led =
        std::any_of(kept.begin(), kept.end(), [&](std::uint32_t k) { return each.before[trace_[k].lane] > k; });
    if (!led) initial |= bit(each.lane);
  };
  for (std::uint32_t i = earlier + 1; i < end; ++i) {
    const step& each = trace_[i];
    if (each.before[culprit] > earlier) continue;
    first_of_lane(each);
    kept.push_back(i);
  }
  first_of_lane(later);
  initial &= state.enabled;
  if (initial == 0 || (initial & (state.backtrack | state.asleep)) != 0) return;
  const lane_set own = initial & bit(later.lane);
  state.backtrack |= own != 0 ? own : initial & (0u - initial);
}

// True if the wait could end without step `earlier` and what depends on that.
bool explorer::can_end_without(const step& wait, std::uint32_t earlier) const {
  const std::uint8_t culprit = trace_[earlier].lane;
  for (std::uint32_t i = 0; i < trace_.size(); ++i) {
    const step& other = trace_[i];
    if (i == earlier || !other.changes || other.lane == wait.lane || other.before[culprit] > earlier) continue;
    for (const seen_object& each : wait.seen) {
      if (i > each.at && overlap(other.object, other.bytes, each.object, each.bytes)) return true;
    }
  }
  return false;
}

}  // namespace warpheap::executor
