# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0

# GTest::gtest_main, GTest::gmock: from the sources that Debian and Ubuntu install, so that it is compiled with our
# sanitizer; else from an installed package.

include_guard(GLOBAL)

set(WARPHEAP_GOOGLETEST_SOURCES /usr/src/googletest CACHE PATH "Sources of GoogleTest")

if(EXISTS "${WARPHEAP_GOOGLETEST_SOURCES}/CMakeLists.txt")
  block()
    # Its warnings are not ours.
    set(CMAKE_COMPILE_WARNING_AS_ERROR OFF)
    set(CMAKE_WARN_DEPRECATED OFF)
    set(CMAKE_POLICY_DEFAULT_CMP0077 NEW)
    set(INSTALL_GTEST OFF)
    add_subdirectory("${WARPHEAP_GOOGLETEST_SOURCES}" "${PROJECT_BINARY_DIR}/googletest" EXCLUDE_FROM_ALL SYSTEM)
  endblock()
  foreach(library IN ITEMS gtest gtest_main gmock gmock_main)
    target_compile_options(${library} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${WARPHEAP_SANITIZE_FLAGS}>")
    if(NOT TARGET GTest::${library})
      add_library(GTest::${library} ALIAS ${library})
    endif()
  endforeach()
else()
  find_package(GTest)
  if(NOT GTest_FOUND)
    message(
      FATAL_ERROR
      "GoogleTest was not found. Install it (Debian and Ubuntu: apt-get install googletest), or set "
      "WARPHEAP_GOOGLETEST_SOURCES to its sources, or configure with -DWARPHEAP_BUILD_TESTS=OFF."
    )
  endif()
endif()
