// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>
#include <warpheap/platform/schedule.hpp>

#include "executor/quiet.hpp"

namespace warpheap::executor {

class explorer;
class worker;

/// One launch: what it runs, and what its workers share.
struct launch_state {
  const std::uint64_t blocks;
  const std::uint32_t threads;
  const std::size_t shared_bytes;
  void (*const entry)(void* context, void* shared);
  void* const context;
  const schedule plan;
  const std::uint64_t number;  ///< counts the launches of the process
  explorer* const explored;    ///< chooses the schedule; null if `plan` does

  std::vector<std::unique_ptr<worker>> workers{};
  published next_block{};  ///< the first block that no worker has taken
  char done_clock = 0;     ///< orders what lanes did before what follows the launch

  /// Makes all workers stop. The first reason counts.
  void fail(std::string reason);
  bool failed() const { return has_failed.get() != 0; }

  /// What all workers' lanes have done so far; grows with each turn of a lane that does not wait.
  std::uint64_t moves() const;
  /// True if each worker has finished or has found that its lanes only wait since the moves of the process counted
  /// `moves`.
  bool all_stalled_since(std::uint64_t moves) const;
  /// As `all_stalled_since`, after a few rounds already.
  bool all_quiet_since(std::uint64_t moves) const;

  quiet_lock failing{};
  published has_failed{};
  std::string why{};
};

}  // namespace warpheap::executor
