/* SPDX-FileCopyrightText: 2026 The warpheap authors
 * SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

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
  return fill != NULL && fill(block + bytes, ZONE_FILL, zone) == DRIVER_SUCCESS ? zone : 0;
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
  if (given->was != GIVEN_LIVE || !given->is_last || given->block.zone == 0 || !is_quiet()) return;
  copy_function* const copy = (copy_function*)find_next("cuMemcpyDtoH_v2");
  unsigned char zone[ZONE_BYTES];
  if (copy == NULL || copy(zone, given->key + given->block.bytes, given->block.zone) != DRIVER_SUCCESS) return;
  for (uint32_t at = 0; at < given->block.zone; ++at) {
    if (zone[at] == ZONE_FILL) continue;
    out_line("warpheap run[%d]: fault %" PRIu64 ": block %" PRIu64 " at 0x%" PRIx64 " of %" PRIu64
             " bytes was written past its end: byte %" PRIu64 " holds 0x%02x (seen by %s)\n",
             (int)getpid(), count_fault(), given->block.id, given->key, given->block.bytes, given->block.bytes + at,
             zone[at], calls[given->call].symbol);
    return;
  }
}

void check_given(const struct given* given, driver_result result) {
  if (run_mode() != MODE_CHECK || given->was == GIVEN_LIVE || given->key == 0 || result == DRIVER_SUCCESS) return;
  const uint64_t address = given->key & ~KEY_OF_HANDLE;
  if (given->was == GIVEN_FREED) {
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
