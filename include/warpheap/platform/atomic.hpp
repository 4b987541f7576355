// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/annotation.hpp>
#include <warpheap/platform/standard.hpp>

namespace warpheap {

/// Order of one atomic operation, with the meaning of the C++ and PTX memory models.
enum class memory_order { relaxed, acquire, release, acq_rel, seq_cst };

/// The threads that an atomic operation is atomic and ordered towards. On the host all scopes are as wide as `system`,
/// so a scope that is too narrow can only be found on a GPU.
enum class thread_scope {
  block,   ///< threads of the caller's block
  device,  ///< threads of the same device
  system   ///< threads of every device and of the host
};

}  // namespace warpheap

#if defined(WARPHEAP_BACKEND_CUDA)
#include <warpheap/platform/cuda/atomic.hpp>
#else
#include <warpheap/platform/host/atomic.hpp>
#endif

namespace warpheap {

/// A view of a plain object through which threads access it atomically.
///
/// `T` is an integer or pointer of 4 or 8 bytes, aligned to its size; an add or a bit operation takes integers only.
/// While any thread uses a view of an object, all concurrent accesses to it must go through views. Each call names its
/// order and scope; none has a default, so that every choice can be read and argued where it is made. `load` takes
/// relaxed, acquire or seq_cst; `store` relaxed, release or seq_cst; an order that does not fit fails the build when it
/// is a constant.
///
/// An object in the shared memory of a block is accessed with block scope: `fetch_add`, `fetch_and` and `fetch_or`
/// of wider scope are instructions for global memory.
///
/// On the host executor each call is a point where another lane may be scheduled.
template <class T>
class atomic_view {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "atomic_view: use a 4 or 8 byte type");

 public:
  /// Views `object`, which must outlive the view.
  WARPHEAP_FN explicit constexpr atomic_view(T& object) : object_(&object) {}

  /// Returns the value.
  WARPHEAP_FN T load(memory_order order, thread_scope scope) const {
    return target::atomic_load(object_, order, scope);
  }
  /// Replaces the value.
  WARPHEAP_FN void store(T value, memory_order order, thread_scope scope) const {
    target::atomic_store(object_, value, order, scope);
  }
  /// Replaces the value and returns the one before.
  WARPHEAP_FN T exchange(T value, memory_order order, thread_scope scope) const {
    return target::atomic_exchange(object_, value, order, scope);
  }
  /// Replaces `expected` by `desired` and returns true, or reads the value into `expected` and returns false. Never
  /// fails spuriously. `order` holds on success; a failed call orders as its load part does.
  WARPHEAP_FN bool compare_exchange(T& expected, T desired, memory_order order, thread_scope scope) const {
    return target::atomic_compare_exchange(object_, expected, desired, order, scope);
  }
  /// Adds and returns the value before; wraps around.
  WARPHEAP_FN T fetch_add(T value, memory_order order, thread_scope scope) const {
    return target::atomic_fetch_add(object_, value, order, scope);
  }
  /// Subtracts and returns the value before; wraps around.
  WARPHEAP_FN T fetch_sub(T value, memory_order order, thread_scope scope) const {
    return target::atomic_fetch_add(object_, static_cast<T>(T{0} - value), order, scope);
  }
  /// Clears the bits that `value` lacks and returns the value before.
  WARPHEAP_FN T fetch_and(T value, memory_order order, thread_scope scope) const {
    return target::atomic_fetch_and(object_, value, order, scope);
  }
  /// Sets the bits of `value` and returns the value before.
  WARPHEAP_FN T fetch_or(T value, memory_order order, thread_scope scope) const {
    return target::atomic_fetch_or(object_, value, order, scope);
  }
  /// Flips the bits of `value` and returns the value before.
  WARPHEAP_FN T fetch_xor(T value, memory_order order, thread_scope scope) const {
    return target::atomic_fetch_xor(object_, value, order, scope);
  }
  /// Keeps the smaller of both and returns the value before.
  WARPHEAP_FN T fetch_min(T value, memory_order order, thread_scope scope) const {
    return target::atomic_fetch_min(object_, value, order, scope);
  }
  /// Keeps the larger of both and returns the value before.
  WARPHEAP_FN T fetch_max(T value, memory_order order, thread_scope scope) const {
    return target::atomic_fetch_max(object_, value, order, scope);
  }

 private:
  T* object_;
};

/// Reads a word of 4 or 8 bytes that the caller does not own: other threads may write it in any way meanwhile, and its
/// memory may have become something else. No order; the value may be any, so check it before it is followed.
template <class T>
WARPHEAP_FN T speculative_load(const T& word) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "speculative_load: use a 4 or 8 byte type");
  return target::speculative_load(&word);
}

/// Orders the caller's earlier accesses before its later ones, towards the threads of `scope`. As in C++ it does so
/// through the atomic accesses beside it: what comes before a release fence happens before what follows an acquire
/// fence, if the second thread reads before its fence what the first writes after its own.
///
/// ThreadSanitizer knows no fences. The host executor tells it of them (executor/fences.hpp), so that a missing fence
/// is found, one that is too weak, and one that stands beside the wrong accesses.
WARPHEAP_FN inline void fence(memory_order order, thread_scope scope) { target::fence(order, scope); }

/// The order of writes that a release fence precedes, one for all of them: each release by itself would wait for
/// memory.
inline constexpr memory_order after_release_fence = memory_order::relaxed;

/// The order of reads and read-modify-writes that an acquire fence follows, one for all of them.
inline constexpr memory_order before_acquire_fence = memory_order::relaxed;

}  // namespace warpheap
