// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// One source for CPU and GPU: every thread pushes a node onto a shared list, a second kernel takes the list apart.

#include <cstdio>
#include <warpheap.hpp>

using warpheap::atomic_view;
using warpheap::memory_order;
using warpheap::thread_scope;

struct node {
  std::uint64_t value;
  node* next;
};

struct push_all {
  WARPHEAP_FN void operator()(warpheap::heap_ref<> heap, node** head) const {
    node* const made = heap.create<node>(warpheap::grid_thread_index(), nullptr);
    if (made == nullptr) return;
    const atomic_view top{*head};
    made->next = top.load(memory_order::relaxed, thread_scope::device);
    // Releases the node's members to whoever takes the list.
    while (!top.compare_exchange(made->next, made, memory_order::release, thread_scope::device)) {
    }
  }
};

struct take_all {
  WARPHEAP_FN void operator()(warpheap::heap_ref<> heap, node** head, std::uint64_t* sum) const {
    for (node* each = atomic_view{*head}.exchange(nullptr, memory_order::acquire, thread_scope::device);
         each != nullptr;) {
      *sum += each->value;
      node* const next = each->next;
      heap.destroy(each);
      each = next;
    }
  }
};

int main() {
  constexpr std::uint64_t threads = 2048;
  warpheap::heap<> heap{1 << 20};
  warpheap::device_array<node*> head{1};
  warpheap::device_array<std::uint64_t> sum{1};
  warpheap::launch(warpheap::grid_shape::covering(threads), push_all{}, heap.ref(), head.data());
  warpheap::launch({1, 1}, take_all{}, heap.ref(), head.data(), sum.data());
  std::printf("%s: the nodes sum up to %llu\n", backend_name(warpheap::this_backend),
              static_cast<unsigned long long>(sum.at(0)));
  return sum.at(0) == threads * (threads - 1) / 2 ? 0 : 1;
}
