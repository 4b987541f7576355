# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0

# One source, two programs: each call here builds a host executable and a CUDA executable from the same file.

# What our own programs are compiled with, and no user's. (The presets turn warnings into errors.)
add_library(warpheap_warnings INTERFACE)
target_compile_options(
  warpheap_warnings
  INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra>" "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra>"
)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 warns of sound additions of std::string (its bug 105651).
  target_compile_options(warpheap_warnings INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>")
endif()

# GCC collects garbage once its heap has 128 MiB. A start at half a gigabyte saves a tenth of the time.
set(warpheap_gcc_heap "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=524288>")

# For host programs that run for seconds: -Og compiles faster than -O1, and what it makes is slower.
add_library(warpheap_compiled_fast INTERFACE)
target_compile_options(
  warpheap_compiled_fast
  INTERFACE "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Og>" "$<$<COMPILE_LANG_AND_ID:CXX,Clang>:-O1>" "${warpheap_gcc_heap}"
)

add_library(warpheap_own INTERFACE)
target_compile_options(warpheap_own INTERFACE "$<$<COMPILE_LANGUAGE:CUDA>:-lineinfo>")
target_link_libraries(warpheap_own INTERFACE warpheap::warpheap warpheap_warnings)
if(WARPHEAP_TRY_UNTESTED_DESIGNS)
  target_compile_definitions(warpheap_own INTERFACE WARPHEAP_TRY_UNTESTED_DESIGNS)
endif()

# For what becomes PTX that nothing runs. What a compiler finds it finds with little optimisation, too, in a third of
# the time. Not for what is linked with -rdc=true: there a kernel's callees must fit into its registers.
add_library(warpheap_never_run INTERFACE)
target_compile_options(warpheap_never_run INTERFACE "$<$<COMPILE_LANGUAGE:CUDA>:-Xcicc=-O1>")

if(TARGET warpheap_executor)
  target_link_libraries(warpheap_executor PRIVATE "$<BUILD_INTERFACE:warpheap_warnings>")
endif()

# warpheap_host_program(<target> SOURCES <file>... [LIBRARIES <target>...])
function(warpheap_host_program target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBRARIES")
  add_executable(${target} ${arg_SOURCES})
  target_link_libraries(${target} PRIVATE warpheap_own ${arg_LIBRARIES})
endfunction()

# warpheap_precompile(<target> <header>...)
#
# Compiles the headers once for all sources of the target, or of all targets that take them from it, where
# WARPHEAP_PRECOMPILED_HEADERS is ON.
function(warpheap_precompile target)
  if(WARPHEAP_PRECOMPILED_HEADERS)
    target_precompile_headers(${target} PRIVATE ${ARGN})
  endif()
endfunction()

# warpheap_cuda_sources(<target> <variable> [TOGETHER] <file>...)
#
# Sets <variable> to sources that nvcc compiles: for each C++ source a generated wrapper that includes it, or with
# TOGETHER one wrapper for all of them. (The property LANGUAGE of a source would hold for the host program in the same
# folder too.)
function(warpheap_cuda_sources target variable)
  cmake_parse_arguments(PARSE_ARGV 2 arg "TOGETHER" "" "")
  set(${variable} "")
  set(all "")
  foreach(source IN LISTS arg_UNPARSED_ARGUMENTS)
    if(source MATCHES "\\.cpp$")
      get_filename_component(path "${source}" ABSOLUTE)
      string(APPEND all "#include \"${path}\"\n")
      if(arg_TOGETHER)
        continue()
      endif()
      string(REPLACE "${CMAKE_CURRENT_BINARY_DIR}/" "" name "${path}")
      string(REPLACE "${CMAKE_CURRENT_SOURCE_DIR}/" "" name "${name}")
      string(MAKE_C_IDENTIFIER "${name}" name)
      set(source "${CMAKE_CURRENT_BINARY_DIR}/${target}/${name}.cu")
      file(CONFIGURE OUTPUT "${source}" CONTENT "#include \"${path}\"\n")
    endif()
    list(APPEND ${variable} "${source}")
  endforeach()
  if(arg_TOGETHER AND all)
    set(source "${CMAKE_CURRENT_BINARY_DIR}/${target}/${target}.cu")
    file(CONFIGURE OUTPUT "${source}" CONTENT "${all}")
    list(APPEND ${variable} "${source}")
  endif()
  return(PROPAGATE ${variable})
endfunction()

# warpheap_cuda_program(<target> [TOGETHER] SOURCES <file>... [LIBRARIES <target>...])
#
# With TOGETHER all C++ sources are one translation unit.
function(warpheap_cuda_program target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "TOGETHER" "" "SOURCES;LIBRARIES")
  set(together "")
  if(arg_TOGETHER)
    set(together TOGETHER)
  endif()
  warpheap_cuda_sources(${target} sources ${together} ${arg_SOURCES})
  add_executable(${target} ${sources})
  # The runtime is linked in and the driver loaded, so the program starts where there is no driver.
  set_target_properties(${target} PROPERTIES CUDA_RUNTIME_LIBRARY Static)
  target_link_libraries(${target} PRIVATE warpheap_own ${arg_LIBRARIES})
endfunction()

# warpheap_ptx(<target> SOURCES <file>... [LIBRARIES <target>...])
#
# The sources of a CUDA program, compiled to PTX and no further: what can be wrong with them without a GPU is found.
function(warpheap_ptx target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBRARIES")
  set(libraries ${arg_LIBRARIES})
  list(FILTER arg_SOURCES INCLUDE REGEX "\\.(cpp|cu)$")
  warpheap_cuda_sources(${target} sources TOGETHER ${arg_SOURCES})
  add_library(${target} OBJECT ${sources})
  set_target_properties(${target} PROPERTIES CUDA_PTX_COMPILATION ON)
  target_link_libraries(${target} PRIVATE warpheap_own warpheap_never_run ${libraries})
endfunction()

# warpheap_add_benchmark(<name> [SOURCES <file>...] [HOST_SOURCES <file>...] [CUDA_SOURCES <file>...])
#
# Builds `warpheap_<name>_host` and `warpheap_<name>_cuda` from <name>.cpp and the given files. Both can include
# <warpheap_fingerprint.hpp>. Times that the host program measures mean nothing.
function(warpheap_add_benchmark name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;HOST_SOURCES;CUDA_SOURCES")
  include(fingerprint_target)
  if(WARPHEAP_HOST)
    warpheap_host_program(
      warpheap_${name}_host
      SOURCES ${name}.cpp ${arg_SOURCES} ${arg_HOST_SOURCES}
      LIBRARIES warpheap_fingerprint warpheap_compiled_fast
    )
  endif()
  if(WARPHEAP_WITH_CUDA)
    set(libraries warpheap_fingerprint)
    if(NOT WARPHEAP_CUDA_PROGRAMS)
      list(APPEND libraries warpheap_never_run)
    endif()
    warpheap_cuda_program(
      warpheap_${name}_cuda
      SOURCES ${name}.cpp ${arg_SOURCES} ${arg_CUDA_SOURCES}
      LIBRARIES ${libraries}
    )
  endif()
endfunction()
