// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// active_group: lanes of a warp that come to the same place within a bounded time go on as one group.

#include <cstring>

#include <warpheap/platform/bits.hpp>

#include "executor/worker.hpp"

namespace warpheap::executor {
namespace {

bool same_place(call_site a, call_site b) {
  return a.line == b.line && (a.file == b.file || std::strcmp(a.file, b.file) == 0);
}

}  // namespace

std::uint32_t worker::gather(call_site site) {
  lane& me = *current_;
  // An explored schedule has no turns to wait for; the caller alone is a group that any code must be right for.
  if (explored_ != nullptr) return me.bit();
  warp& home = *me.home;
  const unsigned bound = launch_.plan.gather_turns;
  me.site = site;
  me.gather_end = home.turns + (launch_.plan.fuzz ? random_.below(bound + 1) : bound);
  if (home.gathering == 0 || me.gather_end < home.gather_due) home.gather_due = me.gather_end;
  home.gathering |= me.bit();
  me.now = lane::state::gathering;
  suspend();
  return me.group;
}

// Lets those lanes go on that gather where the lane stands that is due first.
void worker::release_gathered(warp& home) {
  const lane* first = nullptr;
  for (std::uint32_t rest = home.gathering; rest != 0; rest &= rest - 1) {
    const lane& each = home.lanes[lowest_bit(rest)];
    if (first == nullptr || each.gather_end < first->gather_end) first = &each;
  }
  std::uint32_t together = 0;
  std::uint64_t due = ~std::uint64_t{0};
  for (std::uint32_t rest = home.gathering; rest != 0; rest &= rest - 1) {
    const lane& each = home.lanes[lowest_bit(rest)];
    if (same_place(each.site, first->site)) {
      together |= each.bit();
    } else if (each.gather_end < due) {
      due = each.gather_end;
    }
  }
  home.gathering &= ~together;
  home.gather_due = due;
  while (together != 0) {
    const std::uint32_t part = launch_.plan.fuzz ? random_part(together) : together;
    hand_out(home, part);
    together &= ~part;
  }
}

void worker::hand_out(warp& home, std::uint32_t group) {
  for (std::uint32_t rest = group; rest != 0; rest &= rest - 1) {
    lane& each = home.lanes[lowest_bit(rest)];
    each.group = group;
    make_ready(each);
  }
}

// A part of `group` that is not empty: all of it, any half of it, or one lane.
std::uint32_t worker::random_part(std::uint32_t group) {
  const std::uint32_t kind = random_.below(4);
  if (kind == 0) return std::uint32_t{1} << nth_set_bit(group, static_cast<int>(random_.below(popcount(group))));
  const std::uint32_t part = kind == 1 ? group & static_cast<std::uint32_t>(random_.next()) : group;
  return part != 0 ? part : group;
}

}  // namespace warpheap::executor
