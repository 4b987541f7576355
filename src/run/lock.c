/* SPDX-FileCopyrightText: 2026 The warpheap authors
 * SPDX-License-Identifier: Apache-2.0 */
#include "lock.h"

#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { FREE, TAKEN, AWAITED };

static bool try_lock(lock_word* lock) {
  uint32_t is = FREE;
  return atomic_compare_exchange_strong_explicit(lock, &is, TAKEN, memory_order_acquire, memory_order_relaxed);
}

void lock_take(lock_word* lock) {
  if (try_lock(lock)) return;
  while (atomic_exchange_explicit(lock, AWAITED, memory_order_acquire) != FREE) {
    syscall(SYS_futex, lock, FUTEX_WAIT_PRIVATE, AWAITED, NULL, NULL, 0);
  }
}

bool lock_take_within(lock_word* lock, unsigned milliseconds) {
  for (unsigned waited = 0; !try_lock(lock); ++waited) {
    if (waited == milliseconds) return false;
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  }
  return true;
}

void lock_release(lock_word* lock) {
  if (atomic_exchange_explicit(lock, FREE, memory_order_release) == AWAITED) {
    syscall(SYS_futex, lock, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
  }
}
