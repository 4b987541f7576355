// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The guide's example of a checked heap, whole: one thread frees a block that another one freed, and the heap says so.

// [guide]
#include <iostream>
#include <warpheap.hpp>

using design = warpheap::checked<warpheap::warp_slab>;

struct fill {
  WARPHEAP_FN void operator()(warpheap::heap_ref<design> heap, int** rows) const {
    const std::uint64_t i = warpheap::grid_thread_index();
    rows[i] = heap.create<int>(static_cast<int>(i));
  }
};

struct empty {
  WARPHEAP_FN void operator()(warpheap::heap_ref<design> heap, int** rows) const {
    const std::uint64_t i = warpheap::grid_thread_index();
    heap.destroy(rows[i == 77 ? 76 : i]);  // row 76 is freed twice, row 77 never
  }
};

int main() {
  warpheap::heap<design> heap{1 << 20};
  warpheap::device_array<int*> rows{128};
  warpheap::launch({2, 64}, fill{}, heap.ref(), rows.data());
  warpheap::launch({2, 64}, empty{}, heap.ref(), rows.data());
  if (const auto fault = heap.first_fault()) std::cout << describe(*fault) << "\n";
  // [guide]
  const auto fault = heap.first_fault();
  const bool as_expected = fault && fault->kind == warpheap::fault_kind::double_free && fault->pointer == rows.at(76) &&
                           fault->bytes == sizeof(int);
  heap.clear_fault();
  return as_expected && !heap.first_fault() ? 0 : 1;
}
