// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

#include "executor/report.hpp"

#include <algorithm>
#include <sstream>
#include <utility>
#include <vector>
#include <warpheap/platform/bits.hpp>

#include "executor/holds.hpp"
#include "executor/worker.hpp"

namespace warpheap::executor {
namespace {

constexpr std::size_t most_lines = 64;

std::string at(call_site site) { return std::string{site.file} + ":" + std::to_string(site.line); }

std::string collective(meeting what, std::uint32_t group) {
  constexpr const char* names[] = {"sync", "ballot", "shuffle", "match"};
  std::ostringstream text;
  text << names[static_cast<int>(what)] << "(0x" << std::hex << group << ")";
  return text.str();
}

std::string numbered(const char* noun, std::uint64_t count) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

// "lane 3", "lanes 0-4,7".
std::string lanes_of(std::uint32_t mask) {
  std::string text = is_power_of_two(mask) ? "lane " : "lanes ";
  for (const char* separator = ""; mask != 0; separator = ",") {
    const int first = lowest_bit(mask);
    int last = first;
    while (last < 31 && (mask >> (last + 1) & 1) != 0) ++last;
    text += separator + std::to_string(first) + (last > first ? "-" + std::to_string(last) : "");
    mask &= ~(low_bits(last - first + 1) << first);
  }
  return text;
}

std::string name(const lane& which) {
  return "block " + std::to_string(which.place.block) + ", thread " + std::to_string(which.place.thread) + " (warp " +
         std::to_string(which.place.thread / warp_width) + ", lane " + std::to_string(which.place.lane) + ")";
}

std::string standing(const lane& which) {
  if (which.held_at != nullptr)
    return "held at the stop point '" + std::string{which.held_at} + "' at " + at(which.wait_site);
  switch (which.now) {
    case lane::state::ready: return which.waiting ? "waiting at " + at(which.wait_site) : "ready";
    case lane::state::meeting: return "parked in " + collective(which.what, which.group) + " at " + at(which.site);
    case lane::state::gathering: return "gathering at " + at(which.site);
    case lane::state::barrier: return "at the block barrier at " + at(which.site);
    case lane::state::exited: return "exited";
    case lane::state::failed: break;
  }
  return "failed";
}

// "lanes 0-3 ready; lane 4 exited", in the order of the first lane of each kind.
std::string standing(const warp& which) {
  std::vector<std::pair<std::string, std::uint32_t>> kinds;
  for (std::uint32_t rest = which.members; rest != 0; rest &= rest - 1) {
    const lane& each = which.lanes[lowest_bit(rest)];
    const std::string text = standing(each);
    const auto same = std::find_if(kinds.begin(), kinds.end(), [&](const auto& kind) { return kind.first == text; });
    if (same != kinds.end()) {
      same->second |= each.bit();
    } else {
      kinds.emplace_back(text, each.bit());
    }
  }
  std::string text;
  for (const auto& [words, mask] : kinds) text += (text.empty() ? "" : "; ") + lanes_of(mask) + " " + words;
  return text;
}

std::string where(const lane& which) { return " (" + name(which) + ")"; }

}  // namespace

std::string describe_fault(const lane& culprit) {
  const fault& why = culprit.why;
  // A lane that made no call yet has no place.
  const auto place = [&] { return " at " + at(culprit.site) + where(culprit); };
  const auto call = [](const lane& parked) {
    return collective(parked.what, parked.group) + " at " + at(parked.site) + where(parked);
  };
  switch (why.what) {
    case fault::kind::none: break;
    case fault::kind::check: return why.message + place();
    case fault::kind::exception: return std::string{"an exception left the kernel: "} + why.message + where(culprit);
    case fault::kind::group_lacks_caller: return call(culprit) + ": the group lacks the caller";
    case fault::kind::group_names_no_lane: {
      return call(culprit) + ": the group names " + lanes_of(culprit.group & ~culprit.home->members) +
             ", which the warp does not have";
    }
    case fault::kind::group_names_exited: {
      return call(culprit) + ": the group names " + lanes_of(culprit.group & culprit.home->exited) + ", which exited";
    }
    case fault::kind::exited_while_named: {
      return "a lane exited" + where(culprit) + " while " + call(*why.other) + " waits for it";
    }
    case fault::kind::mismatch: {
      return call(culprit) + " and " + call(*why.other) +
             " wait for each other: lanes of a group must call the same operation with the same group";
    }
    case fault::kind::barrier_and_group: {
      const lane& grouped = why.other->now == lane::state::meeting ? *why.other : culprit;
      const lane& barred = &grouped == &culprit ? *why.other : culprit;
      return call(grouped) + " waits for a lane at the block barrier at " + at(barred.site) + where(barred) +
             ", which waits for it";
    }
  }
  return "a lane failed" + where(culprit);
}

std::string describe_deadlock(const block& stuck) {
  return "deadlock: no lane of block " + std::to_string(stuck.index) + " can go on" + describe_holds();
}

std::string describe_stall(const schedule& plan) {
  return "no progress: all lanes only waited for " + numbered("round", plan.stalled_rounds) + describe_holds();
}

std::string describe_stuck(const schedule& plan, const lane& stuck) {
  return "a lane ran for " + std::to_string(plan.lane_limit.count()) +
         " s without an atomic operation or a collective" + where(stuck);
}

std::string describe_lanes(const worker& where) {
  std::vector<std::string> lines;
  for (const block& each : where.blocks()) {
    if (each.live == 0) continue;
    const auto warps = static_cast<std::uint32_t>(divide_up(where.launch().threads, warp_width));
    std::string text;
    for (std::uint32_t first = 0, next = 0; first < warps; first = next) {
      text = standing(each.warps[first]);
      for (next = first + 1; next < warps && standing(each.warps[next]) == text;) ++next;
      const std::string numbers = std::to_string(first) + (next - first > 1 ? "-" + std::to_string(next - 1) : "");
      lines.push_back("  block " + std::to_string(each.index) + (next - first > 1 ? ", warps " : ", warp ") + numbers +
                      ": " + text + "\n");
    }
  }
  std::string all;
  for (std::size_t i = 0; i < std::min(lines.size(), most_lines); ++i) all += lines[i];
  if (lines.size() > most_lines) all += "  and " + numbered("more line", lines.size() - most_lines) + "\n";
  return all;
}

std::string describe_failure(const launch_state& launch, const std::string& reason, const std::string& lanes) {
  const schedule& plan = launch.plan;
  const char* const order = detail::name_of(plan.order);
  const std::uint64_t started = std::min(launch.next_block.get(), launch.blocks);
  std::ostringstream text;
  text << "warpheap: the launch failed: " << reason << "\n"
       << "  grid: " << numbered("block", launch.blocks) << " of " << numbered("thread", launch.threads) << ", "
       << launch.blocks - started << " not started\n"
       << "  schedule: " << order << ", seed " << plan.seed << ", fuzz " << (plan.fuzz ? "on" : "off") << ", "
       << numbered("worker", launch.workers.size()) << "\n"
       << "  replay: WARPHEAP_SCHEDULE=" << order << " WARPHEAP_SEED=" << plan.seed << " WARPHEAP_FUZZ=" << plan.fuzz
       << " WARPHEAP_WORKERS=1"
       << (launch.workers.size() > 1 ? " (several workers interleave anew each time; with one, try some seeds)" : "")
       << "\n"
       << lanes;
  return text.str();
}

}  // namespace warpheap::executor
