// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Lanes that a test holds at stop points. A held lane takes turns and does nothing in them, so it blocks no thread of
// the host, and other lanes, also of its warp and its block, go on.

#include "executor/holds.hpp"

#include <cstring>
#include <mutex>

#include "executor/monitor.hpp"
#include "executor/quiet.hpp"
#include "executor/worker.hpp"

namespace warpheap::executor {
namespace {

struct hold_list {
  quiet_lock lock{};
  hold* first = nullptr;
};

constinit hold_list holds_now{};

}  // namespace

void add_hold(hold& wanted) {
  {
    const std::lock_guard guard(holds_now.lock);
    hold** end = &holds_now.first;
    while (*end != nullptr) end = &(*end)->next;
    *end = &wanted;
  }
  __atomic_fetch_add(&holds_in_force, 1u, __ATOMIC_RELAXED);
}

void remove_hold(hold& ended) {
  __atomic_fetch_sub(&holds_in_force, 1u, __ATOMIC_RELAXED);
  const std::lock_guard guard(holds_now.lock);
  hold** link = &holds_now.first;
  while (*link != &ended) link = &(*link)->next;
  *link = ended.next;
}

bool has_held(const hold& which) noexcept { return __atomic_load_n(&which.has_held, __ATOMIC_ACQUIRE) != 0; }

void end_hold(hold& which) noexcept { __atomic_store_n(&which.is_over, 1u, __ATOMIC_RELEASE); }

bool is_over(const hold& which) { return __atomic_load_n(&which.is_over, __ATOMIC_ACQUIRE) != 0; }

hold* find_hold(const char* name, std::uint64_t thread) {
  const std::lock_guard guard(holds_now.lock);
  for (hold* each = holds_now.first; each != nullptr; each = each->next) {
    if (has_held(*each) || is_over(*each)) continue;
    if (each->thread != hold::any_thread && each->thread != thread) continue;
    if (std::strcmp(each->name, name) != 0) continue;
    if (each->arrivals++ < each->passes) continue;
    __atomic_store_n(&each->has_held, 1u, __ATOMIC_RELEASE);
    return each;
  }
  return nullptr;
}

std::string describe_holds() {
  const std::lock_guard guard(holds_now.lock);
  std::string text;
  for (const hold* each = holds_now.first; each != nullptr; each = each->next) {
    if (is_over(*each)) continue;
    text += has_held(*each) ? "; nobody releases the lane that a test holds at the stop point '"
                            : "; no lane came to be held at the stop point '";
    text += each->name + std::string{"'"};
  }
  return text;
}

void stop_point(const char* name, call_site site) {
  if (worker* const found = this_worker()) found->stop_point(name, site);
}

void worker::stop_point(const char* name, call_site site) {
  lane& me = *current_;
  hold* const mine = find_hold(name, me.place.block * me.place.block_threads + me.place.thread);
  if (mine == nullptr) return;
  me.site = site;
  if (explored_ != nullptr) {
    fail({fault::kind::check, "a lane cannot be held in an exploration, which runs all schedules anyhow", nullptr});
  }
  me.held_at = name;
  me.wait_site = site;
  for (std::uint64_t turn = 0; turn != mine->turns && !is_over(*mine); ++turn) {
    me.waiting = true;
    suspend();
    if (mine->ends_when_others_wait && process_is_quiet()) break;
  }
  end_hold(*mine);
  me.held_at = nullptr;
  end_wait();
}

}  // namespace warpheap::executor
