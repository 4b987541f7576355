# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0

# The C interface <warpheap/graph/graph.h>, a file for each design: warpheap::graph_host and warpheap::graph_cuda.

if(NOT WARPHEAP_GRAPH_LIBRARY)
  return()
endif()

set(warpheap_graph_sources "")
foreach(
  source
  IN
  ITEMS algorithms bulk interface ouroboros_va_p warp_slab
)
  list(APPEND warpheap_graph_sources "${PROJECT_SOURCE_DIR}/src/graph/${source}.cpp")
endforeach()
warpheap_c_library(graph EXPORTS "${PROJECT_SOURCE_DIR}/src/graph/graph.map" SOURCES ${warpheap_graph_sources})
