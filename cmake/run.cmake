# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0

# The library that `warpheap run` loads into programs: warpheap::run. It is of C and needs the C library alone, for it
# comes into every process that the program starts; docs/run.md has more.

if(NOT WARPHEAP_RUN_LIBRARY OR NOT CMAKE_SYSTEM_NAME STREQUAL "Linux")
  return()
endif()

enable_language(C)
set(run_folder "${PROJECT_SOURCE_DIR}/src/run")
set(run_sources "")
foreach(
  name
  IN
  ITEMS
    audit
    blocks
    calls
    captures
    check
    contexts
    dlsym
    end
    find
    lock
    memory
    notes
    out
    pointers
    pool
    pool_library
    proc_address
    report
    settings
    state
    streams
    trace
    watch
)
  list(APPEND run_sources "${run_folder}/${name}.c")
endforeach()
warpheap_shared_library(warpheap_run "${run_folder}/run.map" ${run_sources})
add_library(warpheap::run ALIAS warpheap_run)
set_target_properties(
  warpheap_run
  PROPERTIES EXPORT_NAME run C_STANDARD 11 C_STANDARD_REQUIRED ON
)
# Types of the interface of pools; the library of pools itself is loaded when a program runs.
target_include_directories(warpheap_run PRIVATE "${PROJECT_SOURCE_DIR}/include")
target_compile_definitions(warpheap_run PRIVATE _GNU_SOURCE)
target_compile_options(warpheap_run PRIVATE -Wall -Wextra)
# What the library calls by its own name is its own, even where another library that was loaded first has that name.
target_link_options(warpheap_run PRIVATE "LINKER:-Bsymbolic" "LINKER:-z,defs")
target_link_libraries(warpheap_run PRIVATE ${CMAKE_DL_LIBS})
# The jump that dlsym.c speaks of is an optimisation, which holds in every build.
set_source_files_properties("${run_folder}/dlsym.c" PROPERTIES COMPILE_OPTIONS "-O2;-foptimize-sibling-calls")
if(WARPHEAP_INSTALL)
  install(TARGETS warpheap_run EXPORT warpheap_targets LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
endif()
