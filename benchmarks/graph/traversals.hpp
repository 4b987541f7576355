// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/graph.hpp>
#include <warpheap/graph/algorithms.hpp>

namespace warpheap::bench {

// What reads a graph depends on the layout and not on the heap, so its kernels are compiled once for all systems.

page_rank_result run_page_rank(const graph_ref<contiguous<>>& graph, const page_rank_options& options, float* ranks,
                               page_rank_workspace& workspace);
page_rank_result run_page_rank(const graph_ref<paged<>>& graph, const page_rank_options& options, float* ranks,
                               page_rank_workspace& workspace);
page_rank_result run_page_rank(const csr_view<>& graph, const page_rank_options& options, float* ranks,
                               page_rank_workspace& workspace);

triangle_result run_triangle_count(const graph_ref<contiguous<>>& graph, triangle_workspace& workspace);
triangle_result run_triangle_count(const graph_ref<paged<>>& graph, triangle_workspace& workspace);
triangle_result run_triangle_count(const csr_view<>& graph, triangle_workspace& workspace);

}  // namespace warpheap::bench
