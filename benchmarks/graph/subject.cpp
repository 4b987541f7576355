// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#include "subject.hpp"

#include <stdexcept>
#include <string>
#include <vector>
#include <warpheap/allocator.hpp>
#include <warpheap/platform.hpp>

namespace warpheap::bench {

#define WARPHEAP_DESIGN(name, header) \
  std::unique_ptr<graph_subject> make_graph_on_##name(std::uint64_t heap_bytes, vertex_id vertices);
#define WARPHEAP_CUDA_DESIGN(name, header) WARPHEAP_DESIGN(name, header)
#define WARPHEAP_HOST_DESIGN(name, header) WARPHEAP_DESIGN(name, header)
#include <warpheap/designs/registry.def>
#undef WARPHEAP_HOST_DESIGN
#undef WARPHEAP_CUDA_DESIGN
#undef WARPHEAP_DESIGN

std::span<const graph_system> graph_systems() {
  // OuroGraph is the contiguous layout on an Ouroboros, CudaAllocGraph the same on the toolkit's heap.
  static const std::vector<graph_system> systems{
#define WARPHEAP_DESIGN(name, header) {#name, #name, "contiguous", &make_graph_on_##name},
#define WARPHEAP_CUDA_DESIGN(name, header) WARPHEAP_CUDA_ONLY(WARPHEAP_DESIGN(name, header))
#define WARPHEAP_HOST_DESIGN(name, header) WARPHEAP_WHERE_TESTED(WARPHEAP_DESIGN(name, header))
#include <warpheap/designs/registry.def>
#undef WARPHEAP_HOST_DESIGN
#undef WARPHEAP_CUDA_DESIGN
#undef WARPHEAP_DESIGN
      {"ouro_graph_s_p", "ouroboros_s_p", "contiguous", &make_graph_on_ouroboros_s_p},
      {"ouro_graph_va_p", "ouroboros_va_p", "contiguous", &make_graph_on_ouroboros_va_p},
      {"ouro_graph_vl_p", "ouroboros_vl_p", "contiguous", &make_graph_on_ouroboros_vl_p},
      {"ouro_graph_s_c", "ouroboros_s_c", "contiguous", &make_graph_on_ouroboros_s_c},
      {"ouro_graph_va_c", "ouroboros_va_c", "contiguous", &make_graph_on_ouroboros_va_c},
      {"ouro_graph_vl_c", "ouroboros_vl_c", "contiguous", &make_graph_on_ouroboros_vl_c},
      {"faim_graph", "page_queue_heap", "paged", &make_faim_graph},
      WARPHEAP_CUDA_ONLY({"cuda_alloc_graph", "cuda_malloc", "contiguous", &make_graph_on_cuda_malloc}, )};
  return systems;
}

const graph_system& find_graph_system(std::string_view name) {
  std::string names;
  for (const graph_system& system : graph_systems()) {
    if (system.name == name) return system;
    names.append(names.empty() ? "" : ", ").append(system.name);
  }
  throw std::invalid_argument("--system: '" + std::string{name} + "' is unknown here; use one of: " + names);
}

}  // namespace warpheap::bench
