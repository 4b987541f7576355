/* SPDX-FileCopyrightText: 2026 The warpheap authors
 * SPDX-License-Identifier: Apache-2.0 */

#include "graph_from_c.h"

#include <string.h>
#include <warpheap/graph/graph.h>

#define MUST(condition) \
  if (!(condition)) return __LINE__

/* A triangle 0 1 2 with a tail 2 3. */
static const uint32_t sources[] = {0, 1, 2, 2};
static const uint32_t targets[] = {1, 2, 0, 3};
enum { edges = 4 };

static int used(const char* design, uint32_t* from, uint32_t* to) {
  wh_graph_options options;
  wh_graph_edge_counts counts;
  wh_graph* graph = NULL;
  uint64_t triangles = 0;
  memset(&options, 0, sizeof(options));
  options.design = design;
  options.heap_bytes = (uint64_t)16 << 20;
  options.flags = WH_GRAPH_UNDIRECTED;
  options.most_vertices = 100;
  MUST(wh_graph_create(4, &options, &graph) == WH_GRAPH_OK);
  MUST(wh_graph_add_edges(graph, from, to, NULL, edges, &counts) == WH_GRAPH_OK);
  MUST(counts.added == 8 && counts.offered == 8);
  MUST(wh_graph_edges(graph) == 8 && wh_graph_vertices(graph) == 4);
  MUST(wh_graph_triangle_count(graph, NULL, &triangles) == WH_GRAPH_OK && triangles == 1);
  MUST(wh_graph_remove_edges(graph, from, to, 1, NULL) == WH_GRAPH_OK);
  MUST(wh_graph_triangle_count(graph, NULL, &triangles) == WH_GRAPH_OK && triangles == 0);
  wh_graph_destroy(graph);
  return 0;
}

int graph_used_from_c(void) {
  static const char* const designs[] = {"warp_slab", "bulk", "ouroboros_va_p", NULL};
  void* from = NULL;
  void* to = NULL;
  int i;
  MUST(wh_graph_abi() == WH_GRAPH_ABI);
  MUST(wh_graph_array_make(sizeof(sources), &from) == WH_GRAPH_OK);
  MUST(wh_graph_array_make(sizeof(targets), &to) == WH_GRAPH_OK);
  MUST(wh_graph_array_copy(from, sources, sizeof(sources)) == WH_GRAPH_OK);
  MUST(wh_graph_array_copy(to, targets, sizeof(targets)) == WH_GRAPH_OK);
  for (i = 0; i < 4; ++i) {
    const int wrong = used(designs[i], (uint32_t*)from, (uint32_t*)to);
    if (wrong != 0) return wrong;
  }
  wh_graph_array_end(from);
  wh_graph_array_end(to);
  return 0;
}
