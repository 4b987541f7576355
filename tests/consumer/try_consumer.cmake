# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0

# Builds a consumer project in an empty folder, and runs it if RUN is on.
#
#   cmake -D WAY=package|whole_package|subdirectory -D LANGUAGE=CXX|CUDA -D RUN=ON|OFF
#         -D ARCHITECTURE=<of the GPU, for CUDA> -D PROJECT=<folder of it, below ours>
#         -D OPTION=<one for its configuration> -D REFUSED=<what its failure says>
#         -D HOLDS=<symbol that the program has>
#         -D GENERATOR=<of CMake> -D BUILD=<our build tree> -D FOLDER=<for the try> -P try_consumer.cmake
#
# The package is what our build tree installs; a whole one has the host executor, whatever our build tree has. With
# REFUSED the build has to fail, with a message that this regular expression matches.

cmake_policy(VERSION 3.25)
get_filename_component(source "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)

function(call)
  execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE "${FOLDER}")
set(arguments "")
if(WAY STREQUAL "package")
  call("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${FOLDER}/prefix")
  list(APPEND arguments "-DCMAKE_PREFIX_PATH=${FOLDER}/prefix")
elseif(WAY STREQUAL "whole_package")
  call("${CMAKE_COMMAND}" -G "${GENERATOR}" -S "${source}" -B "${FOLDER}/library" -DWARPHEAP_HOST=ON
       -DWARPHEAP_BUILD_TESTS=OFF -DWARPHEAP_BUILD_BENCHMARKS=OFF -DWARPHEAP_BUILD_EXAMPLES=OFF
       -DWARPHEAP_GRAPH_LIBRARY=OFF
  )
  call("${CMAKE_COMMAND}" --build "${FOLDER}/library")
  call("${CMAKE_COMMAND}" --install "${FOLDER}/library" --prefix "${FOLDER}/prefix")
  list(APPEND arguments "-DCMAKE_PREFIX_PATH=${FOLDER}/prefix")
else()
  list(APPEND arguments "-DWARPHEAP_SOURCE=${source}")
endif()
if(LANGUAGE STREQUAL "CUDA")
  list(APPEND arguments "-DCMAKE_CUDA_ARCHITECTURES=${ARCHITECTURE}")
endif()

if(PROJECT STREQUAL "")
  list(APPEND arguments "-DCONSUMER_LANGUAGE=${LANGUAGE}")
endif()
call("${CMAKE_COMMAND}" -G "${GENERATOR}" -S "${CMAKE_CURRENT_LIST_DIR}/${PROJECT}" -B "${FOLDER}/build"
     -DCMAKE_BUILD_TYPE=Release ${arguments} ${OPTION}
)
if(REFUSED)
  execute_process(
    COMMAND "${CMAKE_COMMAND}" --build "${FOLDER}/build"
    RESULT_VARIABLE result
    OUTPUT_VARIABLE text
    ERROR_VARIABLE text
  )
  if(result EQUAL 0 OR NOT text MATCHES "${REFUSED}")
    message(FATAL_ERROR "The build ended with ${result} and did not say '${REFUSED}':\n${text}")
  endif()
  return()
endif()
call("${CMAKE_COMMAND}" --build "${FOLDER}/build" --parallel)
if(HOLDS)
  execute_process(COMMAND nm "${FOLDER}/build/consumer" OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
  if(NOT symbols MATCHES " ${HOLDS}\n")
    message(FATAL_ERROR "The program has no symbol ${HOLDS}.")
  endif()
endif()
if(RUN)
  call("${FOLDER}/build/consumer")
endif()
