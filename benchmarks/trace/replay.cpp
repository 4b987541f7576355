// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#include "replay.hpp"

#include <algorithm>

namespace warpheap::bench {
namespace {

// Frees the places that are left, spread over as many threads as the trace has.
trace_phase ending_of(const trace_figures& figures) {
  trace_phase ending;
  const std::uint64_t share = divide_up(figures.left.size(), std::max<std::uint64_t>(figures.threads, 1));
  for (std::uint64_t i = 0; i < figures.left.size(); ++i) {
    ending.add(i / share, {figures.left[i], trace_operation::free_mark});
  }
  return ending;
}

}  // namespace

replay_plan::replay_plan(const trace& of, std::uint64_t threads)
    : figures_(examine(of)),
      copies_(std::max<std::uint64_t>(threads / std::max<std::uint64_t>(figures_.threads, 1), 1)),
      places_(copies_ * figures_.places),
      tally_(1) {
  for (const trace_phase& phase : of.phases) phases_.push_back(place(phase));
  ending_ = place(ending_of(figures_));
}

replay_phase replay_plan::place(const trace_phase& phase) {
  starts_.emplace_back(phase.starts);
  operations_.emplace_back(phase.operations);
  return {starts_.back().data(), operations_.back().data(), phase.threads()};
}

replay_state replay_plan::state(std::uint64_t salt, bool all_over) const {
  return {places_.data(), figures_.places, copies_, salt, all_over, tally_.data()};
}

replay_tally replay_plan::take_tally() {
  const replay_tally seen = tally_.at(0);
  tally_.clear();
  return seen;
}

address_findings replay_plan::look(std::uint64_t alignment) const {
  std::vector<void*> blocks;
  std::vector<std::uint64_t> bytes;
  for (const replay_place& each : places_.to_host()) {
    blocks.push_back(each.block);
    bytes.push_back(each.bytes);
  }
  return judge_addresses(bytes, blocks, alignment);
}

}  // namespace warpheap::bench
