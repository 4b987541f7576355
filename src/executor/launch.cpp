// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <mutex>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>
#include <warpheap/platform/bits.hpp>
#include <warpheap/platform/executor.hpp>

#include "executor/explorer.hpp"
#include "executor/launch_state.hpp"
#include "executor/monitor.hpp"
#include "executor/notes.hpp"
#include "executor/report.hpp"
#include "executor/worker.hpp"

namespace warpheap::executor {

void launch_state::fail(std::string reason) {
  const std::lock_guard guard(failing);
  if (failed()) return;
  why = std::move(reason);
  has_failed.set(1);
}

std::uint64_t launch_state::moves() const {
  std::uint64_t sum = 0;
  for (const auto& each : workers) sum += each->moves();
  return sum;
}

bool launch_state::all_stalled_since(std::uint64_t moves) const {
  return std::all_of(workers.begin(), workers.end(), [moves](const auto& each) { return each->stalled_since(moves); });
}

bool launch_state::all_quiet_since(std::uint64_t moves) const {
  return std::all_of(workers.begin(), workers.end(), [moves](const auto& each) { return each->quiet_since(moves); });
}

namespace {

unsigned host_cores() {
  static const unsigned cores = std::max(std::thread::hardware_concurrency(), 1u);
  return cores;
}

// Runs all workers, the first on the calling thread.
void run_workers(launch_state& launch) {
  std::vector<std::thread> helpers;
  for (std::size_t i = 1; i < launch.workers.size(); ++i) {
    try {
      helpers.emplace_back([&each = *launch.workers[i]] { each.work(); });
    } catch (const std::system_error&) {
      // The machine has no thread to spare: those that run take its share.
      launch.workers[i]->retire();
    }
  }
  launch.workers.front()->work();
  for (std::thread& each : helpers) each.join();
}

// The explorer of the launch, if it is the one of a scenario that is run.
explorer* begin_explored(std::uint64_t blocks, std::uint32_t threads) {
  explorer* const found = this_explorer();
  if (found == nullptr) return nullptr;
  if (found->launched()) throw std::logic_error("explore: run() of a scenario launches one kernel, not several");
  if (blocks > explorer::most_lanes || blocks * threads > explorer::most_lanes) {
    throw std::logic_error("explore: a kernel of at most " + std::to_string(explorer::most_lanes) + " lanes, not of " +
                           std::to_string(blocks) + " blocks of " + std::to_string(threads));
  }
  found->note_launch(blocks * threads);
  return found;
}

// All blocks at once on one worker; an explored wait that never ends is found by the explorer.
schedule explored_plan() {
  schedule plan;
  plan.workers = 1;
  plan.stalled_rounds = ~0u;
  return plan;
}

}  // namespace

void run(std::uint64_t blocks, std::uint32_t threads, std::size_t shared_bytes,
         void (*entry)(void* context, void* shared), void* context) {
  static published launches;
  if (this_worker() != nullptr) fail("launch: a kernel cannot launch another", call_site::current());
  if (threads < 1 || threads > 1024) {
    throw launch_failure("warpheap: a block has 1 to 1024 threads, not " + std::to_string(threads));
  }
  if (blocks == 0) return;
  explorer* const explored = begin_explored(blocks, threads);
  const schedule plan = explored != nullptr ? explored_plan() : current_schedule();
  const std::uint64_t wanted = plan.workers != 0 ? plan.workers : host_cores();
  const auto workers = static_cast<unsigned>(std::min(wanted, blocks));

  launch_state launch{blocks, threads, shared_bytes, entry, context, plan, launches.take_next() + 1, explored};
  for (unsigned i = 0; i < workers; ++i) launch.workers.push_back(std::make_unique<worker>(launch, i, workers));
  {
    const watch watched(launch);
    run_workers(launch);
  }
  notes::acquire(&launch.done_clock);
  if (!launch.failed()) return;
  std::string lanes;
  for (const auto& each : launch.workers) lanes += each->last_words();
  if (explored != nullptr) explored->note_failure(launch.why, lanes);
  throw launch_failure(describe_failure(launch, launch.why, lanes));
}

}  // namespace warpheap::executor
