/* SPDX-FileCopyrightText: 2026 The warpheap authors
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WARPHEAP_RUN_BLOCKS_H
#define WARPHEAP_RUN_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

/* The blocks of a process by their address: those that are live, and those that were freed lately. The table takes its
 * memory from the kernel, and never from malloc, which a program may have replaced. One caller at a time. */

enum block_kind { KIND_DEVICE, KIND_MANAGED, KIND_STREAM, KIND_HOST, KIND_PHYSICAL, KINDS };

/* The name of a kind, for reports. */
const char* kind_name(enum block_kind kind);

struct block {
  uint64_t key; /* the address, or of memory without addresses its handle; 0 in an unused entry */
  uint64_t bytes;
  uint64_t id; /* blocks of a process are numbered from 1 */
  uint32_t kind;
  uint32_t zone;       /* bytes of the red zone after the block */
  uint32_t references; /* 0 for a block that was freed */
  int32_t device;      /* as `watch_device` said when the block was taken */
};

struct block_table {
  struct block* entries;
  uint64_t capacity;
  uint64_t used; /* entries with a key */
  uint64_t live; /* of them those with references */
};

/* Handles are numbers that addresses may have, too; this bit, which no address has, keeps them apart. */
#define KEY_OF_HANDLE (UINT64_C(1) << 63)

/* The entry with that key, live or freed; null if the table has none. */
struct block* blocks_find(const struct block_table* table, uint64_t key);

/* The live block of memory with addresses that holds this one; null if none does. Looks at all entries unless
 * the block begins there. */
const struct block* blocks_around(const struct block_table* table, uint64_t address);

/* The entry with that key. A new one is zero but for the key. Null without memory. `key` is not 0.
 * An older pointer to an entry is then invalid, for the table may have grown; what was freed is forgotten when it does.
 */
struct block* blocks_entry(struct block_table* table, uint64_t key);

#endif
