// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

#include <warpheap/designs/ouroboros/ouroboros.hpp>

#include "design_graph.hpp"

namespace warpheap::interface {

std::unique_ptr<wh_graph> make_ouroboros_va_p(vertex_id vertices, const make_options& options) {
  return make_graph<ouroboros_va_p>(vertices, options);
}

}  // namespace warpheap::interface
