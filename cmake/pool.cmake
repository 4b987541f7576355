# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0

# The C interface <warpheap/pool/pool.h>: warpheap::pool_host and warpheap::pool_cuda.

if(NOT WARPHEAP_POOL_LIBRARY)
  return()
endif()

warpheap_c_library(
  pool
  EXPORTS "${PROJECT_SOURCE_DIR}/src/pool/pool.map"
  SOURCES "${PROJECT_SOURCE_DIR}/src/pool/interface.cpp"
  OVER_DRIVER "${PROJECT_SOURCE_DIR}/src/pool/driver_runtime.cpp"
)
