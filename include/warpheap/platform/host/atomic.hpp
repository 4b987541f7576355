// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <warpheap/platform/atomic.hpp>
#include <warpheap/platform/executor.hpp>

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

constexpr bool acquires(memory_order order) { return order != memory_order::relaxed && order != memory_order::release; }
constexpr bool releases(memory_order order) { return order != memory_order::relaxed && order != memory_order::acquire; }

#if defined(__SANITIZE_THREAD__)
// Lives as long as an atomic operation and tells what the caller's fences order by it: ThreadSanitizer follows the
// orders of operations and knows no fences.
class noted_access {
 public:
  noted_access(void* object, executor::access what, memory_order order) : object_(object), what_(what), order_(order) {
    if (what_ != executor::access::load) executor::note_write(object_, releases(order_));
  }
  ~noted_access() {
    if (what_ != executor::access::load) executor::note_written(object_, releases(order_));
    if (what_ != executor::access::store && !acquires(order_)) executor::note_read(object_);
  }
  noted_access(const noted_access&) = delete;
  noted_access& operator=(const noted_access&) = delete;

 private:
  void* object_;
  executor::access what_;
  memory_order order_;
};
#else
struct noted_access {
  noted_access(void*, executor::access, memory_order) {}
};
#endif

// `operation` on the atomic object. First the executor is offered to run another lane, so that each interleaving of
// atomics can be scheduled.
template <class T, class Operation>
auto operate(T* object, executor::access what, memory_order order, Operation operation) {
  executor::access_point(what, object, sizeof(T));
  [[maybe_unused]] const noted_access noted{object, what, order};
  return operation(std::atomic_ref<T>{*object});
}
template <class T, class Operation>
auto update(T* object, memory_order order, Operation operation) {
  return operate(object, executor::access::update, order, operation);
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
  return operate(object, executor::access::load, order, [=](auto word) { return word.load(standard_order(order)); });
}
// ThreadSanitizer is kept out: the reader allows for what a race can give.
template <class T>
[[gnu::noinline, gnu::no_sanitize("thread")]] T speculative_load(const T* word) {
  executor::access_point(executor::access::load, word, sizeof(T));
  return __atomic_load_n(word, __ATOMIC_RELAXED);
}

template <class T>
void atomic_store(T* object, T value, memory_order order, thread_scope) {
  operate(object, executor::access::store, order, [=](auto word) { word.store(value, standard_order(order)); });
}
template <class T>
T atomic_exchange(T* object, T value, memory_order order, thread_scope) {
  return update(object, order, [=](auto word) { return word.exchange(value, standard_order(order)); });
}
template <class T>
bool atomic_compare_exchange(T* object, T& expected, T desired, memory_order order, thread_scope) {
  return update(object, order, [&](auto word) {
    return word.compare_exchange_strong(expected, desired, standard_order(order), failure_order(order));
  });
}
template <class T>
T atomic_fetch_add(T* object, T value, memory_order order, thread_scope) {
  return update(object, order, [=](auto word) { return word.fetch_add(value, standard_order(order)); });
}
template <class T>
T atomic_fetch_and(T* object, T value, memory_order order, thread_scope) {
  return update(object, order, [=](auto word) { return word.fetch_and(value, standard_order(order)); });
}
template <class T>
T atomic_fetch_or(T* object, T value, memory_order order, thread_scope) {
  return update(object, order, [=](auto word) { return word.fetch_or(value, standard_order(order)); });
}
template <class T>
T atomic_fetch_xor(T* object, T value, memory_order order, thread_scope) {
  return update(object, order, [=](auto word) { return word.fetch_xor(value, standard_order(order)); });
}
template <class T>
T atomic_fetch_min(T* object, T value, memory_order order, thread_scope) {
  return update(object, order,
                [=](auto word) { return replace_if(word, value, order, [](T a, T b) { return a < b; }); });
}
template <class T>
T atomic_fetch_max(T* object, T value, memory_order order, thread_scope) {
  return update(object, order,
                [=](auto word) { return replace_if(word, value, order, [](T a, T b) { return b < a; }); });
}

inline void fence(memory_order order, thread_scope) {
  executor::access_point(executor::access::fence, nullptr, 0);
#if defined(__SANITIZE_THREAD__)
  executor::note_fence(releases(order), acquires(order));
#else
  std::atomic_thread_fence(standard_order(order));
#endif
}

}  // namespace warpheap::target
