// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/annotation.hpp>
#include <warpheap/platform/call_site.hpp>

#if defined(WARPHEAP_BACKEND_CUDA)
#include <warpheap/platform/cuda/check.hpp>
#else
#include <warpheap/platform/host/check.hpp>
#endif

namespace warpheap {

/// Ends a computation that cannot go on. In a kernel the launch fails: on a GPU the message is printed and the kernel
/// traps, on the host executor `launch` throws `launch_failure`. Outside a kernel the process ends with the message.
[[noreturn]] WARPHEAP_FN inline void check_failed(const char* message, call_site site = call_site::current()) {
  target::check_failed(message, site);
}

/// Fails with `message` unless `condition` holds, in every build. For what a caller can get wrong.
WARPHEAP_FN inline void require(bool condition, const char* message, call_site site = call_site::current()) {
  if (!condition) check_failed(message, site);
}

#if defined(WARPHEAP_CHECKED)
inline constexpr bool checked_build = true;
#else
/// True if invariants are checked as the code runs (CMake: `WARPHEAP_CHECKED`).
inline constexpr bool checked_build = false;
#endif

/// Fails with `message` unless `condition` holds, in checked builds only. For what our own code promises itself.
WARPHEAP_FN inline void invariant(bool condition, const char* message, call_site site = call_site::current()) {
  if constexpr (checked_build) require(condition, message, site);
}

}  // namespace warpheap
