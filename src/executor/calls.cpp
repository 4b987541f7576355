// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The functions of platform/executor.hpp that a lane calls: each goes to the worker that runs the lane, or answers for
// a thread that runs none.

#include <sched.h>

#include <cstdio>
#include <cstdlib>
#include <warpheap/platform/executor.hpp>

#include "executor/worker.hpp"

namespace warpheap::executor {
namespace {

worker& worker_of_lane(const char* message, call_site site) {
  worker* const found = this_worker();
  if (found == nullptr) fail(message, site);
  return *found;
}

// Those of a thread that runs no lane.
struct thread_fences : fence_notes {
  ~thread_fences() { forget(); }
};

// Never called by a lane, in whose strand the record's destructor would be registered.
fence_notes& fences_of_thread() {
  thread_local thread_fences outside;
  return outside;
}

fence_notes& fences_of_caller() {
  worker* const found = this_worker();
  return found != nullptr ? found->running().stack->fences : fences_of_thread();
}

constexpr const char* needs_kernel = "a collective was called outside a kernel: start the code with launch()";

}  // namespace

const lane_place& place() noexcept {
  static constexpr lane_place alone{0, 1, 0, 1, 0};
  worker* const found = this_worker();
  return found != nullptr ? found->running().place : alone;
}

std::uint64_t launch_number() noexcept {
  worker* const found = this_worker();
  return found != nullptr ? found->launch_number() : 0;
}

const round& meet(meeting what, std::uint32_t group, std::uint64_t value, call_site site) {
  return worker_of_lane(needs_kernel, site).meet(what, group, value, site);
}

void leave(const round& left) noexcept { this_worker()->leave(left); }

std::uint32_t gather(call_site site) { return worker_of_lane(needs_kernel, site).gather(site); }

void block_barrier(call_site site) { worker_of_lane(needs_kernel, site).block_barrier(site); }

void switch_point() noexcept {
  if (worker* const found = this_worker()) found->switch_point();
}

void access_point(access what, const void* object, std::size_t bytes) noexcept {
  if (worker* const found = this_worker()) found->access_point(what, object, bytes);
}

void note_write(void* word, bool releases) noexcept { fences_of_caller().begin_write(word, releases); }

void note_written(void* word, bool releases) noexcept { fences_of_caller().end_write(word, releases); }

void note_read(void* word) noexcept { fences_of_caller().read(word); }

void note_fence(bool releases, bool acquires) noexcept {
  fence_notes& caller = fences_of_caller();
  if (acquires) caller.acquire();  // first, so that the release passes it on
  if (releases) caller.release();
}

void wait(call_site site) {
  if (worker* const found = this_worker()) {
    found->wait(site);
  } else {
    ::sched_yield();
  }
}

void end_wait() noexcept {
  if (worker* const found = this_worker()) found->end_wait();
}

std::uint32_t processor() noexcept {
  worker* const found = this_worker();
  return found != nullptr ? found->processor() : 0;
}

std::uint32_t processors() noexcept { return 4; }

void fail(const char* message, call_site site) {
  if (worker* const found = this_worker()) {
    found->running().site = site;
    found->fail({fault::kind::check, message, nullptr});
  }
  std::fprintf(stderr, "warpheap: %s (%s:%u)\n", message, site.file, site.line);
  std::abort();
}

}  // namespace warpheap::executor
