// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdlib>

#include "executor/handlers.hpp"
#include "executor/notes.hpp"

#if !defined(WARPHEAP_FIBER_UCONTEXT) && !defined(__x86_64__) && !defined(__aarch64__)
#define WARPHEAP_FIBER_UCONTEXT 1
#endif
#if defined(WARPHEAP_FIBER_UCONTEXT)
#include <ucontext.h>
#else
// Saves the caller's registers on its stack and the stack pointer in `*save`, and goes on with the stack at `load`,
// which an earlier call saved or `prepare` made.
extern "C" void warpheap_switch_stack(void** save, void* load);
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
  handlers thrown;             ///< while the stack rests
};

/// Makes `state` call `function(argument)` on the stack `[bottom, bottom + bytes)` when it is first switched to.
/// `function` must call `arrived` first and must never return.
void prepare(context& state, void* bottom, std::size_t bytes, void (*function)(void*), void* argument);

// Inline: the processor predicts each return after a switch wrongly.
inline void switch_machine(context& from, context& to) {
#if defined(WARPHEAP_FIBER_UCONTEXT)
  ::swapcontext(&from.machine, &to.machine);
#else
  warpheap_switch_stack(&from.stack_pointer, to.stack_pointer);
#endif
}

/// Goes on with `to`; returns when something switches back to `from`. Both belong to the calling thread.
inline void switch_context(context& from, context& to) {
  notes::leave_stack(&from.fake_stack, to.bottom, to.bytes);
  notes::enter_strand(to.strand);
  void* const list = suspend(from.thrown);
  switch_machine(from, to);
  resume(list, from.thrown);
  notes::enter_stack(from.fake_stack, nullptr, nullptr);
}

/// Goes on with `to` and never comes back.
[[noreturn]] inline void leave_context(context& from, context& to) {
  notes::leave_stack(nullptr, to.bottom, to.bytes);
  notes::enter_strand(to.strand);
  switch_machine(from, to);
  std::abort();  // something switched to a lane that had ended
}

/// Ends the first switch to a stack, which came from `from`.
inline void arrived(context& from) {
  notes::enter_stack(nullptr, &from.bottom, &from.bytes);
  resume(abi::__cxa_get_globals(), {});
}

}  // namespace warpheap::executor
