// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <warpheap/platform/call_site.hpp>

/// The host executor: runs a grid of lanes as fibers on worker threads. Only the headers in `platform/host/` call it;
/// its body is `src/executor/`. `docs/design/host_executor.md` tells how it works.
namespace warpheap::executor {

#if defined(WARPHEAP_HOST_WARP_WIDTH)
inline constexpr int warp_width = WARPHEAP_HOST_WARP_WIDTH;
#else
inline constexpr int warp_width = 32;
#endif
static_assert(warp_width == 32 || warp_width == 4 || warp_width == 1, "WARPHEAP_HOST_WARP_WIDTH: use 32, 4 or 1");

/// Where the calling lane stands in its grid. A thread that runs no lane stands alone in a grid of one.
struct lane_place {
  std::uint64_t block;
  std::uint64_t grid_blocks;
  std::uint32_t thread;
  std::uint32_t block_threads;
  int lane;
};
const lane_place& place() noexcept;

/// Which launch of the process the calling lane belongs to, counted from 1; 0 for a thread that runs no lane.
std::uint64_t launch_number() noexcept;

/// What lanes of a group can meet for. Lanes go on only when all named ones have come for the same one.
enum class meeting : std::uint8_t { sync, ballot, shuffle, match };

/// What the lanes of a group brought to a meeting: `values[lane]` for each lane of `group`, and as `votes` the lanes
/// whose value is not 0.
struct round {
  std::uint32_t group;
  std::uint32_t votes;
  std::uint64_t values[warp_width];
};

/// Parks the lane until each lane of `group` has called with the same `group` and `what`; returns what all brought. The
/// round stays readable until `leave`. A `group` that lacks the caller, names a lane that has exited or does not exist,
/// or meets a lane of `group` parked for something else that in turn waits for the caller, fails the launch.
///
/// Only `meeting::sync` orders memory, as on a GPU: votes and shuffles carry values, not order.
const round& meet(meeting what, std::uint32_t group, std::uint64_t value, call_site site);
/// Ends the caller's use of a round.
void leave(const round&) noexcept;

/// Parks the lane until lanes at the same `site` have gathered, for a bounded number of turns; returns those that go
/// on together, the caller among them. In fuzz mode a random subset.
std::uint32_t gather(call_site site);

/// Parks the lane until every thread of its block that has not exited is here.
void block_barrier(call_site site);

/// A point where another lane may run.
void switch_point() noexcept;

/// What an atomic operation does to its object.
enum class access : std::uint8_t { load, store, update, fence };
/// The switch point before an atomic operation on the `bytes` bytes at `object`, or before a fence, which has no
/// object.
void access_point(access what, const void* object, std::size_t bytes) noexcept;

/// Under ThreadSanitizer, which knows no fences: the caller is about to write the atomic word at `word`, has written
/// it, has read it with an order that is no acquire, or passes a fence. Else each does nothing.
void note_write(void* word, bool releases) noexcept;
void note_written(void* word, bool releases) noexcept;
void note_read(void* word) noexcept;
void note_fence(bool releases, bool acquires) noexcept;

/// The lane waits for another one at `site`: others run first. `end_wait` tells that it waits no longer. When all
/// lanes wait or are parked and nothing moves, the launch fails with a report.
void wait(call_site site);
void end_wait() noexcept;

/// Index of the processor that the lane is said to run on, below `processors()`; may differ from call to call when
/// the schedule is fuzzed, as it may on a GPU.
std::uint32_t processor() noexcept;
std::uint32_t processors() noexcept;

/// A steady clock in nanoseconds.
std::uint64_t nanoseconds() noexcept;

/// Fails the launch with `message` and a report of all lanes, if the caller is a lane; otherwise ends the process.
[[noreturn]] void fail(const char* message, call_site site);

/// Runs `blocks` times `threads` lanes, each calling `entry(context, shared)`, where `shared` is storage of its block:
/// `shared_bytes` zeroed bytes. Returns when all have exited; throws `launch_failure` when the watchdog, a check or a
/// collective failed the launch. Not to be called from a lane.
void run(std::uint64_t blocks, std::uint32_t threads, std::size_t shared_bytes,
         void (*entry)(void* context, void* shared), void* context);

}  // namespace warpheap::executor
