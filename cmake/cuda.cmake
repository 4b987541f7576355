# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0

# Finds the CUDA compiler and fixes the architectures. Sets WARPHEAP_WITH_CUDA.

set(WARPHEAP_CUDA_ARCHITECTURES "80;90" CACHE STRING "GPUs that CUDA programs are compiled for, or `native`")

option(WARPHEAP_CUDA_PROGRAMS "Build CUDA tests as programs; OFF: compile them to PTX, where no GPU can run them" ON)

set(WARPHEAP_WITH_CUDA OFF)
if(NOT WARPHEAP_CUDA STREQUAL "OFF")
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES "${WARPHEAP_CUDA_ARCHITECTURES}")
  endif()
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    enable_language(CUDA)
    set(WARPHEAP_WITH_CUDA ON)
  elseif(WARPHEAP_CUDA STREQUAL "ON")
    message(
      FATAL_ERROR
      "WARPHEAP_CUDA is ON and no CUDA compiler was found: put nvcc on the PATH, or set CUDACXX "
      "to it, or configure with -DWARPHEAP_CUDA=OFF."
    )
  endif()
endif()

if(NOT WARPHEAP_HOST AND NOT WARPHEAP_WITH_CUDA)
  message(FATAL_ERROR "Nothing to build: WARPHEAP_HOST is OFF and there is no CUDA compiler.")
endif()
