/* SPDX-FileCopyrightText: 2026 The warpheap authors
 * SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "captures.h"
#include "find.h"
#include "out.h"
#include "state.h"

enum { ZONE_BYTES = 256, ZONE_FILL = 0xC7 };

typedef driver_result fill_function(device_address at, unsigned char value, size_t bytes);
typedef driver_result copy_function(void* to, device_address from, size_t bytes);

uint32_t check_zone_bytes(uint64_t bytes) {
  const bool fits = bytes != 0 && bytes <= UINT64_MAX - ZONE_BYTES;
  return run_mode() == MODE_CHECK && fits && is_quiet() ? ZONE_BYTES : 0;
}

uint32_t check_fill_zone(device_address block, uint64_t bytes, uint32_t zone) {
  if (zone == 0) return 0;
  fill_function* const fill = (fill_function*)find_next("cuMemsetD8_v2");
  /* A capture may have begun since the driver was asked for the block. */
  if (fill == NULL || !work_begin()) return 0;
  const driver_result result = fill(block + bytes, ZONE_FILL, zone);
  work_end();
  return result == DRIVER_SUCCESS ? zone : 0;
}

/* Counts the fault, and says which process and call it is. */
static uint64_t count_fault(void) {
  struct state* const state = state_lock();
  if (state == NULL) return 0;
  const uint64_t number = ++state->faults;
  state_unlock(state);
  return number;
}

void check_zone(const struct given* given) {
  if (given->was != GIVEN_LIVE || !given->is_last || given->block.zone == 0) return;
  copy_function* const copy = (copy_function*)find_next("cuMemcpyDtoH_v2");
  if (copy == NULL || !work_begin()) return;
  unsigned char zone[ZONE_BYTES];
  const driver_result result = copy(zone, given->key + given->block.bytes, given->block.zone);
  work_end();
  if (result != DRIVER_SUCCESS) return;
  for (uint32_t at = 0; at < given->block.zone; ++at) {
    if (zone[at] == ZONE_FILL) continue;
    out_line("warpheap run[%d]: fault %" PRIu64 ": block %" PRIu64 " at 0x%" PRIx64 " of %" PRIu64
             " bytes was written past its end: byte %" PRIu64 " holds 0x%02x (seen by %s)\n",
             (int)getpid(), count_fault(), given->block.id, given->key, given->block.bytes, given->block.bytes + at,
             zone[at], calls[given->call].symbol);
    return;
  }
}

/* Only these say that the pointer is wrong. A context that is broken, or gone, refuses every pointer, and a graph that
 * is captured puts many calls off. */
static bool is_about_the_pointer(driver_result result) {
  return result == DRIVER_INVALID_VALUE || result == DRIVER_INVALID_HANDLE;
}

static void count_unjudged(void) {
  struct state* const state = state_lock();
  if (state == NULL) return;
  ++state->unjudged;
  state_unlock(state);
}

void check_given(const struct given* given, driver_result result) {
  if (run_mode() != MODE_CHECK || given->key == 0 || result == DRIVER_SUCCESS) return;
  if (!is_about_the_pointer(result)) {
    count_unjudged();
    return;
  }
  const uint64_t address = given->key & ~KEY_OF_HANDLE;
  if (given->was == GIVEN_LIVE) {
    out_line("warpheap run[%d]: fault %" PRIu64 ": block %" PRIu64 " at 0x%" PRIx64 " of %" PRIu64
             " bytes is live, and %s cannot free it: it is memory of the kind %s (the driver refused with error %d)\n",
             (int)getpid(), count_fault(), given->block.id, address, given->block.bytes, calls[given->call].symbol,
             kind_name(given->block.kind), result);
  } else if (given->was == GIVEN_FREED) {
    out_line("warpheap run[%d]: fault %" PRIu64 ": block %" PRIu64 " at 0x%" PRIx64 " of %" PRIu64
             " bytes was freed twice (second time by %s, which the driver refused with error %d)\n",
             (int)getpid(), count_fault(), given->block.id, address, given->block.bytes, calls[given->call].symbol,
             result);
  } else {
    out_line("warpheap run[%d]: fault %" PRIu64 ": 0x%" PRIx64
             " is no block that is live (%s, which the driver refused with error %d)\n",
             (int)getpid(), count_fault(), address, calls[given->call].symbol, result);
  }
}

uint32_t check_zone_of(device_address block) {
  struct state* const state = run_mode() == MODE_CHECK ? state_lock() : NULL;
  if (state == NULL) return 0;
  const struct block* const known = block == 0 ? NULL : blocks_find(&state->blocks, block);
  const uint32_t zone = known != NULL && known->references != 0 ? known->zone : 0;
  state_unlock(state);
  return zone;
}
