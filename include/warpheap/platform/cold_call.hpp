// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/annotation.hpp>
#include <warpheap/platform/standard.hpp>

#if defined(WARPHEAP_BACKEND_CUDA)
#include <warpheap/platform/cuda/cold_call.hpp>
#else
#include <warpheap/platform/host/cold_call.hpp>
#endif

namespace warpheap {

/// Returns `body()`, which is seldom needed, so that a kernel pays for it only when it is.
///
/// The compiler of a GPU lays the variables of a whole chain of calls into registers side by side where it can, and a
/// kernel reserves as many registers as the deepest chain holds, whether a thread ever goes there or not. The function
/// that is called so keeps the calling convention of the ABI: it has the registers that it needs itself, and saves its
/// caller's on the stack. So a kernel reserves the most that one of these functions needs, not their sum.
///
/// `body` captures by value: a captured reference would put the variable in memory on the path that is not cold, too.
///
/// The call is direct, so the compiler counts its stack with that of the kernel, and the driver provides it. It cannot
/// in a kernel with recursion or an indirect call: `reserve_call_stack` tells what such a kernel has.
template <class Body>
WARPHEAP_FN auto cold_call(Body body) {
  static_assert(std::is_trivially_copyable_v<Body>, "cold_call: the body captures plain values only");
  return target::cold_call(body);
}

}  // namespace warpheap
