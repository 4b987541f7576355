// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>
#include <warpheap/floor/annotation.hpp>

#if defined(WARPHEAP_BACKEND_CUDA)
#include <warpheap/floor/cuda/cold_call.hpp>
#else
#include <warpheap/floor/host/cold_call.hpp>
#endif

namespace warpheap {

/// Returns `body()`, which is seldom needed, so that a kernel pays for it only when it is.
///
/// A kernel has as many registers as the deepest chain of calls that the compiler can follow holds at once, whether it
/// ever goes there or not. What is behind this call the compiler cannot follow: there each function has the registers
/// that it needs itself, and saves its caller's. So the kernel needs the most that one of them does, not their sum.
///
/// `body` captures by value: a captured reference would put the variable in memory on the way that is not cold, too.
/// Nor does the compiler know which body is called, so each kernel with a cold call holds a copy of all of them that its
/// translation unit has: keep what programs do not use together in different ones.
///
/// The stack behind the call is not in what the compiler reports: keep it below 1,024 bytes with all that it calls,
/// the least that a kernel has (`cudaLimitStackSize`).
template <class Body>
WARPHEAP_FN auto cold_call(Body body) {
  static_assert(std::is_trivially_copyable_v<Body>, "cold_call: the body captures plain values only");
  return target::cold_call(body);
}

}  // namespace warpheap
