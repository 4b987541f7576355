// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// What the executor knows of each lane, warp and block that is under way. All of it belongs to one worker thread and
/// is read and written by its scheduler and its lanes in turn, so plain fields serve.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <warpheap/platform/executor.hpp>

#include "executor/block_storage.hpp"
#include "executor/fiber.hpp"

namespace warpheap::executor {

struct lane;
struct warp;
struct block;
class worker;

/// Why a launch cannot go on, as the lane or the scheduler that noticed it left it for the report.
struct fault {
  enum class kind : std::uint8_t {
    none,
    check,                ///< `message` says what
    exception,            ///< `message` is what the exception said
    group_lacks_caller,   ///< a collective whose `group` lacks the lane
    group_names_no_lane,  ///< … names lanes that the block does not have
    group_names_exited,   ///< … names lanes that have exited
    exited_while_named,   ///< the lane exited; `other` is parked with a group that names it
    mismatch,             ///< the lane and `other` name each other with another operation or group
    barrier_and_group,    ///< the lane and `other` wait for each other, one in a group, one at the block barrier
  };
  kind what = kind::none;
  const char* message = nullptr;
  const lane* other = nullptr;
};

struct lane {
  enum class state : std::uint8_t {
    ready,      ///< runs or could run
    meeting,    ///< parked in a round until its group is complete
    gathering,  ///< parked in active_group
    barrier,    ///< parked at the block barrier
    exited,
    failed  ///< stopped for good; `why` says what for
  };

  lane_place place{};
  state now = state::ready;
  bool waiting = false;           ///< in a backoff, from its first pause to its end; or held
  const char* held_at = nullptr;  ///< the stop point at which a test holds it
  meeting what{};                 ///< of the latest collective
  std::uint32_t group = 0;
  call_site site{};              ///< of the latest collective, gathering or barrier
  call_site wait_site{};         ///< of the latest pause
  std::uint64_t gather_end = 0;  ///< turn of the warp at which a gathering lane has waited long enough
  fault why{};
  warp* home = nullptr;
  fiber* stack = nullptr;
  lane* next = nullptr;  ///< in the queue of a policy

  std::uint32_t bit() const { return std::uint32_t{1} << place.lane; }
};

/// A round that lanes come to: it opens with the first, is complete with the last, and goes back when all have left.
struct open_round : round {
  meeting what{};
  std::uint32_t arrived = 0;
  std::uint32_t still_here = 0;  ///< lanes that have not left
  void* clock = nullptr;         ///< of a sync
  open_round* next = nullptr;    ///< among the warp's open rounds, or its free ones
};

struct warp {
  lane* lanes = nullptr;      ///< the warp's first lane; the others follow
  std::uint32_t members = 0;  ///< lanes that the warp has
  std::uint32_t exited = 0;
  std::uint32_t gathering = 0;
  std::uint32_t at_barrier = 0;
  std::uint32_t able = 0;        ///< number of lanes that are ready
  std::uint64_t turns = 0;       ///< times that one of its lanes has run
  std::uint64_t gather_due = 0;  ///< the earliest `gather_end` of the gathering lanes
  open_round* open = nullptr;    ///< incomplete rounds
  open_round* free = nullptr;    ///< rounds that all have left
  open_round* rounds = nullptr;  ///< `warp_width` of them, enough as a lane is in one at most
  int rounds_used = 0;           ///< how many of them were ever open
  block* home = nullptr;
};

struct block {
  std::uint64_t index = 0;
  std::uint32_t live = 0;        ///< lanes that have not exited
  std::uint32_t able = 0;        ///< lanes that are ready
  std::uint32_t at_barrier = 0;  ///< lanes that are parked at the block barrier
  unsigned barrier = 0;          ///< number of barriers passed
  void* clocks[2] = {};          ///< of barriers with even and odd numbers: lanes are one barrier apart at most
  block_storage shared;
  worker* home = nullptr;
  std::unique_ptr<lane[]> lanes;
  std::unique_ptr<warp[]> warps;
  std::unique_ptr<open_round[]> rounds;
};

}  // namespace warpheap::executor
