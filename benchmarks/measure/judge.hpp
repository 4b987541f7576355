// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>
#include <warpheap/heap.hpp>

#include "findings.hpp"
#include "memory.hpp"
#include "oracle.hpp"
#include "payload.hpp"
#include "requests.hpp"

namespace warpheap::bench {

/// Counts the requests that got null in a kernel, so that the host need not read all addresses.
struct count_null_kernel {
  WARPHEAP_FN void operator()(requests asked, void* const* blocks, std::uint64_t* null) const {
    const std::uint64_t index = asked.mine();
    if (index == requests::none || blocks[index] != nullptr) return;
    // Relaxed: the sum is read after the launch and orders nothing.
    atomic_view{*null}.fetch_add(1, memory_order::relaxed, thread_scope::device);
  }
};

/// Looks at rounds of blocks while they are live, outside all times, and writes down what it sees.
template <device_allocator A>
class judge {
  static_assert(A::capabilities.alignment % 4 == 0, "payloads are written in words");

 public:
  explicit judge(findings& found) : found_(found), count_(1) {}

  /// Counts the blocks of a round that are null as failures and returns how many. If there are some, or if `thorough`,
  /// it checks every other block: its alignment, that none overlaps another, and that each keeps what is written to it.
  std::uint64_t look(const heap<A>& from, const requests& asked, const device_array<void*>& blocks, bool thorough) {
    const std::uint64_t null = count_null(from, asked, blocks);
    if (thorough || null != 0) check(from, asked, blocks.to_host(), blocks.data());
    return null;
  }

  /// Counts the blocks of a round that are null as failures and returns how many, and looks at none.
  std::uint64_t count_null(const heap<A>& from, const requests& asked, const device_array<void*>& blocks) {
    count_.clear();
    launch(asked.grid(), count_null_kernel{}, asked, static_cast<void* const*>(blocks.data()), count_.data());
    const std::uint64_t null = count_.at(0);
    found_.requests += asked.count;
    found_.failures += null;
    if (null != 0 && found_.refusal.empty()) found_.refusal = describe_refusal(from, asked, null);
    return null;
  }

  /// Checks the blocks of `addresses`, those that are not null; `blocks` holds the same on the device.
  void check(const heap<A>& from, const requests& asked, const std::vector<void*>& addresses, void* const* blocks) {
    ++found_.rounds_judged;
    const address_findings seen = judge_addresses(asked, addresses, A::capabilities.alignment);
    found_.memory = describe_memory(seen.requested_bytes, seen.span_bytes, from.statistics());
    if (!found_.fault.empty()) return;
    found_.fault = seen.fault;
    if (!found_.fault.empty()) return;
    count_.clear();
    launch(asked.grid(), fill_payload{}, asked, blocks);
    launch(asked.grid(), check_payload{}, asked, blocks, count_.data());
    synchronise();
    if (const std::uint64_t damaged = count_.at(0); damaged != 0) {
      found_.fault = std::to_string(damaged) + " of " + std::to_string(seen.granted) +
                     " blocks lost what was written to them though no two overlap";
    }
  }

 private:
  std::string describe_refusal(const heap<A>& from, const requests& asked, std::uint64_t null) const {
    std::uint64_t wanted = 0;
    for (std::uint64_t i = 0; i < asked.count; ++i) wanted += asked.bytes(i);
    return std::to_string(null) + " of " + std::to_string(asked.count) + " requests in round " +
           std::to_string(found_.rounds) + " got null: " + std::to_string(wanted) +
           " bytes were asked for in all, the heap has " + std::to_string(from.size());
  }

  findings& found_;
  device_array<std::uint64_t> count_;  // of what a kernel counts
};

}  // namespace warpheap::bench
