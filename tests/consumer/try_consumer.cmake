# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0

# Builds the consumer project in an empty folder, and runs it if RUN is on.
#
#   cmake -D WAY=package|subdirectory -D LANGUAGE=CXX|CUDA -D RUN=ON|OFF -D ARCHITECTURE=<of the GPU, for CUDA>
#         -D GENERATOR=<of CMake> -D BUILD=<our build tree> -D FOLDER=<for the try> -P try_consumer.cmake

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
else()
  list(APPEND arguments "-DWARPHEAP_SOURCE=${source}")
endif()
if(LANGUAGE STREQUAL "CUDA")
  list(APPEND arguments "-DCMAKE_CUDA_ARCHITECTURES=${ARCHITECTURE}")
endif()

call("${CMAKE_COMMAND}" -G "${GENERATOR}" -S "${CMAKE_CURRENT_LIST_DIR}" -B "${FOLDER}/build" -DCMAKE_BUILD_TYPE=Release
     "-DCONSUMER_LANGUAGE=${LANGUAGE}" ${arguments}
)
call("${CMAKE_COMMAND}" --build "${FOLDER}/build" --parallel)
if(RUN)
  call("${FOLDER}/build/consumer")
endif()
