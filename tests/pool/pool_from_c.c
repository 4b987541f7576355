/* SPDX-FileCopyrightText: 2026 The warpheap authors
 * SPDX-License-Identifier: Apache-2.0 */
#include "pool_from_c.h"

#include <stdlib.h>
#include <string.h>
#include <warpheap/pool/pool.h>

/* Returns the line of a condition that does not hold. */
#define MUST(condition)                \
  do {                                 \
    if (!(condition)) return __LINE__; \
  } while (0)

static int is_default(void* param, void* stream) {
  ++*(int*)param;
  return stream == NULL;
}

int pool_used_from_c(void) {
  wh_pool_options options;
  wh_pool* pool = NULL;
  void* block = NULL;
  void* again = NULL;
  char* text = NULL;
  uint64_t number = 0;
  int asked = 0;
  wh_pool_statistics figures;

  memset(&options, 0, sizeof options);
  options.struct_bytes = sizeof options;
  options.reserve_bytes = (uint64_t)64 << 20;
  options.device = -1;
  MUST(wh_pool_abi() == WH_POOL_ABI);
  MUST(wh_pool_make(&options, &pool) == WH_POOL_OK);
  MUST(wh_pool_allocate(pool, 1000, 0, NULL, &block) == WH_POOL_OK);
  MUST(wh_pool_owns(pool, block) == 1);
  MUST(wh_pool_block_bytes(pool, block, &number) == WH_POOL_OK && number == 1024);
  MUST(wh_pool_deallocate(pool, block, NULL) == WH_POOL_OK);
  MUST(wh_pool_allocate(pool, 1000, 4096, NULL, &again) == WH_POOL_OK);
  MUST((uintptr_t)again % 4096 == 0);
  MUST(wh_pool_deallocate(pool, again, NULL) == WH_POOL_OK);
  MUST(wh_pool_deallocate(pool, again, NULL) == WH_POOL_INVALID_ARGUMENT);
  MUST(strlen(wh_pool_error()) > 10);

  memset(&figures, 0, sizeof figures);
  figures.struct_bytes = sizeof figures;
  MUST(wh_pool_statistics_of(pool, &figures) == WH_POOL_OK);
  MUST(figures.allocations == 2 && figures.live_blocks == 0 && figures.peak_live_blocks == 1);

  MUST(wh_pool_snapshot(pool, NULL, 0, &number) == WH_POOL_OK && number > 10);
  text = (char*)malloc((size_t)number);
  MUST(text != NULL);
  MUST(wh_pool_snapshot(pool, text, number, NULL) == WH_POOL_OK && strlen(text) + 1 == number);
  free(text);

  MUST(wh_pool_begin_capture(pool, 1, 2, NULL, is_default, &asked) == WH_POOL_OK);
  MUST(wh_pool_allocate(pool, 1000, 0, NULL, &block) == WH_POOL_OK);
  MUST(wh_pool_deallocate(pool, block, NULL) == WH_POOL_OK);
  MUST(asked == 2);
  MUST(wh_pool_end_capture(pool, 1, 2) == WH_POOL_OK);
  MUST(wh_pool_release_capture(pool, 1, 2, NULL) == WH_POOL_OK);
  MUST(wh_pool_trim(pool, 0, &number) == WH_POOL_OK && number > 0);
  MUST(wh_pool_end(pool) == WH_POOL_OK);
  return 0;
}
