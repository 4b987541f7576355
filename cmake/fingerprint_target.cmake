# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0

# Target warpheap_fingerprint: gives <warpheap_fingerprint.hpp>, made anew in each build and written only when changed.

include_guard(GLOBAL)

set(generated "${PROJECT_BINARY_DIR}/generated")
add_custom_target(
  warpheap_fingerprint_header
  COMMAND
    "${CMAKE_COMMAND}" "-DOUTPUT=${generated}/warpheap_fingerprint.hpp" -P
    "${PROJECT_SOURCE_DIR}/cmake/fingerprint.cmake"
  BYPRODUCTS "${generated}/warpheap_fingerprint.hpp"
  COMMENT "Fingerprint of the sources"
  VERBATIM
)
add_library(warpheap_fingerprint INTERFACE)
add_dependencies(warpheap_fingerprint warpheap_fingerprint_header)
target_include_directories(warpheap_fingerprint INTERFACE "${generated}")
