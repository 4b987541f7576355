# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0

# `cmake --install` gives a package: find_package(warpheap) brings the target warpheap::warpheap.

if(NOT WARPHEAP_INSTALL)
  return()
endif()

include(CMakePackageConfigHelpers)
set(package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/warpheap")

install(TARGETS warpheap warpheap_cuda warpheap_dropin EXPORT warpheap_targets)
install(FILES "${PROJECT_SOURCE_DIR}/src/dropin/dropin.cu" DESTINATION "${WARPHEAP_DROPIN_FOLDER}")
if(TARGET warpheap_executor)
  install(TARGETS warpheap_executor EXPORT warpheap_targets ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
endif()
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(EXPORT warpheap_targets NAMESPACE warpheap:: DESTINATION "${package_folder}")

configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/cmake/warpheapConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/warpheapConfig.cmake"
  INSTALL_DESTINATION "${package_folder}"
)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/warpheapConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(
  FILES "${PROJECT_BINARY_DIR}/warpheapConfig.cmake" "${PROJECT_BINARY_DIR}/warpheapConfigVersion.cmake"
  DESTINATION "${package_folder}"
)
