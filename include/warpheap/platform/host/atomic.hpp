// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <type_traits>
#include <warpheap/platform/atomic.hpp>
#include <warpheap/platform/executor.hpp>

#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace warpheap::target {

constexpr std::memory_order standard_order(memory_order order) {
  switch (order) {
    case memory_order::relaxed: return std::memory_order_relaxed;
    case memory_order::acquire: return std::memory_order_acquire;
    case memory_order::release: return std::memory_order_release;
    case memory_order::acq_rel: return std::memory_order_acq_rel;
    case memory_order::seq_cst: break;
  }
  return std::memory_order_seq_cst;
}

// The order of the load that a failed compare_exchange amounts to.
constexpr std::memory_order failure_order(memory_order order) {
  switch (order) {
    case memory_order::relaxed:
    case memory_order::release: return std::memory_order_relaxed;
    case memory_order::acquire:
    case memory_order::acq_rel: return std::memory_order_acquire;
    case memory_order::seq_cst: break;
  }
  return std::memory_order_seq_cst;
}

// Every operation first offers the executor to run another lane, so that each interleaving of atomics can be scheduled.
template <class T>
std::atomic_ref<T> reached(T* object, executor::access what = executor::access::update) {
  executor::access_point(what, object, sizeof(T));
  return std::atomic_ref<T>{*object};
}

// fetch_min and fetch_max, which the standard library lacks: exchanges until the stored value satisfies `settled`.
template <class T, class Better>
T replace_if(std::atomic_ref<T> object, T value, memory_order order, Better better) {
  T seen = object.load(std::memory_order_relaxed);
  while (!object.compare_exchange_weak(seen, better(value, seen) ? value : seen, standard_order(order),
                                       failure_order(order))) {
  }
  return seen;
}

template <class T>
T atomic_load(T* object, memory_order order, thread_scope) {
  return reached(object, executor::access::load).load(standard_order(order));
}
// ThreadSanitizer is kept out: the reader allows for what a race can give.
template <class T>
[[gnu::noinline, gnu::no_sanitize("thread")]] T speculative_load(const T* word) {
  executor::access_point(executor::access::load, word, sizeof(T));
  return __atomic_load_n(word, __ATOMIC_RELAXED);
}

template <class T>
void atomic_store(T* object, T value, memory_order order, thread_scope) {
  reached(object, executor::access::store).store(value, standard_order(order));
}
template <class T>
T atomic_exchange(T* object, T value, memory_order order, thread_scope) {
  return reached(object).exchange(value, standard_order(order));
}
template <class T>
bool atomic_compare_exchange(T* object, T& expected, T desired, memory_order order, thread_scope) {
  return reached(object).compare_exchange_strong(expected, desired, standard_order(order), failure_order(order));
}
template <class T>
T atomic_fetch_add(T* object, T value, memory_order order, thread_scope) {
  return reached(object).fetch_add(value, standard_order(order));
}
template <class T>
T atomic_fetch_and(T* object, T value, memory_order order, thread_scope) {
  return reached(object).fetch_and(value, standard_order(order));
}
template <class T>
T atomic_fetch_or(T* object, T value, memory_order order, thread_scope) {
  return reached(object).fetch_or(value, standard_order(order));
}
template <class T>
T atomic_fetch_xor(T* object, T value, memory_order order, thread_scope) {
  return reached(object).fetch_xor(value, standard_order(order));
}
template <class T>
T atomic_fetch_min(T* object, T value, memory_order order, thread_scope) {
  return replace_if(reached(object), value, order, [](T a, T b) { return a < b; });
}
template <class T>
T atomic_fetch_max(T* object, T value, memory_order order, thread_scope) {
  return replace_if(reached(object), value, order, [](T a, T b) { return b < a; });
}

#if defined(__SANITIZE_THREAD__)
inline char fence_clock;  // what all fences are ordered by under ThreadSanitizer
#endif

inline constexpr memory_order after_release_fence = memory_order::release;
inline constexpr memory_order before_acquire_fence = memory_order::acquire;

inline void fence(memory_order order, thread_scope) {
  executor::access_point(executor::access::fence, nullptr, 0);
#if defined(__SANITIZE_THREAD__)
  if (order != memory_order::relaxed) {
    __tsan_acquire(&fence_clock);
    __tsan_release(&fence_clock);
  }
#else
  std::atomic_thread_fence(standard_order(order));
#endif
}

}  // namespace warpheap::target
