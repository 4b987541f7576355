// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda/atomic>
#include <nv/target>
#include <warpheap/platform/atomic.hpp>
#include <warpheap/platform/cuda/detail/global_rmw.hpp>

namespace warpheap::target {

// The orders of the CUDA library; with a constant argument the switch folds away.
WARPHEAP_FN constexpr cuda::std::memory_order cuda_order(memory_order order) {
  switch (order) {
    case memory_order::relaxed: return cuda::std::memory_order_relaxed;
    case memory_order::acquire: return cuda::std::memory_order_acquire;
    case memory_order::release: return cuda::std::memory_order_release;
    case memory_order::acq_rel: return cuda::std::memory_order_acq_rel;
    case memory_order::seq_cst: break;
  }
  return cuda::std::memory_order_seq_cst;
}

// Returns what `call` returns of the library's reference to `object` that has the scope. No lambda: one in a function
// for both sides counts as a host function to a runtime compiler.
#define WARPHEAP_AT_SCOPE(call)                                                                     \
  switch (scope) {                                                                                  \
    case thread_scope::block: return cuda::atomic_ref<T, cuda::thread_scope_block>{*object}.call;   \
    case thread_scope::device: return cuda::atomic_ref<T, cuda::thread_scope_device>{*object}.call; \
    case thread_scope::system: break;                                                               \
  }                                                                                                 \
  return cuda::atomic_ref<T, cuda::thread_scope_system>{*object}.call

// Whether an operation can be one of those in global_rmw.hpp: what more than a block sees is no shared memory.
WARPHEAP_FN constexpr bool is_global(memory_order order, thread_scope scope) {
  return scope != thread_scope::block && order != memory_order::seq_cst;
}

template <class T>
WARPHEAP_FN T atomic_load(T* object, memory_order order, thread_scope scope) {
  WARPHEAP_AT_SCOPE(load(cuda_order(order)));
}

template <class T>
WARPHEAP_FN T speculative_load(const T* word) {
  return atomic_load(const_cast<T*>(word), memory_order::relaxed, thread_scope::device);
}

template <class T>
WARPHEAP_FN void atomic_store(T* object, T value, memory_order order, thread_scope scope) {
  WARPHEAP_AT_SCOPE(store(value, cuda_order(order)));
}

template <class T>
WARPHEAP_FN T atomic_exchange(T* object, T value, memory_order order, thread_scope scope) {
  WARPHEAP_AT_SCOPE(exchange(value, cuda_order(order)));
}

template <class T>
WARPHEAP_FN bool atomic_compare_exchange(T* object, T& expected, T desired, memory_order order, thread_scope scope) {
  WARPHEAP_AT_SCOPE(compare_exchange_strong(expected, desired, cuda_order(order)));
}

template <class T>
WARPHEAP_FN T atomic_fetch_add(T* object, T value, memory_order order, thread_scope scope) {
  if (is_global(order, scope)) {
    NV_IF_TARGET(NV_IS_DEVICE, (return global_add(object, value, order, scope);))
  }
  WARPHEAP_AT_SCOPE(fetch_add(value, cuda_order(order)));
}

template <class T>
WARPHEAP_FN T atomic_fetch_and(T* object, T value, memory_order order, thread_scope scope) {
  if (is_global(order, scope)) {
    NV_IF_TARGET(NV_IS_DEVICE, (return global_and(object, value, order, scope);))
  }
  WARPHEAP_AT_SCOPE(fetch_and(value, cuda_order(order)));
}

template <class T>
WARPHEAP_FN T atomic_fetch_or(T* object, T value, memory_order order, thread_scope scope) {
  if (is_global(order, scope)) {
    NV_IF_TARGET(NV_IS_DEVICE, (return global_or(object, value, order, scope);))
  }
  WARPHEAP_AT_SCOPE(fetch_or(value, cuda_order(order)));
}

template <class T>
WARPHEAP_FN T atomic_fetch_xor(T* object, T value, memory_order order, thread_scope scope) {
  WARPHEAP_AT_SCOPE(fetch_xor(value, cuda_order(order)));
}

template <class T>
WARPHEAP_FN T atomic_fetch_min(T* object, T value, memory_order order, thread_scope scope) {
  WARPHEAP_AT_SCOPE(fetch_min(value, cuda_order(order)));
}

template <class T>
WARPHEAP_FN T atomic_fetch_max(T* object, T value, memory_order order, thread_scope scope) {
  WARPHEAP_AT_SCOPE(fetch_max(value, cuda_order(order)));
}

#undef WARPHEAP_AT_SCOPE

// The library makes each fence one that also empties the L1 cache, which only an acquire needs.
WARPHEAP_FN inline void release_fence(thread_scope scope) {
  NV_IF_ELSE_TARGET(NV_IS_DEVICE, (switch (scope) {
                      case thread_scope::block: asm volatile("fence.release.cta;" ::: "memory"); return;
                      case thread_scope::device: asm volatile("fence.release.gpu;" ::: "memory"); return;
                      case thread_scope::system: asm volatile("fence.release.sys;" ::: "memory"); return;
                    }),
                    (static_cast<void>(scope);
                     cuda::atomic_thread_fence(cuda::std::memory_order_release, cuda::thread_scope_system);))
}

WARPHEAP_FN inline void fence(memory_order order, thread_scope scope) {
  if (order == memory_order::release) return release_fence(scope);
  switch (scope) {
    case thread_scope::block: return cuda::atomic_thread_fence(cuda_order(order), cuda::thread_scope_block);
    case thread_scope::device: return cuda::atomic_thread_fence(cuda_order(order), cuda::thread_scope_device);
    case thread_scope::system: break;
  }
  cuda::atomic_thread_fence(cuda_order(order), cuda::thread_scope_system);
}

}  // namespace warpheap::target
