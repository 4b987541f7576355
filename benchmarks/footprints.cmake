# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0

# Target warpheap_footprints: for each allocator <build>/footprints/<allocator>.cubin, its malloc and its free each in a
# kernel of its own, and <allocator>.txt, in which ptxas says what they use. For the first architecture only; needs nvcc
# and no GPU.

# The driver's own flags, so that the figures are those of the kernels that it measures.
string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type)
separate_arguments(footprint_flags UNIX_COMMAND "${CMAKE_CUDA_FLAGS} ${CMAKE_CUDA_FLAGS_${build_type}}")
list(APPEND footprint_flags -std=c++20 -Xptxas=-v)
if(CMAKE_CUDA_HOST_COMPILER)
  list(APPEND footprint_flags "-ccbin=${CMAKE_CUDA_HOST_COMPILER}")
endif()
list(GET CMAKE_CUDA_ARCHITECTURES 0 footprint_architecture)
string(REGEX REPLACE "-(real|virtual)$" "" footprint_architecture "${footprint_architecture}")
if(footprint_architecture STREQUAL "native")
  list(APPEND footprint_flags -arch=native)
elseif(footprint_architecture MATCHES "^[0-9]+[a-z]?$")
  list(APPEND footprint_flags "-arch=sm_${footprint_architecture}")
endif() # `all` and such name no first one: then nvcc's own choice

set(footprint_folder "${PROJECT_BINARY_DIR}/footprints")
file(MAKE_DIRECTORY "${footprint_folder}")
set(footprint_files "")
foreach(ALLOCATOR IN LISTS WARPHEAP_DESIGNS_ON_CUDA)
  set(source "${CMAKE_CURRENT_BINARY_DIR}/footprint/footprint_${ALLOCATOR}.cu")
  set(depends "${source}.d")
  warpheap_configure_for(${ALLOCATOR} footprint.cu.in "${source}")
  set(file "${footprint_folder}/${ALLOCATOR}")
  add_custom_command(
    OUTPUT "${file}.cubin"
    BYPRODUCTS "${file}.txt"
    COMMAND
      "${CMAKE_COMMAND}" "-DTEXT=${file}.txt" -P "${CMAKE_CURRENT_SOURCE_DIR}/footprint_text.cmake" --
      "${CMAKE_CUDA_COMPILER}" ${footprint_flags}
      "-I$<JOIN:$<TARGET_PROPERTY:warpheap_bench_cuda,INCLUDE_DIRECTORIES>,;-I>"
      "-D$<JOIN:$<TARGET_PROPERTY:warpheap_bench_cuda,COMPILE_DEFINITIONS>,;-D>" -MD -MF "${depends}" -MT
      "${file}.cubin" -cubin -o "${file}.cubin" "${source}"
    COMMAND_EXPAND_LISTS
    DEPENDS "${source}" "${CMAKE_CURRENT_SOURCE_DIR}/footprint_text.cmake"
    DEPFILE "${depends}"
    COMMENT "Footprint of ${ALLOCATOR}"
    VERBATIM
  )
  list(APPEND footprint_files "${file}.cubin")
endforeach()
add_custom_target(warpheap_footprints DEPENDS ${footprint_files})
add_dependencies(warpheap_bench_cuda warpheap_footprints)
