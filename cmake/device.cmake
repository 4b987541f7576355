# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0

# Target warpheap_device: the files of <warpheap/heap/device_library.h>, in lib/ of the build folder. They need nvcc and
# no GPU, and no language CUDA in CMake. Nobody gets them unasked, for each architecture takes nvcc a minute.

set(
  WARPHEAP_DEVICE_ARCHITECTURES
  "80;90;100;120"
  CACHE STRING
  "GPUs that the device library is compiled for, without a dot: 90 for compute capability 9.0"
)
find_program(WARPHEAP_NVCC nvcc HINTS ENV CUDACXX /usr/local/cuda/bin DOC "The CUDA compiler of the device library")
mark_as_advanced(WARPHEAP_NVCC)
if(NOT WARPHEAP_NVCC)
  return()
endif()

set(warpheap_device_files "")

# warpheap_device_file(<name> <source> CODE sm|lto [FLAGS <flag>...])
#
# One file for all architectures: machine code or LTO-IR, which are linked and not loaded. Kernels that call through the
# ABI need as many registers as the greediest function that they may call, so machine code is limited here.
function(warpheap_device_file name source)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "CODE" "FLAGS")
  set(
    flags
    -std=c++20
    -rdc=true
    -Werror
    all-warnings
    --compress-mode=size
    ${arg_FLAGS}
  )
  if(arg_CODE STREQUAL "sm")
    list(APPEND flags -maxrregcount=32)
  endif()
  foreach(architecture IN LISTS WARPHEAP_DEVICE_ARCHITECTURES)
    list(APPEND flags -gencode "arch=compute_${architecture},code=${arg_CODE}_${architecture}")
  endforeach()
  set(file "${PROJECT_BINARY_DIR}/lib/warpheap_${name}.fatbin")
  set(source "${PROJECT_SOURCE_DIR}/src/device/${source}")
  set(depends "${PROJECT_BINARY_DIR}/lib/warpheap_${name}.d")
  add_custom_command(
    OUTPUT "${file}"
    COMMAND
      "${WARPHEAP_NVCC}" ${flags} "-I${PROJECT_SOURCE_DIR}/include" -MD -MF "${depends}" -MT "${file}" -fatbin -o
      "${file}" "${source}"
    DEPENDS "${source}"
    DEPFILE "${depends}"
    COMMENT "Device library: warpheap_${name}.fatbin"
    VERBATIM
  )
  set(warpheap_device_files ${warpheap_device_files} "${file}" PARENT_SCOPE)
endfunction()

file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
set(device_alone -DWARPHEAP_COMPILES_HOST=0)
warpheap_device_file(device shims.cu CODE sm FLAGS ${device_alone})
warpheap_device_file(device_checked shims.cu CODE sm FLAGS -DWARPHEAP_DEVICE_CHECKED)
warpheap_device_file(cold cold.cu CODE sm FLAGS ${device_alone})
warpheap_device_file(hot shims.cu CODE lto FLAGS ${device_alone} -DWARPHEAP_COLD_LINKED)
warpheap_device_file(malloc malloc.cu CODE sm)
warpheap_device_file(whole shims.cu CODE lto FLAGS ${device_alone} -DWARPHEAP_OPTIMISED_AT_LINK)
# Beside them what they are up to date with, so that others can tell. Each build writes it, since a change of a header
# that no file includes makes no file anew.
set(warpheap_device_fingerprint "${PROJECT_BINARY_DIR}/lib/warpheap_device.fingerprint")
add_custom_target(
  warpheap_device
  COMMAND
    "${CMAKE_COMMAND}" -DSCOPE=device "-DOUTPUT=${warpheap_device_fingerprint}" -P
    "${PROJECT_SOURCE_DIR}/cmake/fingerprint.cmake"
  DEPENDS ${warpheap_device_files}
  VERBATIM
)

if(WARPHEAP_INSTALL)
  install(
    FILES ${warpheap_device_files} "${warpheap_device_fingerprint}"
    DESTINATION "${CMAKE_INSTALL_LIBDIR}"
    OPTIONAL
  )
endif()
