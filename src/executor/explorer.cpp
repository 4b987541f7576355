// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

#include "executor/explorer.hpp"

#include <algorithm>
#include <cstring>
#include <utility>
#include <warpheap/platform/bits.hpp>

#include "executor/records.hpp"

namespace warpheap::executor {
namespace {

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

// The next wait at this place begins later than here. But a backoff that ends right after its pause belongs to a loop
// that makes one for each look, and the wait goes on.
void explorer::end_wait(lane& caller) {
  lane_view& view = views_[number_of(caller)];
  if (current_.what == kind::wait) return;
  for (std::size_t i = 0; i < view.places_used; ++i) {
    if (!same_site(view.places[i].site, caller.wait_site)) continue;
    view.places[i].from = view.reads.size();
    view.places[i].paused = false;
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

explorer::lane_set explorer::enabled_lanes() const {
  lane_set enabled = 0;
  for (lane_set rest = ready_; rest != 0; rest &= rest - 1) {
    const auto number = static_cast<std::uint32_t>(lowest_bit(rest));
    if (views_[number].next.what != kind::wait || views_[number].awake) enabled |= bit(number);
  }
  return enabled;
}

// Nothing but waiting lanes: all of them look once more, for waits that give up after so many looks. What comes next
// comes after all that was.
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
// The first pause of a wait, and one with no look before it, may be a mere delay, so the lane may go on at once.
void explorer::settle_wait(lane_view& view) {
  wait_place& place = place_of(view);
  const std::size_t from = std::exchange(place.from, view.reads.size());
  const bool first = !std::exchange(place.paused, true);
  view.awake = first || from == view.reads.size();
  if (view.awake) return;
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

// The place where a lane has come to a pause. Those beyond the first few share the last entry: their waits then look at
// more.
explorer::wait_place& explorer::place_of(lane_view& view) {
  for (std::size_t i = 0; i < view.places_used; ++i) {
    if (same_site(view.places[i].site, view.site)) return view.places[i];
  }
  if (view.places_used < view.places.size()) return view.places[view.places_used++] = {view.site, 0, false};
  return view.places.back();
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

}  // namespace warpheap::executor
