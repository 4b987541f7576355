// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#include "entry.hpp"

#include <optional>
#include <vector>
#include <warpheap/allocators.hpp>

namespace warpheap::bench {

#define WARPHEAP_DECLARE(name) allocator_entry entry_of_##name(int position);
WARPHEAP_ALLOCATORS(WARPHEAP_DECLARE, WARPHEAP_DECLARE)
#undef WARPHEAP_DECLARE

namespace {

#define WARPHEAP_POSITION(name) position_of_##name,
enum position : int { WARPHEAP_ALLOCATORS(WARPHEAP_POSITION, WARPHEAP_POSITION) };
#undef WARPHEAP_POSITION

}  // namespace

std::span<const allocator_entry> all_entries() {
#define WARPHEAP_ENTRY(name) entry_of_##name(position_of_##name),
#define WARPHEAP_CUDA_ENTRY(name) WARPHEAP_CUDA_ONLY(WARPHEAP_ENTRY(name))
  static const std::vector<allocator_entry> entries{WARPHEAP_ALLOCATORS(WARPHEAP_ENTRY, WARPHEAP_CUDA_ENTRY)};
#undef WARPHEAP_CUDA_ENTRY
#undef WARPHEAP_ENTRY
  return entries;
}

const allocator_entry& find_entry(std::string_view name) {
  unknown_name unknown{"allocator", name};
  for (const allocator_entry& entry : all_entries()) {
    if (entry.name == name) return entry;
    unknown.add(entry.name);
  }
  unknown.fail();
}

json_object describe(const allocator_entry& entry) {
  const auto bounded = [](std::uint64_t bytes) { return bytes == unlimited ? std::nullopt : std::optional{bytes}; };
  const allocator_capabilities& can = entry.capabilities;
  return json_object{}
      .add("name", entry.name)
      .add("position", entry.position)
      .add("individual_free", can.individual_free)
      .add("knows_size", can.knows_size)
      .add("reset", can.reset)
      .add("grow", can.grow)
      .add("host_copy", can.host_copy)
      .add("counts_live", can.counts_live)
      .add("uses_arena", can.uses_arena)
      .add("state_in_arena", can.state_in_arena)
      .add("needs_full_warp", can.needs_full_warp)
      .add("refuses_only_when_full", can.refuses_only_when_full)
      .add("alignment", can.alignment)
      .add("largest_alignment", bounded(can.largest_alignment))
      .add("largest_bytes", bounded(can.largest_bytes));
}

}  // namespace warpheap::bench
