// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <exploration/host/snapshot.hpp>
#include <warpheap/allocator.hpp>
#include <warpheap/platform.hpp>

namespace warpheap::test {

/// A heap of design `A` with data of `bytes` bytes, in memory that each execution of an exploration finds as `set_up`
/// left it.
template <class A, std::uint64_t bytes>
class explored_heap {
 public:
  explored_heap() : memory_(metadata() + bytes) {
    in_one_lane([self = self()] { self.initialise(); });
  }
  /// Calls `body(heap)` in one lane. Executions begin after it.
  template <class Body>
  void set_up(Body body) {
    in_one_lane([self = self(), body] { body(self); });
    memory_.freeze();
  }
  A self() const { return A{arena{memory_.data() + metadata(), bytes, bytes, memory_.data()}}; }
  const snapshot& memory() const { return memory_; }

 private:
  static std::uint64_t metadata() { return align_up(A::metadata_bytes(bytes), 4096); }
  snapshot memory_;
};

}  // namespace warpheap::test
