// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Each thread of one kernel makes a block of its own; the threads of a second kernel read and free them.
#include <cstdint>
#include <cstdio>
#include <warpheap.hpp>

namespace {

struct make_blocks {
  WARPHEAP_FN void operator()(warpheap::heap_ref<> heap, std::uint64_t** blocks, std::uint64_t count) const {
    const std::uint64_t i = warpheap::grid_thread_index();
    if (i < count) blocks[i] = heap.create<std::uint64_t>(i);
  }
};

struct add_and_free {
  WARPHEAP_FN void operator()(warpheap::heap_ref<> heap, std::uint64_t** blocks, std::uint64_t count,
                              std::uint64_t* sum) const {
    const std::uint64_t i = warpheap::grid_thread_index();
    if (i >= count || blocks[i] == nullptr) return;
    const warpheap::atomic_view shared_sum{*sum};
    shared_sum.fetch_add(*blocks[i], warpheap::memory_order::relaxed, warpheap::thread_scope::device);
    heap.destroy(blocks[i]);
  }
};

}  // namespace

int main() {
  constexpr std::uint64_t count = 1000;
  const warpheap::heap<> heap{std::uint64_t{1} << 20};
  const warpheap::device_array<std::uint64_t*> blocks{count};
  const warpheap::device_array<std::uint64_t> sum{1};

  const auto shape = warpheap::grid_shape::covering(count);
  warpheap::launch(shape, make_blocks{}, heap.ref(), blocks.data(), count);
  warpheap::launch(shape, add_and_free{}, heap.ref(), blocks.data(), count, sum.data());
  warpheap::synchronise();

  const std::uint64_t expected = count * (count - 1) / 2;
  if (sum.at(0) == expected) return 0;
  std::fprintf(stderr, "consumer: the sum is %llu, not %llu\n", static_cast<unsigned long long>(sum.at(0)),
               static_cast<unsigned long long>(expected));
  return 1;
}
