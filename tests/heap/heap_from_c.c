/* SPDX-FileCopyrightText: 2026 The warpheap authors
 * SPDX-License-Identifier: Apache-2.0 */

#include "heap_from_c.h"

#include <string.h>
#include <warpheap/heap/heap.h>

#define MUST(condition) \
  if (!(condition)) return __LINE__

enum { blocks = 1000, bytes = 64 };

/* Blocks of one size: all are there, and lie apart. */
static int used(const char* design) {
  wh_heap_options options;
  wh_heap* heap = NULL;
  void* sizes = NULL;
  void* places = NULL;
  uint64_t here[blocks];
  int i, k;
  memset(&options, 0, sizeof(options));
  options.struct_bytes = sizeof(options);
  options.bytes = (uint64_t)16 << 20;
  options.design = design;
  options.device = -1;
  MUST(wh_heap_create(&options, &heap) == WH_HEAP_OK);
  MUST(strcmp(wh_heap_design(heap), design) == 0 && wh_heap_device(heap) >= 0 && wh_heap_handle(heap) != 0);
  MUST(wh_heap_array_make(heap, sizeof(here), &sizes) == WH_HEAP_OK &&
       wh_heap_array_make(heap, sizeof(here), &places) == WH_HEAP_OK);
  for (i = 0; i < blocks; ++i) here[i] = bytes;
  MUST(wh_heap_array_copy(sizes, here, sizeof(here)) == WH_HEAP_OK);
  MUST(wh_heap_malloc(heap, (const uint64_t*)sizes, (uint64_t*)places, blocks) == WH_HEAP_OK);
  MUST(wh_heap_array_copy(here, places, sizeof(here)) == WH_HEAP_OK);
  for (i = 0; i < blocks; ++i) {
    MUST(here[i] != 0 && here[i] % 16 == 0);
    for (k = 0; k < i; ++k) MUST(here[i] >= here[k] + bytes || here[k] >= here[i] + bytes);
  }
  MUST(wh_heap_reset(heap) == WH_HEAP_OK);
  wh_heap_array_end(sizes);
  wh_heap_array_end(places);
  wh_heap_destroy(heap);
  return 0;
}

int heap_used_from_c(void) {
  char names[256];
  char* name;
  MUST(wh_heap_abi() == WH_HEAP_ABI && strlen(wh_heap_designs()) < sizeof(names));
  strcpy(names, wh_heap_designs());
  for (name = strtok(names, ","); name != NULL; name = strtok(NULL, ",")) {
    const int line = used(name);
    if (line != 0) return line;
  }
  return 0;
}
