# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0

# The target warpheap::warpheap: the headers, and the compiled host executor that they call, if it is wanted.

include(GNUInstallDirs)

add_library(warpheap INTERFACE)
add_library(warpheap::warpheap ALIAS warpheap)
target_include_directories(
  warpheap
  INTERFACE "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>" "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>"
)
target_compile_features(warpheap INTERFACE cxx_std_20)
# Not as the feature cuda_std_20: CMake 3.25 does not know that nvcc has it.
target_compile_options(warpheap INTERFACE "$<$<COMPILE_LANGUAGE:CUDA>:-std=c++20>")
target_link_libraries(warpheap INTERFACE ${CMAKE_DL_LIBS})

# For the C++ files of a program whose kernels nvcc compiles: they see the CUDA backend too. A target that links it has
# called find_package(CUDAToolkit).
add_library(warpheap_cuda INTERFACE)
add_library(warpheap::cuda ALIAS warpheap_cuda)
set_target_properties(warpheap_cuda PROPERTIES EXPORT_NAME cuda)
target_link_libraries(warpheap_cuda INTERFACE warpheap CUDA::toolkit)
target_compile_definitions(warpheap_cuda INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:WARPHEAP_BACKEND_CUDA=1>")
# The toolkit keeps <cuda/atomic> in a folder of its own from version 13 on, which nvcc looks into and others do not.
set(toolkit_folders "$<TARGET_PROPERTY:CUDA::toolkit,INTERFACE_INCLUDE_DIRECTORIES>")
target_compile_options(
  warpheap_cuda
  INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:-isystem$<JOIN:${toolkit_folders},/cccl;-isystem>/cccl>"
)

# What the library and all that use it must agree on.
set(warpheap_agreed_definitions "WARPHEAP_HOST_WARP_WIDTH=${WARPHEAP_HOST_WARP_WIDTH}")
if(WARPHEAP_CHECKED)
  list(APPEND warpheap_agreed_definitions WARPHEAP_CHECKED)
endif()
target_compile_definitions(warpheap INTERFACE ${warpheap_agreed_definitions})

# Flags of the sanitizer that host programs run under.
set(WARPHEAP_SANITIZE_FLAGS "")
if(WARPHEAP_SANITIZE STREQUAL "address")
  # Undefined behaviour ends the program with a signal and no message, which compiles in three quarters of the time.
  set(
    WARPHEAP_SANITIZE_FLAGS
    -fsanitize=address,undefined
    -fsanitize-undefined-trap-on-error
    -fno-sanitize-recover=all
    -fno-omit-frame-pointer
  )
elseif(WARPHEAP_SANITIZE STREQUAL "thread")
  set(WARPHEAP_SANITIZE_FLAGS -fsanitize=thread -fno-omit-frame-pointer)
endif()

if(NOT WARPHEAP_HOST)
  return()
endif()

find_package(Threads REQUIRED)
enable_language(ASM)

file(
  GLOB executor_sources
  CONFIGURE_DEPENDS
  "${PROJECT_SOURCE_DIR}/src/executor/*.cpp"
  "${PROJECT_SOURCE_DIR}/src/executor/*.S"
)
add_library(warpheap_executor STATIC ${executor_sources})
# Each switch of lanes goes through several of its files: compiled as one, and unseen from outside, they take a third
# less time.
set_target_properties(
  warpheap_executor
  PROPERTIES
    EXPORT_NAME executor
    POSITION_INDEPENDENT_CODE ON
    CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON
    UNITY_BUILD ON
    UNITY_BUILD_BATCH_SIZE 0
)
target_compile_features(warpheap_executor PUBLIC cxx_std_20)
target_include_directories(warpheap_executor PRIVATE "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/src")
target_compile_definitions(warpheap_executor PRIVATE ${warpheap_agreed_definitions})
target_link_libraries(warpheap_executor PUBLIC Threads::Threads ${CMAKE_DL_LIBS})
target_link_libraries(warpheap INTERFACE warpheap_executor)

if(WARPHEAP_FIBER STREQUAL "ucontext" OR NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|amd64|AMD64|aarch64|arm64)$")
  target_compile_definitions(warpheap_executor PRIVATE WARPHEAP_FIBER_UCONTEXT)
endif()

# The executor's own accesses while it switches stacks are not the lanes'. So ThreadSanitizer does not see them: the
# executor is compiled without it, and tells it of lanes by hand, for which it must know that it is there.
set(seen_by_sanitizer "$<$<COMPILE_LANGUAGE:CXX>:${WARPHEAP_SANITIZE_FLAGS}>")
if(WARPHEAP_SANITIZE STREQUAL "thread")
  target_compile_definitions(warpheap_executor PRIVATE WARPHEAP_SANITIZE_THREAD)
  target_compile_options(warpheap_executor PRIVATE -fno-omit-frame-pointer INTERFACE "${seen_by_sanitizer}")
else()
  target_compile_options(warpheap_executor PUBLIC "${seen_by_sanitizer}")
endif()
target_link_options(warpheap_executor INTERFACE ${WARPHEAP_SANITIZE_FLAGS})
