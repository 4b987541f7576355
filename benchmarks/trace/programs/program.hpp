// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <warpheap/heap.hpp>
#include <warpheap/trace.hpp>

namespace warpheap::bench {

/// The heap and the recorder of a program whose trace is shipped. The programs are real, and small: they compute
/// something and see that it is right. Which thread asks for what follows from their input alone, so that their trace
/// is the same on any heap, under any schedule, on either backend.
template <device_allocator A>
class recorded_run {
 public:
  heap_ref<recorded<A>> heap() const { return heap_.ref(); }

  /// Ends a phase of the trace. The program calls it after each kernel.
  void end_phase() { recorder_.end_phase(); }

  /// The trace. Throws `std::runtime_error` if the heap was too small for the program.
  trace finish() {
    trace done = recorder_.finish();
    if (recorder_.refused() != 0) throw std::runtime_error("the heap is too small for the program");
    return done;
  }

 private:
  recorder recorder_{1 << 17};  // before the heap, which looks for it
  warpheap::heap<recorded<A>> heap_{std::uint64_t{64} << 20};
};

/// Throws `std::runtime_error` unless the program computed what it should.
inline void must_agree(bool agrees, const char* program) {
  if (!agrees) throw std::runtime_error(std::string{program} + ": the result is wrong");
}

}  // namespace warpheap::bench
