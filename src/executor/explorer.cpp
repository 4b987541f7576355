// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

#include "executor/explorer.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>
#include <warpheap/platform/bits.hpp>

#include "executor/records.hpp"

namespace warpheap::executor {
namespace {

bool overlap(const void* a, std::size_t a_bytes, const void* b, std::size_t b_bytes) {
  const auto first = reinterpret_cast<std::uintptr_t>(a);
  const auto second = reinterpret_cast<std::uintptr_t>(b);
  return first < second + b_bytes && second < first + a_bytes;
}

bool same_site(call_site a, call_site b) { return a.line == b.line && std::strcmp(a.file, b.file) == 0; }

// The lane may have given the object's memory back by now, so the read goes unchecked.
#if defined(__SANITIZE_ADDRESS__)
__attribute__((no_sanitize_address))
#endif
void copy_value(unsigned char* to, const void* object, std::size_t bytes) {
  const auto* from = static_cast<const volatile unsigned char*>(object);
  for (std::size_t i = 0; i < bytes; ++i) to[i] = from[i];
}

}  // namespace

explorer*& this_explorer() {
  thread_local explorer* current = nullptr;
  return current;
}

explorer::explorer(const exploration_options& options, const std::vector<std::uint8_t>& schedule)
    : options_(options),
      replay_(schedule),
      replays_(!schedule.empty()),
      reduces_(options.reduction && !options.preemptions.has_value()) {}

void explorer::begin() {
  trace_.clear();
  writers_.clear();
  for (lane_view& each : views_) {
    each.who = nullptr;
    each.next = {};
    each.awake = false;
    each.waits = 0;
    each.known = {};
    each.reads.clear();
    each.places_used = 0;
  }
  lanes_ = 0;
  ready_ = 0;
  met_ = 0;
  running_ = false;
  idle_ = 0;
  launched_ = false;
  verdict_ = verdict::runs;
  reason_.clear();
  where_.clear();
}

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

void explorer::note_launch(std::uint64_t lanes) {
  launched_ = true;
  lanes_ = static_cast<std::uint32_t>(lanes);
}

void explorer::note_failure(std::string reason, std::string lanes) {
  if (verdict_ == verdict::runs) fail(std::move(reason));
  where_ = std::move(lanes);
}

void explorer::fail(std::string reason) {
  verdict_ = verdict::failed;
  reason_ = std::move(reason);
}

std::uint32_t explorer::number_of(const lane& which) const {
  return static_cast<std::uint32_t>(which.place.block * which.place.block_threads + which.place.thread);
}

void explorer::put(lane& ready) {
  const std::uint32_t number = number_of(ready);
  views_[number].who = &ready;
  ready_ |= bit(number);
}

void explorer::announce(lane& caller, access what, const void* object, std::size_t bytes) {
  step& next = views_[number_of(caller)].next;
  switch (what) {
    case access::load: next.what = kind::load; break;
    case access::store: next.what = kind::store; break;
    default: next.what = kind::update; break;
  }
  next.object = object;
  next.bytes = static_cast<std::uint32_t>(bytes);
}

void explorer::announce_wait(lane& caller, call_site site) {
  lane_view& view = views_[number_of(caller)];
  view.next.what = kind::wait;
  view.site = site;
}

// The next wait at this place begins later than here.
void explorer::end_wait(lane& caller) {
  lane_view& view = views_[number_of(caller)];
  for (std::size_t i = 0; i < view.places_used; ++i) {
    if (same_site(view.places[i].site, caller.wait_site)) view.places[i].from = view.reads.size();
  }
}

void explorer::note_meeting(const warp& of, std::uint32_t members) {
  for (std::uint32_t rest = members; rest != 0; rest &= rest - 1) met_ |= bit(number_of(of.lanes[lowest_bit(rest)]));
}

void explorer::note_barrier(const block& of, std::uint32_t threads) {
  for (std::uint32_t i = 0; i < threads; ++i) met_ |= bit(number_of(of.lanes[i]));
}

lane* explorer::take() {
  finish();
  if (verdict_ != verdict::runs) return nullptr;
  lane_set enabled = enabled_lanes();
  if (enabled == 0) {
    // With no lane that waits, all ended, or those that are parked are the launch's to report.
    if (ready_ == 0) return nullptr;
    if (!wake_idle()) {
      fail("deadlock: all lanes wait, and nothing that they wait for changes");
      return nullptr;
    }
    enabled = enabled_lanes();
  }
  if (trace_.size() >= options_.most_steps) {
    fail("no end: more than " + std::to_string(options_.most_steps) +
         " steps; bound the loops of the kernel, or raise exploration_options::most_steps");
    return nullptr;
  }
  return choose(enabled);
}

lane* explorer::choose(lane_set enabled) {
  const std::size_t at = trace_.size();
  if (replays_) {
    const std::uint32_t wanted = at < replay_.size() ? replay_[at] : prefer(enabled);
    if ((enabled >> wanted & 1) == 0) {
      fail("the schedule does not fit the kernel: at step " + std::to_string(at) + " lane " + std::to_string(wanted) +
           " cannot run");
      return nullptr;
    }
    path_.resize(at + 1);
    path_[at].chosen = static_cast<std::uint8_t>(wanted);
  } else if (at < path_.size()) {
    if (path_[at].enabled != enabled) {
      fail("the scenario does not repeat itself: at step " + std::to_string(at) +
           " other lanes can run than in an execution with the same schedule; make it read no clock, no address and no "
           "state of an earlier execution");
      return nullptr;
    }
  } else {
    add_node(enabled);
    if (verdict_ != verdict::runs) return nullptr;
  }
  const std::uint32_t number = path_[at].chosen;
  lane_view& view = views_[number];
  if (view.next.what == kind::wait && ++view.waits > options_.most_waits) {
    verdict_ = verdict::cut;
    return nullptr;
  }
  ready_ &= ~bit(number);
  current_ = std::exchange(view.next, step{});
  current_.lane = static_cast<std::uint8_t>(number);
  running_ = true;
  met_ = 0;
  if (current_.object != nullptr) copy_value(value_before_, current_.object, current_.bytes);
  return view.who;
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

explorer::lane_set explorer::enabled_lanes() const {
  lane_set enabled = 0;
  for (lane_set rest = ready_; rest != 0; rest &= rest - 1) {
    const auto number = static_cast<std::uint32_t>(lowest_bit(rest));
    if (views_[number].next.what != kind::wait || views_[number].awake) enabled |= bit(number);
  }
  return enabled;
}

// Nothing but waiting lanes: all of them look once more, for waits that give up after so many looks. What comes next comes
// after all that was.
bool explorer::wake_idle() {
  if (idle_++ >= options_.idle_turns) return false;
  clock all{};
  for (const step& each : trace_) all[each.lane] = std::max(all[each.lane], each.before[each.lane]);
  for (lane_set rest = ready_; rest != 0; rest &= rest - 1) {
    lane_view& view = views_[static_cast<std::uint32_t>(lowest_bit(rest))];
    view.awake = true;
    view.known = all;
  }
  return true;
}

void explorer::finish() {
  if (!std::exchange(running_, false)) return;
  step& last = current_;
  lane_view& view = views_[last.lane];
  if (last.object != nullptr) {
    unsigned char now[sizeof(value_before_)];
    copy_value(now, last.object, last.bytes);
    last.changes = last.what != kind::load && std::memcmp(now, value_before_, last.bytes) != 0;
    last.writes = last.changes || last.what == kind::store;
  }
  const auto at = static_cast<std::uint32_t>(trace_.size());
  if (reduces_ && !replays_) order(last);
  view.known = last.before;
  if (met_ != 0) {
    clock joint = last.before;
    for (lane_set rest = met_; rest != 0; rest &= rest - 1) {
      const clock& other = views_[static_cast<std::uint32_t>(lowest_bit(rest))].known;
      for (std::size_t i = 0; i < most_lanes; ++i) joint[i] = std::max(joint[i], other[i]);
    }
    for (lane_set rest = met_; rest != 0; rest &= rest - 1) {
      views_[static_cast<std::uint32_t>(lowest_bit(rest))].known = joint;
    }
    met_ = 0;
  }
  if (last.what == kind::load || last.what == kind::update) view.reads.push_back({last.object, last.bytes, at});
  if (last.writes) writers_.push_back(at);
  trace_.push_back(last);
  if (last.changes) {
    idle_ = 0;
    wake_waiting(trace_.back());
  }
  if (view.next.what == kind::wait) settle_wait(view);
}

// What a lane waits for that has come to a pause: a change of what it has read since its last one at the same place.
void explorer::settle_wait(lane_view& view) {
  std::size_t from = 0;
  std::size_t place = 0;
  while (place < view.places_used && !same_site(view.places[place].site, view.site)) ++place;
  if (place < view.places_used) {
    from = view.places[place].from;
  } else if (view.places_used < view.places.size()) {
    view.places[view.places_used++].site = view.site;
  }
  if (place < view.places.size()) view.places[place].from = view.reads.size();
  view.awake = false;
  std::vector<seen_object>& seen = view.next.seen;
  for (std::size_t i = from; i < view.reads.size(); ++i) {
    const seen_object& read = view.reads[i];
    const bool known = std::any_of(seen.begin(), seen.end(), [&](const seen_object& each) {
      return each.object == read.object && each.bytes == read.bytes;
    });
    if (!known) seen.push_back(read);
  }
  const auto own = static_cast<std::uint8_t>(&view - views_.data());
  for (const seen_object& each : seen) {
    for (std::size_t i = each.at + 1; i < trace_.size() && !view.awake; ++i) {
      const step& other = trace_[i];
      view.awake = other.changes && other.lane != own && overlap(other.object, other.bytes, each.object, each.bytes);
    }
  }
}

// Ends the waits for what `last` changed.
void explorer::wake_waiting(const step& last) {
  for (std::uint32_t i = 0; i < lanes_; ++i) {
    lane_view& view = views_[i];
    if (i == last.lane || view.next.what != kind::wait || view.awake) continue;
    for (const seen_object& each : view.next.seen) {
      if (overlap(last.object, last.bytes, each.object, each.bytes)) view.awake = true;
    }
  }
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

// Computes what comes before `last`. An earlier step that conflicts with it, with no step between them in that order, could as
// well come later.
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
    const bool led = std::any_of(kept.begin(), kept.end(), [&](std::uint32_t k) {
      return each.before[trace_[k].lane] > k;
    });
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
