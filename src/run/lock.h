/* SPDX-FileCopyrightText: 2026 The warpheap authors
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WARPHEAP_RUN_LOCK_H
#define WARPHEAP_RUN_LOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* A lock of one word, which is free when it is zero. It stands on futexes alone: as an auditor the library has a
 * libc of its own, which takes the process for one of a single thread, and whose mutexes then do not exclude each
 * other. A lock in memory that a fork wipes is free in the child. */

typedef _Atomic uint32_t lock_word;

/* Waits until the lock is the caller's. */
void lock_take(lock_word* lock);
/* Waits for about that time at most; true if the lock is the caller's. */
bool lock_take_within(lock_word* lock, unsigned milliseconds);
/* Gives the lock, which the caller has, back. */
void lock_release(lock_word* lock);

#endif
