// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The loop of an exploration, schedules as text, and the report of a failure.

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>
#include <warpheap/platform/exploration.hpp>
#include <warpheap/platform/schedule.hpp>

#include "executor/explorer.hpp"

namespace warpheap::executor {
namespace {

constexpr const char* replay_variable = "WARPHEAP_EXPLORE_REPLAY";

// The lanes of a schedule such as "0*3,1*2,0".
std::vector<std::uint8_t> parse_schedule(const std::string& text) {
  const auto refuse = [&] {
    throw std::invalid_argument(std::string{replay_variable} +
                                " or exploration_options::replay: use a schedule such as "
                                "0*3,1*2,0, lanes below " +
                                std::to_string(explorer::most_lanes) + ", not '" + text + "'");
  };
  constexpr std::size_t longest = std::size_t{1} << 20;
  std::vector<std::uint8_t> lanes;
  std::size_t at = 0;
  const auto number = [&](std::size_t most) {
    std::size_t value = 0;
    const std::size_t from = at;
    for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at) {
      value = value * 10 + static_cast<std::size_t>(text[at] - '0');
      if (value > most) refuse();
    }
    if (at == from) refuse();
    return value;
  };
  while (at < text.size()) {
    const std::size_t lane = number(explorer::most_lanes - 1);
    std::size_t times = 1;
    if (at < text.size() && text[at] == '*') {
      ++at;
      times = number(longest);
    }
    if (lanes.size() + times > longest) refuse();
    lanes.insert(lanes.end(), times, static_cast<std::uint8_t>(lane));
    if (at == text.size()) break;
    if (text[at++] != ',' || at == text.size()) refuse();
  }
  return lanes;
}

std::string replay_of(const exploration_options& options) {
  if (!options.replay.empty()) return options.replay;
  const char* const text = std::getenv(replay_variable);
  return text != nullptr ? text : "";
}

std::string describe(const explorer& search, const std::string& reason, std::uint64_t executions) {
  const std::string schedule = search.schedule();
  std::ostringstream text;
  text << "warpheap: execution " << executions << " of the exploration failed: " << reason << "\n"
       << "  schedule: " << schedule << "\n"
       << "  replay: " << replay_variable << "=" << schedule << " and this scenario alone\n"
       << search.lanes() << search.describe_steps();
  return text.str();
}

// The explorer of the thread while `run()` of a scenario launches its kernel.
class explored_run {
 public:
  explicit explored_run(explorer& search) { this_explorer() = &search; }
  ~explored_run() { this_explorer() = nullptr; }
  explored_run(const explored_run&) = delete;
  explored_run& operator=(const explored_run&) = delete;
};

// Runs one execution; the reason if it failed.
std::string execute(explorer& search, scenario_runner& scenario) {
  search.begin();
  scenario.make();
  try {
    const explored_run guard{search};
    scenario.run();
  } catch (const launch_failure&) {
    return search.reason();  // empty if the explorer ended it
  }
  if (!search.launched()) throw std::logic_error("explore: run() of a scenario launches one kernel, not none");
  try {
    return scenario.check();
  } catch (const launch_failure& failure) {
    return std::string{"the check failed: "} + failure.what();
  }
}

}  // namespace

exploration explore(const exploration_options& options, scenario_runner& scenario) {
  if (this_explorer() != nullptr) throw std::logic_error("explore: a scenario cannot explore another");
  const std::vector<std::uint8_t> replay = parse_schedule(replay_of(options));
  // What a scenario launches beside its kernel repeats itself, too.
  schedule plan;
  plan.workers = 1;
  const scoped_schedule guard{plan};
  explorer search{options, replay};
  exploration result;
  do {
    const std::string reason = execute(search, scenario);
    result.steps = std::max(result.steps, search.steps());
    switch (search.outcome()) {
      case explorer::verdict::redundant: ++result.redundant; break;
      case explorer::verdict::cut: ++result.cut; break;
      default: ++result.executions;
    }
    if (!reason.empty()) {
      result.schedule = search.schedule();
      result.failure = describe(search, reason, result.executions);
      return result;
    }
    if (!search.prepare_next()) {
      result.complete = result.cut == 0 && replay.empty();
      return result;
    }
  } while (result.executions + result.redundant + result.cut < options.most_executions);
  return result;
}

std::string explorer::schedule() const {
  std::ostringstream text;
  for (std::size_t i = 0; i < trace_.size();) {
    std::size_t end = i;
    while (end < trace_.size() && trace_[end].lane == trace_[i].lane) ++end;
    text << (i == 0 ? "" : ",") << int{trace_[i].lane};
    if (end - i > 1) text << "*" << end - i;
    i = end;
  }
  return text.str();
}

std::string explorer::describe_steps() const {
  constexpr std::size_t most_lines = 120;
  constexpr const char* words[] = {"local", "load", "store", "update", "end of a wait"};
  // Objects by the order in which they are met, since addresses say nothing and change.
  std::vector<const void*> objects;
  std::ostringstream text;
  const std::size_t from = trace_.size() > most_lines ? trace_.size() - most_lines : 0;
  text << "  steps" << (from != 0 ? ", the last of them" : "") << ":\n";
  for (std::size_t i = 0; i < trace_.size(); ++i) {
    const step& each = trace_[i];
    std::size_t object = 0;
    if (each.object != nullptr) {
      const auto found = std::find(objects.begin(), objects.end(), each.object);
      object = static_cast<std::size_t>(found - objects.begin());
      if (found == objects.end()) objects.push_back(each.object);
    }
    if (i < from) continue;
    text << "    " << i << ": lane " << int{each.lane} << ", " << words[static_cast<int>(each.what)];
    if (each.object != nullptr) text << " of object " << object << (each.changes ? ", which changes" : "");
    text << "\n";
  }
  return text.str();
}

}  // namespace warpheap::executor
