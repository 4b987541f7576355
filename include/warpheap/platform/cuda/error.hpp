// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>
#include <string>
#include <warpheap/platform/schedule.hpp>

namespace warpheap::target {

// Throws launch_failure with the runtime's own words when `code` is an error.
inline void cuda_must(cudaError_t code, const char* doing) {
  if (code == cudaSuccess) return;
  throw launch_failure(std::string{"warpheap: "} + doing + ": " + cudaGetErrorName(code) + ": " +
                       cudaGetErrorString(code));
}

// Ends a call that gives something back. A context that is being torn down refuses, and nothing is lost then; the
// refusal is not to be found by a later cudaGetLastError, which asks for another call.
inline void cuda_ignore(cudaError_t code) noexcept {
  if (code != cudaSuccess) static_cast<void>(cudaGetLastError());
}

}  // namespace warpheap::target
