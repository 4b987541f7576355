// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#include "traversals.hpp"

namespace warpheap::bench {

page_rank_result run_page_rank(const graph_ref<contiguous<>>& graph, const page_rank_options& options, float* ranks,
                               page_rank_workspace& workspace) {
  return page_rank(graph, options, ranks, workspace);
}
page_rank_result run_page_rank(const graph_ref<paged<>>& graph, const page_rank_options& options, float* ranks,
                               page_rank_workspace& workspace) {
  return page_rank(graph, options, ranks, workspace);
}
page_rank_result run_page_rank(const csr_view<>& graph, const page_rank_options& options, float* ranks,
                               page_rank_workspace& workspace) {
  return page_rank(graph, options, ranks, workspace);
}

triangle_result run_triangle_count(const graph_ref<contiguous<>>& graph, triangle_workspace& workspace) {
  return triangle_count(graph, {}, workspace);
}
triangle_result run_triangle_count(const graph_ref<paged<>>& graph, triangle_workspace& workspace) {
  return triangle_count(graph, {}, workspace);
}
triangle_result run_triangle_count(const csr_view<>& graph, triangle_workspace& workspace) {
  return triangle_count(graph, {}, workspace);
}

}  // namespace warpheap::bench
