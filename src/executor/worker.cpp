// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

#include "executor/worker.hpp"

#include <sched.h>

#include <algorithm>
#include <exception>
#include <utility>
#include <warpheap/platform/bits.hpp>

#include "executor/block_storage.hpp"
#include "executor/monitor.hpp"
#include "executor/notes.hpp"
#include "executor/report.hpp"

namespace warpheap::executor {
namespace {

thread_local worker* current_worker = nullptr;

std::uint64_t resident_blocks(const launch_state& launch, std::uint64_t workers) {
  // A worker that runs alone interleaves two blocks at least, or no wait between blocks would ever end.
  const std::uint64_t fitting =
      std::max<std::uint64_t>(launch.plan.resident_lanes / launch.threads, workers > 1 ? 1 : 2);
  return std::min(fitting, divide_up(launch.blocks, workers));
}

std::unique_ptr<policy> make_policy(schedule::policy order, random_stream& random, std::size_t lanes) {
  switch (order) {
    case schedule::policy::random: return std::make_unique<random_order>(random, lanes);
    case schedule::policy::stalling: return std::make_unique<stalling_order>(random, lanes);
    case schedule::policy::round_robin: break;
  }
  return std::make_unique<round_robin>();
}

}  // namespace

worker* this_worker() { return current_worker; }

worker::worker(launch_state& launch, unsigned index, unsigned workers)
    : launch_(launch),
      random_(launch.plan.seed, index),
      explored_(launch.explored),
      policy_(explored_),
      start_clock_(notes::create_clock()) {
  const auto count = static_cast<std::size_t>(resident_blocks(launch, workers));
  const std::size_t lanes = count * launch.threads;
  if (explored_ == nullptr) {
    own_policy_ = make_policy(launch.plan.order, random_, lanes);
    policy_ = own_policy_.get();
  }
  blocks_.resize(count);
  vacant_.reserve(count);
  for (block& each : blocks_) {
    const auto warps = static_cast<std::size_t>(divide_up(launch.threads, warp_width));
    each.home = this;
    each.lanes = std::make_unique<lane[]>(launch.threads);
    each.warps = std::make_unique<warp[]>(warps);
    // Without a value: most rounds of a warp are never used.
    each.rounds = std::make_unique_for_overwrite<open_round[]>(warps * warp_width);
    each.shared = block_storage{launch.shared_bytes};
  }
  for (auto each = blocks_.rbegin(); each != blocks_.rend(); ++each) vacant_.push_back(&*each);
}

worker::~worker() { notes::destroy_clock(start_clock_); }

std::uint64_t worker::launch_number() const { return launch_.number; }

void worker::work() {
  self_.strand = notes::this_strand();
  current_worker = this;
  try {
    schedule_lanes();
  } catch (const std::exception& problem) {
    launch_.fail(problem.what());
  }
  current_worker = nullptr;
  if (explored_ != nullptr) explored_->finish();
  if (launch_.failed()) {
    last_words_ = describe_lanes(*this);
    abandon_lanes();
  }
  finished_.set(1);
}

void worker::schedule_lanes() {
  while (!launch_.failed()) {
    while (blocks_left_ && !vacant_.empty()) admit();
    lane* const next = policy_->take();
    if (next == nullptr) {
      // All blocks are done: settle() tells when lanes are left that cannot run. Only an explorer leaves lanes that
      // can.
      if (live_lanes_ != 0) launch_.fail(explored_->reason());
      return;
    }
    turn(*next);
  }
}

void worker::admit() {
  const std::uint64_t index = launch_.next_block.take_next();
  if (index >= launch_.blocks) {
    blocks_left_ = false;
    return;
  }
  block& fresh = *vacant_.back();
  vacant_.pop_back();
  start_block(fresh, index);
  moved();
}

void worker::start_block(block& fresh, std::uint64_t index) {
  fresh.index = index;
  fresh.live = fresh.able = launch_.threads;
  fresh.at_barrier = 0;
  fresh.barrier = 0;
  for (void*& clock : fresh.clocks) clock = notes::create_clock();
  fresh.shared.clear();
  live_lanes_ += launch_.threads;
  for (std::uint32_t thread = 0; thread < launch_.threads; ++thread) {
    const std::uint32_t number = thread / warp_width;
    warp& home = fresh.warps[number];
    if (thread % warp_width == 0) {
      home = {};
      home.lanes = &fresh.lanes[thread];
      home.rounds = &fresh.rounds[number * warp_width];
      home.home = &fresh;
    }
    lane& born = fresh.lanes[thread];
    born = {};
    born.place = {index, launch_.blocks, thread, launch_.threads, static_cast<int>(thread % warp_width)};
    born.home = &home;
    home.members |= born.bit();
    ++home.able;
  }
  for (std::uint32_t thread = 0; thread < launch_.threads; ++thread) {
    lane& born = fresh.lanes[thread];
    born.stack = &fibers().take(launch_.number);
    born.stack->start(&worker::lane_main, &born);
    policy_->put(born);
  }
  notes::release(start_clock_);
}

void worker::end_block(block& over) {
  for (void* clock : over.clocks) notes::destroy_clock(clock);
  vacant_.push_back(&over);
}

void worker::lane_main(void* self) {
  lane& me = *static_cast<lane*>(self);
  block& home = *me.home->home;
  worker& here = *home.home;
  launch_state& launch = here.launch_;
  arrived(*here.left_);
  notes::acquire(here.start_clock_);
  const char* problem = nullptr;
  try {
    launch.entry(launch.context, home.shared.data());
  } catch (const std::exception& thrown) {
    problem = here.keep(thrown.what());
  } catch (...) {
    problem = here.keep("something that is no std::exception");
  }
  // Not in the handlers: an exception whose handler does not end is never freed.
  if (problem != nullptr) here.fail({fault::kind::exception, problem, nullptr});
  notes::release(&launch.done_clock);
  me.now = lane::state::exited;
  me.waiting = false;
  leave_context(me.stack->state, here.self_);
}

const char* worker::keep(const char* message) {
  std::size_t length = 0;
  for (; message[length] != '\0' && length + 1 < sizeof(exception_message_); ++length) {
    exception_message_[length] = message[length];
  }
  exception_message_[length] = '\0';
  return exception_message_;
}

void worker::begin_turn(lane& next) {
  ++next.home->turns;
  progress_.increment();
  current_ = &next;
}

void worker::turn(lane& next) {
  begin_turn(next);
  left_ = &self_;
  switch_context(self_, next.stack->state);
  lane& last = *std::exchange(current_, nullptr);
  settle(last);
}

void worker::suspend() {
  lane& me = *current_;
  lane* const next = choose_next();
  if (next == &me) return;
  left_ = &me.stack->state;
  switch_context(me.stack->state, next != nullptr ? next->stack->state : self_);
}

// Most turns end with nothing to settle but who is next. Then a lane does what `settle` and `schedule_lanes` would, in
// the same order, and goes to that lane at once: one switch of stacks instead of two.
lane* worker::choose_next() {
  lane& me = *current_;
  warp& home = *me.home;
  const bool goes_on = me.now == lane::state::ready;
  const bool others_can = me.now == lane::state::meeting && home.home->able > 1;
  if ((!goes_on && !others_can) || me.waiting || home.gathering != 0 || launch_.failed() || explored_ != nullptr) {
    return nullptr;
  }
  if (goes_on) {
    policy_->put(me);
  } else {
    park(me);
  }
  moved();
  lane& next = *policy_->take();  // there is one: the caller, or another lane of its block
  begin_turn(next);
  return &next;
}

void worker::settle(lane& last) {
  warp& home = *last.home;
  switch (last.now) {
    case lane::state::ready: policy_->put(last); break;
    case lane::state::meeting:
    case lane::state::gathering:
    case lane::state::barrier: park(last); break;
    case lane::state::exited: settle_exit(last); break;
    case lane::state::failed: launch_.fail(describe_fault(last)); return;
  }
  if (last.waiting) {
    idle();
  } else {
    moved();
  }
  if (home.gathering != 0 && (home.able == 0 || home.turns >= home.gather_due)) release_gathered(home);
  if (home.home->able == 0 && home.home->live != 0) launch_.fail(describe_deadlock(*home.home));
}

void worker::settle_exit(lane& last) {
  warp& home = *last.home;
  block& all = *home.home;
  fibers().give(*std::exchange(last.stack, nullptr));
  home.exited |= last.bit();
  --home.able;
  --all.able;
  --all.live;
  --live_lanes_;
  for (open_round* each = home.open; each != nullptr; each = each->next) {
    if ((each->group & last.bit()) == 0) continue;
    last.why = {fault::kind::exited_while_named, nullptr, &home.lanes[lowest_bit(each->arrived)]};
    launch_.fail(describe_fault(last));
    return;
  }
  if (all.live == 0) {
    end_block(all);
  } else if (all.at_barrier == all.live) {
    open_barrier(all);
  }
}

void worker::park(lane& parked) {
  --parked.home->able;
  --parked.home->home->able;
}

void worker::make_ready(lane& parked) {
  parked.now = lane::state::ready;
  ++parked.home->able;
  ++parked.home->home->able;
  policy_->put(parked);
}

void worker::wait(call_site site) {
  current_->waiting = true;
  current_->wait_site = site;
  if (explored_ != nullptr) explored_->announce_wait(*current_, site);
  suspend();
}

void worker::end_wait() {
  current_->waiting = false;
  if (explored_ != nullptr) explored_->end_wait(*current_);
  moved();
}

std::uint32_t worker::processor() {
  return launch_.plan.fuzz ? random_.below(processors())
                           : static_cast<std::uint32_t>(current_->place.block % processors());
}

void worker::fail(fault why) {
  current_->why = why;
  current_->now = lane::state::failed;
  suspend();
  std::abort();  // a lane that had failed was run again
}

void worker::moved() {
  moves_.increment();
  idle_turns_ = 0;
}

// A lane that waits had its turn. A round of them is as many turns as lanes live here, so that each had one on average.
//
// The launch is stalled when each worker of the process has seen `stalled_rounds` rounds of nothing but waiting while
// none of them moved: a launch of another host thread may be about to do what this one waits for. A worker that the
// system does not run for a while cannot be taken for a stalled one: it has to count its rounds itself, and says at
// which number of moves of all workers it began to. Moves are counted after what they did is done. So if all workers
// began at the number that still holds, each has looked, often, after the last change.
//
// After a few such rounds it is quiet: what a test holds until all others wait goes on.
void worker::idle() {
  constexpr std::uint64_t quiet_rounds = 8;
  if (++idle_turns_ % live_lanes_ != 0) return;
  const auto [moves, workers] = progress_of_process();
  if (workers > 1) ::sched_yield();
  if (moves != idle_since_) {
    idle_since_ = moves;
    idle_rounds_ = 0;
    return;
  }
  if (++idle_rounds_ >= quiet_rounds) quiet_since_.set(moves + 1);
  if (idle_rounds_ >= launch_.plan.stalled_rounds) {
    stalled_since_.set(moves + 1);
    if (process_stalled_since(moves)) launch_.fail(describe_stall(launch_.plan));
  }
}

void worker::abandon_lanes() {
  for (block& each : blocks_) {
    for (std::uint32_t thread = 0; thread < launch_.threads; ++thread) {
      lane& left = each.lanes[thread];
      if (left.stack == nullptr) continue;
      // What the lane did comes before what the host does next, as if it had ended.
      notes::enter_strand(left.stack->state.strand);
      notes::release(&launch_.done_clock);
      notes::enter_strand(self_.strand);
      fibers().discard(*std::exchange(left.stack, nullptr));
    }
  }
}

}  // namespace warpheap::executor
