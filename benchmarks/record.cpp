// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#include "record.hpp"

#include <chrono>
#include <ctime>
#include <exception>
#include <string>
#include <utility>
#include <warpheap/heap.hpp>
#include <warpheap/platform.hpp>
#include <warpheap_fingerprint.hpp>

#include "measure/not_served.hpp"

namespace warpheap::bench {
namespace {

std::string utc_now() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

// Why the design cannot take part in the case at all; empty if it can.
std::string unfit(const run_options& options, const allocator_capabilities& can, size_meaning size) {
  if (size == size_meaning::of_requests && options.size > can.largest_bytes) {
    return serves_no_more_than(can.largest_bytes);
  }
  if (can.reuses_live_memory && options.threads > options.heap_bytes / 3 / align_up(options.size, can.alignment)) {
    return "the design hands out live memory again once requests have gone around the heap; use a heap of three times "
           "the bytes of a round";
  }
  if (can.needs_full_warp && options.mode == "warp") {
    return "the design needs all lanes of a warp together; mode warp has one lane call";
  }
  if (can.needs_full_warp && options.threads % warp_width != 0) {
    return "the design needs all lanes of a warp together; use a multiple of " + std::to_string(warp_width) +
           " threads";
  }
  return "";
}

}  // namespace

json_object describe_driver() {
  const machine_description machine = describe_machine();
  return json_object{}
      .add("schema", record_schema)
      .add("backend", backend_name(this_backend))
      .add("device", machine.name)
      .add("multiprocessors", machine.multiprocessors)
      .add("memory_bytes", machine.memory_bytes)
      .add("capability", machine.capability)
      .add("version", WARPHEAP_VERSION)
      .add("sources", sources_fingerprint);
}

finished_record measure(const run_options& options, const allocator_entry& entry, size_meaning size) {
  json_object record;
  record.add("schema", record_schema)
      .add("case", options.case_name)
      .add("allocator", entry.name)
      .add("position", entry.position)
      .add("backend", backend_name(this_backend))
      .add("device", describe_machine().name)
      .add("mode", options.mode)
      .add("threads", options.threads)
      .add("size", options.size)
      .add("heap_bytes", options.heap_bytes)
      .add("iterations", options.iterations)
      .add("warmup", options.warmup)
      .add("seed", options.seed)
      // Host times are those of the executor and say nothing about a GPU.
      .add("timing_comparable", this_backend == backend::cuda)
      .add("version", WARPHEAP_VERSION)
      .add("sources", sources_fingerprint)
      .add("time", utc_now());
  const auto finish = [&](json_object findings, const char* status, const std::string& reason) {
    return finished_record{findings.add("status", status).add("reason", reason), reason.empty()};
  };
  const auto without_findings = [&] {
    json_object bare = record;
    return bare.add("failures", 0).add("verified", false).add("measures", json_object{}).add_null("memory");
  };
  if (const std::string reason = unfit(options, entry.capabilities, size); !reason.empty()) {
    return finish(without_findings(), "failed", reason);
  }
  try {
    json_object findings = record;
    const std::string reason = entry.run(options, findings);
    return finish(std::move(findings), reason.empty() ? "ok" : "failed", reason);
  } catch (const usage_error&) {
    throw;
  } catch (const heap_too_small& refusal) {
    return finish(without_findings(), "failed",
                  std::string{"the design serves nothing of so small a heap: "} + refusal.what());
  } catch (const launch_failure& failure) {
    return finish(without_findings(), "crashed", failure.what());
  } catch (
      const std::exception& refusal) {  // the machine has no memory for the heap, or for the pointers to its blocks
    return finish(without_findings(), "failed", refusal.what());
  }
}

}  // namespace warpheap::bench
