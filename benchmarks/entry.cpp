// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#include "entry.hpp"

#include <optional>
#include <vector>
#include <warpheap/allocator.hpp>
#include <warpheap/platform.hpp>

namespace warpheap::bench {

#define WARPHEAP_DESIGN(name, header) allocator_entry entry_of_##name(int position);
#define WARPHEAP_CUDA_DESIGN(name, header) WARPHEAP_DESIGN(name, header)
#define WARPHEAP_HOST_DESIGN(name, header) WARPHEAP_DESIGN(name, header)
#include <warpheap/designs/registry.def>
#undef WARPHEAP_HOST_DESIGN
#undef WARPHEAP_CUDA_DESIGN
#undef WARPHEAP_DESIGN

namespace {

enum position : int {
#define WARPHEAP_DESIGN(name, header) position_of_##name,
#define WARPHEAP_CUDA_DESIGN(name, header) WARPHEAP_DESIGN(name, header)
#define WARPHEAP_HOST_DESIGN(name, header) WARPHEAP_DESIGN(name, header)
#include <warpheap/designs/registry.def>
#undef WARPHEAP_HOST_DESIGN
#undef WARPHEAP_CUDA_DESIGN
#undef WARPHEAP_DESIGN
};

}  // namespace

std::span<const allocator_entry> all_entries() {
  static const std::vector<allocator_entry> entries{
#define WARPHEAP_DESIGN(name, header) entry_of_##name(position_of_##name),
#define WARPHEAP_CUDA_DESIGN(name, header) WARPHEAP_CUDA_ONLY(WARPHEAP_DESIGN(name, header))
#define WARPHEAP_HOST_DESIGN(name, header) WARPHEAP_WHERE_TESTED(WARPHEAP_DESIGN(name, header))
#include <warpheap/designs/registry.def>
#undef WARPHEAP_HOST_DESIGN
#undef WARPHEAP_CUDA_DESIGN
#undef WARPHEAP_DESIGN
  };
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
      .add("typed_objects", can.typed_objects)
      .add("release_by_warp", can.release_by_warp)
      .add("reuses_live_memory", can.reuses_live_memory)
      .add("refuses_only_when_full", can.refuses_only_when_full)
      .add("shared_below", can.shared_below)
      .add("alignment", can.alignment)
      .add("largest_alignment", bounded(can.largest_alignment))
      .add("largest_bytes", bounded(can.largest_bytes));
}

}  // namespace warpheap::bench
