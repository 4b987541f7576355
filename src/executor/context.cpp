// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

#include "executor/context.hpp"

#include <cstdint>

#if defined(WARPHEAP_FIBER_UCONTEXT)

namespace warpheap::executor {
namespace {

// makecontext passes integers only, so a pointer travels in halves.
void start(unsigned function_high, unsigned function_low, unsigned argument_high, unsigned argument_low) {
  const auto join = [](unsigned high, unsigned low) {
    return static_cast<std::uintptr_t>(std::uint64_t{high} << 32 | low);
  };
  reinterpret_cast<void (*)(void*)>(join(function_high, function_low))(
      reinterpret_cast<void*>(join(argument_high, argument_low)));
}

void prepare_machine(context& state, void* bottom, std::size_t bytes, void (*function)(void*), void* argument) {
  ::getcontext(&state.machine);
  state.machine.uc_stack.ss_sp = bottom;
  state.machine.uc_stack.ss_size = bytes;
  state.machine.uc_link = nullptr;
  const auto code = std::uint64_t{reinterpret_cast<std::uintptr_t>(function)};
  const auto data = std::uint64_t{reinterpret_cast<std::uintptr_t>(argument)};
  ::makecontext(&state.machine, reinterpret_cast<void (*)()>(&start), 4, static_cast<unsigned>(code >> 32),
                static_cast<unsigned>(code), static_cast<unsigned>(data >> 32), static_cast<unsigned>(data));
}

}  // namespace
}  // namespace warpheap::executor

#else

// Where a prepared stack starts: calls the function that `start_frame` holds.
extern "C" void warpheap_start_stack();

namespace warpheap::executor {
namespace {

// The registers as warpheap_switch_stack pops them, lowest address first.
#if defined(__x86_64__)
struct start_frame {
  void* r15;
  void* r14;
  void* argument;
  void (*function)(void*);
  void* rbx;
  void* rbp;
  void (*return_address)();
};
static_assert(sizeof(start_frame) == 56);
#else
struct start_frame {
  void (*function)(void*);
  void* argument;
  void* x21_to_x28[8];
  void* frame_pointer;
  void (*return_address)();
  double d8_to_d15[8];
};
static_assert(sizeof(start_frame) == 160);
#endif

void prepare_machine(context& state, void* bottom, std::size_t bytes, void (*function)(void*), void* argument) {
  const auto top = (reinterpret_cast<std::uintptr_t>(bottom) + bytes) & ~std::uintptr_t{15};
  auto* frame = reinterpret_cast<start_frame*>(top - sizeof(start_frame));
  *frame = {};
  frame->function = function;
  frame->argument = argument;
  frame->return_address = &warpheap_start_stack;
  state.stack_pointer = frame;
}

}  // namespace
}  // namespace warpheap::executor

#endif

namespace warpheap::executor {

void prepare(context& state, void* bottom, std::size_t bytes, void (*function)(void*), void* argument) {
  state.bottom = bottom;
  state.bytes = bytes;
  state.fake_stack = nullptr;
  prepare_machine(state, bottom, bytes, function, argument);
}

}  // namespace warpheap::executor
