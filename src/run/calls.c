/* SPDX-FileCopyrightText: 2026 The warpheap authors
 * SPDX-License-Identifier: Apache-2.0 */
#include "calls.h"

#include <string.h>

#include "driver.h"
#include "find.h"
#include "watch.h"

struct call calls[CALLS] = {
#define WARPHEAP_CALL(symbol, base, version) {#symbol, base, version, 0, (void*)symbol, NULL},
#define WARPHEAP_CALL_PER_THREAD(symbol, base, version) {#symbol, base, version, 1, (void*)symbol, NULL},
#include "calls.def"
#undef WARPHEAP_CALL
#undef WARPHEAP_CALL_PER_THREAD
};

struct call* call_of_symbol(const char* symbol) {
  for (int call = 0; call < CALLS; ++call) {
    if (strcmp(calls[call].symbol, symbol) == 0) return &calls[call];
  }
  return NULL;
}

void call_found(struct call* call, void* real) {
  void* const before = atomic_exchange_explicit(&call->real, real, memory_order_acq_rel);
  /* A program may close the driver and open it again, at another place. */
  if (before != NULL && before != real) watch_driver_moved();
}

void* real_of(enum call_number number) {
  void* real = atomic_load_explicit(&calls[number].real, memory_order_acquire);
  if (real != NULL) return real;
  /* The program is linked to the driver, and nobody has looked the function up. */
  real = find_next(calls[number].symbol);
  if (real != NULL) atomic_store_explicit(&calls[number].real, real, memory_order_release);
  return real;
}
