// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <warpheap/platform/annotation.hpp>

#if defined(WARPHEAP_BACKEND_CUDA)
#include <warpheap/platform/cuda/call_stack.hpp>
#else
#include <warpheap/platform/host/call_stack.hpp>
#endif

namespace warpheap {

/// Sees to it that a thread has `bytes` bytes of stack beside those that the program counts on. Host side only.
///
/// A compiler that can follow all calls of a kernel counts its stack, calls of the library included, and the driver
/// provides it. In a kernel with recursion, or with a call through a pointer or a virtual function, nothing is counted:
/// each thread then has what the device's limit says (`cudaLimitStackSize`, 1,024 bytes by default). On a GPU this
/// function raises the limit of the current device by `bytes`. Several calls do not add up: the limit is raised by the
/// largest `bytes` of them, above what the program has set itself. A debug build (`-G`) counts four times `bytes`.
///
/// The driver takes the memory at once, for all threads that the device can run: 277 MB for 1,024 bytes on an H100.
/// Throws `launch_failure` if it cannot; the limit is then as before. On the host it does nothing.
inline void reserve_call_stack(std::uint64_t bytes) { target::reserve_call_stack(bytes); }

}  // namespace warpheap
