/* SPDX-FileCopyrightText: 2026 The warpheap authors
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WARPHEAP_RUN_CHECK_H
#define WARPHEAP_RUN_CHECK_H

#include "notes.h"

/* MODE_CHECK. A block of cuMemAlloc gets a red zone after its end, which is looked at when the block is given back. A
 * zone before it would move the block away from the start of the driver's allocation, which the program may name to
 * another process. */

/* Bytes of a red zone for a block of so many bytes: 0 in other modes, during a capture, and where the sum is too large.
 */
uint32_t check_zone_bytes(uint64_t bytes);
/* Fills the zone of a new block, in the current context. Returns its bytes, or 0 if the driver did not do that. */
uint32_t check_fill_zone(device_address block, uint64_t bytes, uint32_t zone);
/* Looks at the zone of a block whose end was noted, before the driver takes it back. */
void check_zone(const struct given* given);
/* Reports a pointer that the driver refused, if its error says that the pointer is wrong. */
void check_given(const struct given* given, driver_result result);
/* Bytes of a block's red zone; 0 for all other addresses. */
uint32_t check_zone_of(device_address block);

#endif
