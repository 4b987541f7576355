# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0

# The C interface <warpheap/pool/mam.h>, which is compiled: warpheap::mam over the host's memory, and where there is
# nvcc warpheap::mam_cuda over a GPU's.

if(WARPHEAP_HOST)
  add_library(warpheap_mam STATIC "${PROJECT_SOURCE_DIR}/src/mam/mam.cpp")
  add_library(warpheap::mam ALIAS warpheap_mam)
  set_target_properties(warpheap_mam PROPERTIES EXPORT_NAME mam POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(warpheap_mam PUBLIC warpheap)
  if(TARGET warpheap_warnings)
    target_link_libraries(warpheap_mam PRIVATE "$<BUILD_INTERFACE:warpheap_warnings>")
  endif()
  if(WARPHEAP_INSTALL)
    install(TARGETS warpheap_mam EXPORT warpheap_targets ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
  endif()
endif()

if(WARPHEAP_WITH_CUDA)
  warpheap_cuda_sources(warpheap_mam_cuda mam_sources "${PROJECT_SOURCE_DIR}/src/mam/mam.cpp")
  add_library(warpheap_mam_cuda STATIC ${mam_sources})
  add_library(warpheap::mam_cuda ALIAS warpheap_mam_cuda)
  target_link_libraries(warpheap_mam_cuda PUBLIC warpheap PRIVATE warpheap_own)
endif()
