// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

#include <cstdio>

#include "kernels.hpp"

int main() {
  if (!warpheap::machine_available()) {
    std::puts("consumer: there is no GPU to run on");
    return 0;
  }
  constexpr std::uint64_t count = 1000;
  warpheap::heap<> heap{std::uint64_t{1} << 20};
  const std::uint64_t first = add_up(heap.ref(), count);
  heap.reset();
  const std::uint64_t second = add_up(heap.ref(), count);
  const bool right = first == count * (count - 1) / 2 && second == first && heap.statistics().live_bytes == 0u;
  if (!right) std::fputs("consumer: the sums are wrong\n", stderr);
  return right ? 0 : 1;
}
