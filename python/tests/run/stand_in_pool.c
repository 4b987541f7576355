/* SPDX-FileCopyrightText: 2026 The warpheap authors
 * SPDX-License-Identifier: Apache-2.0 */

/* A library of pools for a GPU, for tests of `warpheap run --mode pool`. Its pools are those of the host's library,
 * which STAND_IN_POOL names; each of its two devices has one. As CUDA's runtime does, it looks functions of the driver
 * up by cuGetProcAddress_v2, and each call uses them. STAND_IN_POOL_BYTES limits what a pool can reserve.
 * STAND_IN_POOL_BACKEND is another backend than cuda, and STAND_IN_POOL_FAILS a device whose pool cannot be made. What
 * is asked of it is written to the file that STAND_IN_LOG names, after the word pool. */

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <warpheap/pool/pool.h>

#define EXPORT __attribute__((visibility("default")))
#define CALL(name) ((__typeof__(&wh_pool_##name))of_host("wh_pool_" #name))

static void* of_host(const char* name) {
  void* const host = dlopen(getenv("STAND_IN_POOL"), RTLD_NOW | RTLD_LOCAL);
  void* const found = host == NULL ? NULL : dlsym(host, name);
  if (found == NULL) abort();
  return found;
}

static void say(const char* what, unsigned long long number, void* stream) {
  const char* const path = getenv("STAND_IN_LOG");
  if (path == NULL || *path == '\0') return;
  FILE* const file = fopen(path, "a");
  fprintf(file, "pool %s %llu %p\n", what, number, stream);
  fclose(file);
}

static int (*take)(unsigned long long*, size_t);
static int (*give)(unsigned long long);

static void open_driver(void) {
  if (take != NULL) return;
  typedef int get_address(const char*, void**, int, unsigned long long, int*);
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  get_address* table = (get_address*)dlsym(driver, "cuGetProcAddress_v2");
  void *again = NULL, *found = NULL;
  if (table("cuGetProcAddress", &again, 12000, 0, NULL) != 0) abort();
  table = (get_address*)again;
  if (table("cuMemAlloc", &found, 12000, 0, NULL) != 0) abort();
  take = (int (*)(unsigned long long*, size_t))found;
  if (table("cuMemFree", &found, 12000, 0, NULL) != 0) abort();
  give = (int (*)(unsigned long long))found;
}

#ifdef OPENS_EARLY
__attribute__((constructor)) static void early(void) { open_driver(); }
#endif

/* Takes and gives a block of the driver, which is no block of the program. */
static void use_driver(void) {
  unsigned long long block = 0;
  open_driver();
  if (take(&block, 77) != 0) return;
  give(block); /* refused while a graph is captured */
}

EXPORT uint32_t wh_pool_abi(void) { return CALL(abi)(); }
EXPORT const char* wh_pool_backend(void) {
  const char* const backend = getenv("STAND_IN_POOL_BACKEND");
  return backend != NULL ? backend : "cuda";
}
EXPORT uint32_t wh_pool_device_available(void) { return CALL(device_available)(); }
EXPORT const char* wh_pool_error(void) { return CALL(error)(); }
EXPORT wh_pool_status wh_pool_make(const wh_pool_options* options, wh_pool** pool) {
  const char *const bytes = getenv("STAND_IN_POOL_BYTES"), *const fails = getenv("STAND_IN_POOL_FAILS");
  say("make", (unsigned long long)options->device, NULL);
  use_driver();
  wh_pool_options own = *options;
  own.device = fails != NULL && atoi(fails) == options->device ? 99 : 0;
  own.reserve_bytes = bytes != NULL ? strtoull(bytes, NULL, 0) : 1 << 26;
  own.span_bytes = own.piece_bytes = 1 << 16;
  return CALL(make)(&own, pool);
}
EXPORT wh_pool_status wh_pool_allocate(wh_pool* pool, uint64_t bytes, uint64_t alignment, void* stream, void** block) {
  say("allocate", bytes, stream);
  use_driver();
  return CALL(allocate)(pool, bytes, alignment, stream, block);
}
EXPORT wh_pool_status wh_pool_deallocate(wh_pool* pool, void* block, void* stream) {
  say("deallocate", 0, stream);
  use_driver();
  return CALL(deallocate)(pool, block, stream);
}
EXPORT wh_pool_status wh_pool_forget(wh_pool* pool, void* stream) {
  say("forget", 0, stream);
  return CALL(forget)(pool, stream);
}
EXPORT wh_pool_status wh_pool_trim(wh_pool* pool, uint64_t keep_bytes, uint64_t* given_back) {
  say("trim", keep_bytes, NULL);
  return CALL(trim)(pool, keep_bytes, given_back);
}
EXPORT uint32_t wh_pool_owns(const wh_pool* pool, const void* address) { return CALL(owns)(pool, address); }
EXPORT wh_pool_status wh_pool_statistics_of(wh_pool* pool, wh_pool_statistics* figures) {
  return CALL(statistics_of)(pool, figures);
}
