/* SPDX-FileCopyrightText: 2026 The warpheap authors
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WARPHEAP_RUN_POOL_LIBRARY_H
#define WARPHEAP_RUN_POOL_LIBRARY_H

#include <stdbool.h>
#include <warpheap/pool/pool.h>

/* The library of pools, which MODE_POOL loads into the program when the first block is wanted: the file that the
 * environment variable WARPHEAP_RUN_POOL names. */

#define WARPHEAP_POOL_FUNCTIONS(X) \
  X(abi)                           \
  X(backend)                       \
  X(device_available)              \
  X(error)                         \
  X(make)                          \
  X(allocate)                      \
  X(deallocate)                    \
  X(forget)                        \
  X(trim)                          \
  X(owns)                          \
  X(statistics_of)

/* The library's functions without their prefix. They are called between `pool_enter` and `pool_leave`. */
struct pool_library {
#define MEMBER(name) __typeof__(&wh_pool_##name) name;
  WARPHEAP_POOL_FUNCTIONS(MEMBER)
#undef MEMBER
};

/* Loads the library. Returns null, and writes why into `reason`, if it cannot serve. One caller at a time. */
const struct pool_library* pool_library_load(char* reason, unsigned long bytes);

/* What the calling thread does from here on is the library's: the driver's calls that it makes go straight to the
 * driver, and nothing of them is noted. */
void pool_enter(void);
void pool_leave(void);
bool pool_is_entered(void);

#endif
