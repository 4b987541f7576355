// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <warpheap/platform/annotation.hpp>
#include <warpheap/platform/processor.hpp>

#if defined(WARPHEAP_BACKEND_CUDA)
#include <warpheap/platform/cuda/machine.hpp>
#else
#include <warpheap/platform/host/machine.hpp>
#endif

namespace warpheap {

/// The machine that kernels run on, as host code sees it.
struct machine_description {
  std::string name;               ///< the product's name
  std::uint32_t multiprocessors;  ///< processors that run blocks
  std::uint64_t memory_bytes;     ///< memory of the device
  int capability;                 ///< compute capability times ten, 90 for 9.0; 0 on the host
};

/// Describes the current device. Throws `launch_failure` when the machine has no device.
inline machine_description describe_machine() { return target::describe_machine<machine_description>(); }

/// True if kernels can run: always on the host; in a CUDA build if a driver and a device answer.
inline bool machine_available() { return target::machine_available(); }

}  // namespace warpheap
