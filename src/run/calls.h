/* SPDX-FileCopyrightText: 2026 The warpheap authors
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WARPHEAP_RUN_CALLS_H
#define WARPHEAP_RUN_CALLS_H

#include <stdatomic.h>

/* The table of calls.def, and the driver's own function for each row. */

enum call_number {
#define WARPHEAP_CALL(symbol, base, version) CALL_##symbol,
#define WARPHEAP_CALL_PER_THREAD(symbol, base, version) CALL_##symbol,
#include "calls.def"
#undef WARPHEAP_CALL
#undef WARPHEAP_CALL_PER_THREAD
  CALLS
};

struct call {
  const char* symbol;
  const char* base;
  int version;
  int per_thread; /* 1 for the form of streams of a thread */
  void* wrapper;
  _Atomic(void*) real; /* the driver's function, as it was looked up last; null before */
};

extern struct call calls[CALLS];

/* The row whose symbol that is; null for any other name. */
struct call* call_of_symbol(const char* symbol);

/* Keeps what a search for the driver's function found. */
void call_found(struct call* call, void* real);

/* The driver's function of a row; null if no driver is loaded, or if it does not have the function. */
void* real_of(enum call_number number);
#define REAL(symbol) ((__typeof__(&symbol))real_of(CALL_##symbol))

#endif
