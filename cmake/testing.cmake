# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0

# One call declares a test program: a host executable and a CUDA executable from the same sources, both known to ctest.

include_guard(GLOBAL)
include(googletest)

# Programs for the host need no speed of their own, and compile in half the time with little optimisation. The executor
# under them is optimised. Under AddressSanitizer with UBSan -Og compiles a suite in two thirds of the time of -O1, and
# what it makes takes a twentieth longer; without, or under ThreadSanitizer, it loses more than it gains.
add_library(warpheap_test_options INTERFACE)
if(WARPHEAP_SANITIZE STREQUAL "address")
  set(warpheap_test_level -Og)
else()
  set(warpheap_test_level -O1)
endif()
target_compile_options(
  warpheap_test_options
  INTERFACE "$<$<COMPILE_LANG_AND_ID:CXX,GNU,Clang>:${warpheap_test_level}>" "${warpheap_gcc_heap}"
)

# warpheap_test_headers(<target> <header>...): the headers for `PRECOMPILED <target>` of warpheap_add_test.
function(warpheap_test_headers target)
  if(NOT WARPHEAP_HOST OR NOT WARPHEAP_PRECOMPILED_HEADERS)
    return()
  endif()
  set(source "${CMAKE_CURRENT_BINARY_DIR}/${target}.cpp")
  file(CONFIGURE OUTPUT "${source}" CONTENT "// Nothing but the headers.\n")
  add_library(${target} OBJECT EXCLUDE_FROM_ALL "${source}")
  target_link_libraries(${target} PRIVATE warpheap_own warpheap_test_options GTest::gtest_main)
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/tests")
  warpheap_precompile(${target} ${ARGN})
endfunction()
warpheap_test_headers(test_headers <gtest/gtest.h> <warpheap/platform.hpp>)

if(WARPHEAP_WITH_CUDA)
  add_custom_target(cuda_tests) # all CUDA test programs, and nothing else
endif()

# warpheap_register_test(<target> <backend> [ALONE] [LABELS <label>...] [TIMEOUT <seconds>] [COST <seconds>])
#
# Tells ctest of a built program. Labels are the backend and the given ones, so `ctest -L host` runs what any machine
# can run and `ctest -L cuda` what needs a GPU. Programs of a high COST start first.
function(warpheap_register_test target backend)
  cmake_parse_arguments(PARSE_ARGV 2 arg "ALONE" "TIMEOUT;COST" "LABELS")
  if(NOT DEFINED arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  if(NOT DEFINED arg_COST)
    set(arg_COST 1)
  endif()
  if(TARGET ${target})
    get_target_property(type ${target} TYPE)
  endif()
  if(backend STREQUAL "cuda")
    set(entry ${target})
    if(arg_ALONE)
      string(APPEND entry " alone")
    endif()
    set_property(GLOBAL APPEND PROPERTY warpheap_cuda_tests "${entry}")
    if(TARGET ${target})
      add_dependencies(cuda_tests ${target})
    endif()
    if(NOT TARGET ${target} OR NOT type STREQUAL "EXECUTABLE")
      return() # its sources are compiled, and nothing can run them
    endif()
  endif()
  add_test(NAME ${target} COMMAND ${target})
  set_tests_properties(
    ${target}
    PROPERTIES TIMEOUT ${arg_TIMEOUT} COST ${arg_COST} LABELS "${backend};${arg_LABELS}"
  )
  if(backend STREQUAL "cuda")
    set_tests_properties(${target} PROPERTIES RESOURCE_LOCK gpu)
  endif()
endfunction()

# warpheap_add_test(<name> [SOURCES <file>...] [HOST_SOURCES <file>...] [CUDA_SOURCES <file>...]
#                   [WHOLE] [APART] [ALONE]
#                   [LABELS <label>...] [TIMEOUT <seconds>] [COST <seconds>] [PRECOMPILED <target>]
#                   [LIBRARIES <target>...] [HOST_LIBRARIES <target>...] [CUDA_LIBRARIES <target>...])
#
# Builds `<name>_host` from SOURCES and HOST_SOURCES, and `<name>_cuda` from SOURCES and CUDA_SOURCES; a program without
# sources is left out. All files of a CUDA program, and of a host program with WARPHEAP_WHOLE_PROGRAMS, are one
# translation unit: most of the time goes into the same headers. So a file keeps its names in a namespace of its own.
#
# Where no GPU can run CUDA programs (WARPHEAP_CUDA_PROGRAMS is OFF), their sources are compiled to PTX and no further;
# with WHOLE also the program is built. APART compiles the CUDA program for separate linking (-rdc=true): nvcc then
# makes machine code of a function once and not once for each kernel that calls it, which takes half the time. ALONE is
# for a CUDA program that takes all memory of the GPU: no other runs beside it. TIMEOUT is what a healthy run stays far
# below on two cores under a sanitizer; 300 unless given. COST is about how long the host program runs.
# The host program takes headers from PRECOMPILED, a target of warpheap_test_headers; those of all tests unless given,
# and none where PRECOMPILED is `none`.
function(warpheap_add_test name)
  cmake_parse_arguments(
    PARSE_ARGV 1
    arg
    "WHOLE;APART;ALONE"
    "TIMEOUT;COST;PRECOMPILED"
    "SOURCES;HOST_SOURCES;CUDA_SOURCES;LABELS;LIBRARIES;HOST_LIBRARIES;CUDA_LIBRARIES"
  )
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "warpheap_add_test(${name}): unknown arguments '${arg_UNPARSED_ARGUMENTS}'.")
  endif()
  set(host_sources ${arg_SOURCES} ${arg_HOST_SOURCES})
  set(cuda_sources ${arg_SOURCES} ${arg_CUDA_SOURCES})
  set(libraries GTest::gtest_main ${arg_LIBRARIES})
  set(about LABELS ${arg_LABELS})
  set(alone "")
  if(arg_ALONE)
    set(alone ALONE)
  endif()
  foreach(option IN ITEMS TIMEOUT COST)
    if(DEFINED arg_${option})
      list(APPEND about ${option} ${arg_${option}})
    endif()
  endforeach()
  if(WARPHEAP_HOST AND host_sources)
    set(target ${name}_host)
    warpheap_host_program(
      ${target}
      SOURCES ${host_sources}
      LIBRARIES warpheap_test_options ${libraries} ${arg_HOST_LIBRARIES}
    )
    if(WARPHEAP_WHOLE_PROGRAMS)
      set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
    endif()
    if(NOT arg_PRECOMPILED)
      set(arg_PRECOMPILED test_headers)
    endif()
    if(TARGET ${arg_PRECOMPILED})
      target_precompile_headers(${target} REUSE_FROM ${arg_PRECOMPILED})
    endif()
    target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/tests")
    warpheap_register_test(${target} host ${about})
  endif()
  if(WARPHEAP_WITH_CUDA AND cuda_sources)
    set(target ${name}_cuda)
    if(WARPHEAP_CUDA_PROGRAMS OR arg_WHOLE)
      warpheap_cuda_program(${target} TOGETHER SOURCES ${cuda_sources} LIBRARIES ${libraries} ${arg_CUDA_LIBRARIES})
      if(arg_APART)
        set_target_properties(${target} PROPERTIES CUDA_SEPARABLE_COMPILATION ON)
      else()
        # Kernel by kernel on all cores. With -rdc=true the linker of CUDA 13.0 then takes calls for others than they
        # are.
        target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CUDA>:-split-compile=0>")
      endif()
      target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-O1>")
    else()
      warpheap_ptx(${target} SOURCES ${cuda_sources} LIBRARIES ${libraries} ${arg_CUDA_LIBRARIES})
    endif()
    target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/tests")
    warpheap_register_test(${target} cuda ${alone} ${about})
  endif()
endfunction()

# warpheap_add_conformance([COST <seconds>] [APART <design>...] [NOT_SANITIZED <design>...] [NOT_ON_HOST <design>...])
#
# The conformance suite, instantiated for each design from conformance/instance.cpp.in: `conformance_<design>`. Designs
# that run on one backend only get its program, as do those in NOT_ON_HOST; those in NOT_SANITIZED get none under a
# sanitizer, and the CUDA programs of those in APART are compiled as `warpheap_add_test` says.
function(warpheap_add_conformance)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "COST" "APART;NOT_SANITIZED;NOT_ON_HOST")
  warpheap_test_headers(conformance_headers <allocator/conformance/fixture.hpp>)
  foreach(ALLOCATOR IN LISTS WARPHEAP_DESIGNS)
    if(WARPHEAP_SANITIZE AND ALLOCATOR IN_LIST arg_NOT_SANITIZED)
      continue()
    endif()
    set(source "${CMAKE_CURRENT_BINARY_DIR}/conformance/conformance_${ALLOCATOR}.cpp")
    warpheap_configure_for(${ALLOCATOR} conformance/instance.cpp.in "${source}")
    set(sources SOURCES)
    if(ALLOCATOR IN_LIST arg_NOT_ON_HOST)
      if(ALLOCATOR IN_LIST WARPHEAP_HOST_DESIGNS)
        continue()
      endif()
      set(sources CUDA_SOURCES)
    elseif(ALLOCATOR IN_LIST WARPHEAP_CUDA_DESIGNS)
      set(sources CUDA_SOURCES)
    elseif(ALLOCATOR IN_LIST WARPHEAP_HOST_DESIGNS)
      set(sources HOST_SOURCES)
    endif()
    set(
      options
      LABELS
      conformance
      COST
      ${arg_COST}
      PRECOMPILED
      conformance_headers
    )
    if(ALLOCATOR IN_LIST arg_APART)
      list(APPEND options APART)
    endif()
    warpheap_add_test(conformance_${ALLOCATOR} ${sources} "${source}" ${options})
  endforeach()
endfunction()

# warpheap_write_list_of_cuda_tests()
#
# Writes the names of all CUDA test programs to cuda_tests.txt, by which a GPU run knows that none is missing, and which
# of them run alone.
function(warpheap_write_list_of_cuda_tests)
  get_property(names GLOBAL PROPERTY warpheap_cuda_tests)
  list(SORT names)
  list(JOIN names "\n" text)
  file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/cuda_tests.txt" CONTENT "${text}\n" @ONLY)
endfunction()

# warpheap_add_c_interface_test(<name> [SOURCES <file>...])
#
# The test <name>_c of the library of <name> for C: SOURCES, <name>_c_test.cpp unless given, and <name>_from_c.c, which
# C compiles. The caller has enabled C, which holds for a folder. Where no GPU can run it, the library for one is not
# worth its minutes of nvcc. A library over the driver is linked as it is, since CUDA's runtime is in the test.
function(warpheap_add_c_interface_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "warpheap_add_c_interface_test(${name}): unknown arguments '${arg_UNPARSED_ARGUMENTS}'.")
  endif()
  if(NOT arg_SOURCES)
    set(arg_SOURCES ${name}_c_test.cpp)
  endif()
  add_library(${name}_from_c STATIC EXCLUDE_FROM_ALL ${name}_from_c.c)
  target_include_directories(${name}_from_c PRIVATE "${PROJECT_SOURCE_DIR}/include")
  set(for_cuda "")
  if(WARPHEAP_CUDA_PROGRAMS)
    set(library warpheap_${name}_cuda)
    if(TARGET ${library}_objects)
      set(library ${library}_objects)
    endif()
    set(for_cuda CUDA_SOURCES ${arg_SOURCES} CUDA_LIBRARIES ${library})
  endif()
  warpheap_add_test(
    ${name}_c
    HOST_SOURCES ${arg_SOURCES}
    LIBRARIES ${name}_from_c
    HOST_LIBRARIES warpheap_${name}_host ${for_cuda}
  )
  if(TARGET ${name}_c_cuda)
    # Programs and libraries travel to the machine with the GPU.
    set_target_properties(${name}_c_cuda PROPERTIES BUILD_RPATH_USE_ORIGIN ON)
  endif()
endfunction()
