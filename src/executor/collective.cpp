// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Meetings of the lanes of a warp, and of the threads of a block. All of it runs on the stacks of lanes.

#include <warpheap/platform/bits.hpp>

#include "executor/notes.hpp"
#include "executor/worker.hpp"

namespace warpheap::executor {

const round& worker::meet(meeting what, std::uint32_t group, std::uint64_t value, call_site site) {
  lane& me = *current_;
  me.what = what;
  me.group = group;
  me.site = site;
  open_round& here = join_round(me, what, group);
  here.values[me.place.lane] = value;
  if (value != 0) here.votes |= me.bit();
  here.arrived |= me.bit();
  if (what == meeting::sync) notes::release(here.clock);
  if (here.arrived == group) {
    complete(*me.home, here);
    switch_point();
  } else {
    me.now = lane::state::meeting;
    suspend();
  }
  if (what == meeting::sync) notes::acquire(here.clock);
  return here;
}

// The open round of this operation and group, new if the caller is the first. Fails what can never complete.
open_round& worker::join_round(lane& caller, meeting what, std::uint32_t group) {
  warp& home = *caller.home;
  if ((group & caller.bit()) == 0) fail({fault::kind::group_lacks_caller, nullptr, nullptr});
  if ((group & ~home.members) != 0) fail({fault::kind::group_names_no_lane, nullptr, nullptr});
  if ((group & home.exited) != 0) fail({fault::kind::group_names_exited, nullptr, nullptr});
  if (const std::uint32_t at_barrier = group & home.at_barrier; at_barrier != 0) {
    fail({fault::kind::barrier_and_group, nullptr, &home.lanes[lowest_bit(at_barrier)]});
  }
  open_round* found = nullptr;
  for (open_round* each = home.open; each != nullptr; each = each->next) {
    if (each->what == what && each->group == group) {
      found = each;
    } else if (const std::uint32_t parked = each->arrived & group; parked != 0 && (each->group & caller.bit()) != 0) {
      fail({fault::kind::mismatch, nullptr, &home.lanes[lowest_bit(parked)]});
    }
  }
  if (found != nullptr) return *found;

  if (home.free != nullptr) {
    found = home.free;
    home.free = found->next;
  } else {
    found = &home.rounds[home.rounds_used++];
  }
  found->group = group;
  found->votes = 0;
  found->what = what;
  found->arrived = 0;
  found->clock = what == meeting::sync ? notes::create_clock() : nullptr;
  found->next = home.open;
  home.open = found;
  return *found;
}

// Lets all lanes of the round go on, except the caller, who runs.
void worker::complete(warp& home, open_round& full) {
  open_round** link = &home.open;
  while (*link != &full) link = &(*link)->next;
  *link = full.next;
  full.still_here = static_cast<std::uint32_t>(popcount(full.group));
  if (explored_ != nullptr) explored_->note_meeting(home, full.group);
  for (std::uint32_t rest = full.group & ~current_->bit(); rest != 0; rest &= rest - 1) {
    make_ready(home.lanes[lowest_bit(rest)]);
  }
}

void worker::leave(const round& left) {
  auto& here = const_cast<open_round&>(static_cast<const open_round&>(left));
  if (--here.still_here != 0) return;
  if (here.clock != nullptr) notes::destroy_clock(here.clock);
  here.next = current_->home->free;
  current_->home->free = &here;
}

void worker::block_barrier(call_site site) {
  lane& me = *current_;
  warp& home = *me.home;
  block& all = *home.home;
  me.site = site;
  for (open_round* each = home.open; each != nullptr; each = each->next) {
    if ((each->group & me.bit()) == 0) continue;
    fail({fault::kind::barrier_and_group, nullptr, &home.lanes[lowest_bit(each->arrived)]});
  }
  void* const clock = all.clocks[all.barrier % 2];
  notes::release(clock);
  if (all.at_barrier + 1 == all.live) {
    open_barrier(all);
    switch_point();
  } else {
    ++all.at_barrier;
    home.at_barrier |= me.bit();
    me.now = lane::state::barrier;
    suspend();
  }
  notes::acquire(clock);
}

// Lets all lanes at the barrier go on.
void worker::open_barrier(block& home) {
  if (explored_ != nullptr) explored_->note_barrier(home, launch_.threads);
  ++home.barrier;
  home.at_barrier = 0;
  for (std::uint32_t thread = 0; thread < launch_.threads; ++thread) {
    if (home.lanes[thread].now == lane::state::barrier) make_ready(home.lanes[thread]);
  }
  for (std::uint32_t first = 0; first < launch_.threads; first += warp_width)
    home.warps[first / warp_width].at_barrier = 0;
}

}  // namespace warpheap::executor
