// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// What the executor tells the sanitizers. Each function is empty where its sanitizer is off.
///
/// The executor itself is compiled without ThreadSanitizer, so `__SANITIZE_THREAD__` says nothing here; the build
/// defines WARPHEAP_SANITIZE_THREAD instead.

#include <cstddef>
#include <cstdlib>

#if defined(WARPHEAP_SANITIZE_THREAD)
#include <sanitizer/tsan_interface.h>
#endif
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace warpheap::executor::notes {

#if defined(WARPHEAP_SANITIZE_THREAD)
inline constexpr bool thread_sanitizer = true;

/// ThreadSanitizer's view of the calling thread, and of a new lane that has done nothing yet.
inline void* this_strand() { return __tsan_get_current_fiber(); }
inline void* create_strand() { return __tsan_create_fiber(0); }
inline void destroy_strand(void* strand) { __tsan_destroy_fiber(strand); }
/// What runs from here on belongs to `strand`. Adds no order: two lanes of one thread can still race.
inline void enter_strand(void* strand) { __tsan_switch_to_fiber(strand, __tsan_switch_to_fiber_no_sync); }

/// What the caller did so far comes before whatever follows a later `acquire` of the same address.
inline void release(void* clock) { __tsan_release(clock); }
inline void acquire(void* clock) { __tsan_acquire(clock); }

/// A clock of its own. It is a byte of the heap because only freeing its address makes ThreadSanitizer forget a clock;
/// a clock that was used again would order lanes that never met.
inline void* create_clock() { return std::malloc(1); }
inline void destroy_clock(void* clock) { std::free(clock); }
#else
inline constexpr bool thread_sanitizer = false;

inline void* this_strand() { return nullptr; }
inline void* create_strand() { return nullptr; }
inline void destroy_strand(void*) {}
inline void enter_strand(void*) {}
inline void release(void*) {}
inline void acquire(void*) {}
inline void* create_clock() { return nullptr; }
inline void destroy_clock(void*) {}
#endif

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool address_sanitizer = true;

/// The caller is about to leave its stack for another; `fake_stack` keeps what AddressSanitizer needs to come back, or
/// is null when the caller never comes back.
inline void leave_stack(void** fake_stack, const void* bottom, std::size_t bytes) {
  __sanitizer_start_switch_fiber(fake_stack, bottom, bytes);
}
/// The caller has come to its stack; tells which one it came from.
inline void enter_stack(void* fake_stack, const void** from_bottom, std::size_t* from_bytes) {
  __sanitizer_finish_switch_fiber(fake_stack, from_bottom, from_bytes);
}
/// Lets AddressSanitizer accept accesses to `[begin, begin + bytes)`. The red zones of frames that never returned stay
/// in a stack, so it must be unpoisoned before something else uses it.
inline void unpoison(void* begin, std::size_t bytes) { __asan_unpoison_memory_region(begin, bytes); }
inline void poison(void* begin, std::size_t bytes) { __asan_poison_memory_region(begin, bytes); }
#else
inline constexpr bool address_sanitizer = false;

inline void leave_stack(void**, const void*, std::size_t) {}
inline void enter_stack(void*, const void**, std::size_t*) {}
inline void unpoison(void*, std::size_t) {}
inline void poison(void*, std::size_t) {}
#endif

}  // namespace warpheap::executor::notes
