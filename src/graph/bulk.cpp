// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

#include <warpheap/designs/bulk/bulk.hpp>

#include "design_graph.hpp"

namespace warpheap::interface {

std::unique_ptr<wh_graph> make_bulk(vertex_id vertices, const make_options& options) {
  return make_graph<bulk>(vertices, options);
}

}  // namespace warpheap::interface
