/* SPDX-FileCopyrightText: 2026 The warpheap authors
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WARPHEAP_RUN_POOL_H
#define WARPHEAP_RUN_POOL_H

#include <stdbool.h>
#include <stdint.h>

#include "driver.h"
#include "notes.h"
#include "out.h"

/* MODE_POOL: blocks come from a pool of warpheap, one pool for each device whose primary context the program uses. In
 * other modes no block is a pool's. Any thread can call these at any time. */

/* True if blocks can come from pools. Loads the library of pools if that was not tried. */
bool pool_serves(void);

/* Takes a block for work of all streams, in the current context. False if the driver is to be asked: for no bytes, in
 * a context that is not primary, while a graph is captured, and when the pool has not as much memory; then what the
 * pool had free is the driver's again. */
bool pool_take(uint64_t bytes, device_address* block);
/* Takes a block in the order of a stream; false as above. */
bool pool_take_in_order(uint64_t bytes, stream_handle stream, device_address* block);

/* The number of the pool whose memory the address is of; -1 for none. */
int pool_of(device_address address);
/* The primary context of that pool's device. */
void* pool_context(int pool);

/* Gives a block of the pool back after all work of its device, as the driver does: waits for that work. While a graph
 * is captured nothing can wait, and the block is given back later. */
driver_result pool_give(int pool, const struct given* given);
/* Gives a block of the pool back in the order of a stream. A graph that is captured there would free the block each
 * time it runs, so its block stays the program's to the end. */
driver_result pool_give_in_order(int pool, const struct given* given, stream_handle stream);

/* Gives what all pools have free to the driver, which had no memory left; true if that was anything. */
bool pool_spare(void);
/* Bytes that the pool of the current context has from the driver and no block is in; 0 without a pool. */
uint64_t pool_free_bytes(void);
/* To be called before the program destroys a stream. */
void pool_forget(stream_handle stream);
/* The program has reset the device: its pool and all blocks of that are gone, and the driver serves from here on. */
void pool_lose(enum call_number reset, int device);

/* The program has pools of the driver that blocks in the order of streams must come from. */
void pool_leave_streams_alone(void);

/* The block that holds the address of a pool; false if no live block does. */
bool pool_find_block(device_address address, struct block* found);

/* Adds the figures of the pools to a report. `state` is that of the process, with or without its lock. */
struct state;
void pool_report(struct out* out, const struct state* state);

#endif
