// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#if !defined(WARPHEAP_FIBER_UCONTEXT) && !defined(__x86_64__) && !defined(__aarch64__)
#define WARPHEAP_FIBER_UCONTEXT 1
#endif
#if defined(WARPHEAP_FIBER_UCONTEXT)
#include <ucontext.h>
#endif

namespace warpheap::executor {

/// A stack, and where the code that runs on it was left.
struct context {
#if defined(WARPHEAP_FIBER_UCONTEXT)
  ucontext_t machine;
#else
  void* stack_pointer = nullptr;
#endif
  const void* bottom = nullptr;  ///< lowest address of the stack
  std::size_t bytes = 0;
  void* fake_stack = nullptr;  ///< AddressSanitizer's
  void* strand = nullptr;      ///< ThreadSanitizer's
};

/// Makes `state` call `function(argument)` on the stack `[bottom, bottom + bytes)` when it is first switched to.
/// `function` must call `arrived` first and must never return.
void prepare(context& state, void* bottom, std::size_t bytes, void (*function)(void*), void* argument);

/// Goes on with `to`; returns when something switches back to `from`. Both belong to the calling thread.
void switch_context(context& from, context& to);
/// Goes on with `to` and never comes back.
[[noreturn]] void leave_context(context& from, context& to);
/// Ends the first switch to a stack, which came from `from`.
void arrived(context& from);

}  // namespace warpheap::executor
