# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0

# The target warpheap::dropin (<warpheap/dropin.hpp>). It is no library but a source, which is compiled with each
# program that links it: so it has the program's GPUs and flags. The program's target has CUDA_SEPARABLE_COMPILATION.

set(WARPHEAP_DROPIN_FOLDER "${CMAKE_INSTALL_DATADIR}/warpheap")

add_library(warpheap_dropin INTERFACE)
add_library(warpheap::dropin ALIAS warpheap_dropin)
set_target_properties(warpheap_dropin PROPERTIES EXPORT_NAME dropin)
target_link_libraries(warpheap_dropin INTERFACE warpheap)
target_sources(
  warpheap_dropin
  INTERFACE
    "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src/dropin/dropin.cu>"
    "$<INSTALL_INTERFACE:$<INSTALL_PREFIX>/${WARPHEAP_DROPIN_FOLDER}/dropin.cu>"
)
# Launches of the program come to the drop-in first, so that it can make the heap.
foreach(call IN ITEMS __cudaLaunchKernel cudaLaunchKernel cudaLaunchCooperativeKernel cudaLaunchKernelExC)
  target_link_options(warpheap_dropin INTERFACE "LINKER:--wrap=${call}" "LINKER:--wrap=${call}_ptsz")
endforeach()
