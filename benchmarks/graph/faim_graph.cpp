// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#include <warpheap/graph/page_queue.hpp>

#include "graph_on_heap.hpp"

namespace warpheap::bench {

std::unique_ptr<graph_subject> make_faim_graph(std::uint64_t heap_bytes, vertex_id vertices) {
  return graph_on_heap<page_queue_heap, paged<>>::make(heap_bytes, vertices);
}

}  // namespace warpheap::bench
