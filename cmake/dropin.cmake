# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0

# The target warpheap::dropin (<warpheap/dropin.hpp>). It is no library but a source, which is compiled with each
# program or shared library that links it: so it has its GPUs and flags. That target has CUDA_SEPARABLE_COMPILATION. A
# static library that links it gets no copy, since device code is linked once and then for the whole program.

set(WARPHEAP_DROPIN_FOLDER "${CMAKE_INSTALL_DATADIR}/warpheap")

add_library(warpheap_dropin INTERFACE)
add_library(warpheap::dropin ALIAS warpheap_dropin)
set_target_properties(warpheap_dropin PROPERTIES EXPORT_NAME dropin)
target_link_libraries(warpheap_dropin INTERFACE warpheap)
find_package(Threads REQUIRED)
target_link_libraries(warpheap_dropin INTERFACE Threads::Threads)
set(type "$<TARGET_PROPERTY:TYPE>")
set(
  links_device_code
  "$<OR:$<STREQUAL:${type},EXECUTABLE>,$<STREQUAL:${type},SHARED_LIBRARY>,$<STREQUAL:${type},MODULE_LIBRARY>>"
)
target_sources(
  warpheap_dropin
  INTERFACE
    "$<BUILD_INTERFACE:$<${links_device_code}:${PROJECT_SOURCE_DIR}/src/dropin/dropin.cu>>"
    "$<INSTALL_INTERFACE:$<${links_device_code}:$<INSTALL_PREFIX>/${WARPHEAP_DROPIN_FOLDER}/dropin.cu>>"
)
# Calls of the program that come to the drop-in first: launches, so that it can make the heap, and what changes a
# device.
set(
  dropin_launches
  __cudaLaunchKernel
  cudaLaunchKernel
  cudaLaunchCooperativeKernel
  cudaLaunchKernelExC
  cudaGraphLaunch
)
set(dropin_others cudaDeviceSetLimit cudaDeviceReset)
foreach(call IN LISTS dropin_launches)
  target_link_options(warpheap_dropin INTERFACE "LINKER:--wrap=${call}" "LINKER:--wrap=${call}_ptsz")
endforeach()
foreach(call IN LISTS dropin_others)
  target_link_options(warpheap_dropin INTERFACE "LINKER:--wrap=${call}")
endforeach()
