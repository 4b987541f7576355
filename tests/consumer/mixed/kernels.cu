// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

#include "kernels.hpp"

// The members of the heap that main.cpp calls.
template class warpheap::heap<>;

namespace {

struct add {
  WARPHEAP_FN void operator()(warpheap::heap_ref<> heap, std::uint64_t count, std::uint64_t* sum) const {
    const std::uint64_t i = warpheap::grid_thread_index();
    if (i >= count) return;
    auto* const number = heap.create<std::uint64_t>(i);
    if (number == nullptr) return;
    warpheap::atomic_view{*sum}.fetch_add(*number, warpheap::memory_order::relaxed, warpheap::thread_scope::device);
    heap.destroy(number);
  }
};

}  // namespace

std::uint64_t add_up(warpheap::heap_ref<> heap, std::uint64_t count) {
  const warpheap::device_array<std::uint64_t> sum{1};
  warpheap::launch(warpheap::grid_shape::covering(count), add{}, heap, count, sum.data());
  return sum.at(0);
}
