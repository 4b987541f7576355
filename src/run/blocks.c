/* SPDX-FileCopyrightText: 2026 The warpheap authors
 * SPDX-License-Identifier: Apache-2.0 */
#include "blocks.h"

#include <stddef.h>
#include <sys/mman.h>

enum { FIRST_CAPACITY = 4096 };

const char* kind_name(enum block_kind kind) {
  static const char* const names[KINDS] = {"device", "managed", "stream", "host", "physical"};
  return names[kind];
}

/* The place of a key, or the unused one where it would be. There is always an unused one. */
static struct block* place_of(const struct block_table* table, uint64_t key) {
  const uint64_t mixed = key * UINT64_C(0x9E3779B97F4A7C15);
  uint64_t at = (mixed >> 32) & (table->capacity - 1);
  while (table->entries[at].key != 0 && table->entries[at].key != key) at = (at + 1) & (table->capacity - 1);
  return &table->entries[at];
}

struct block* blocks_find(const struct block_table* table, uint64_t key) {
  if (table->capacity == 0) return NULL;
  struct block* const found = place_of(table, key);
  return found->key == key ? found : NULL;
}

const struct block* blocks_around(const struct block_table* table, uint64_t address) {
  /* Programs mostly ask about the first byte, and with thousands of blocks a look at all takes microseconds. */
  const struct block* const first = blocks_find(table, address);
  if (first != NULL && first->references != 0 && first->bytes != 0) return first;
  for (uint64_t i = 0; i < table->capacity; ++i) {
    const struct block* const block = &table->entries[i];
    if (block->references != 0 && block->key <= address && address - block->key < block->bytes) return block;
  }
  return NULL;
}

/* Moves the live entries into a table where they take at most three of eight places. */
static bool make_room(struct block_table* table) {
  uint64_t capacity = FIRST_CAPACITY;
  while (table->live >= capacity / 8 * 3) capacity *= 2;
  struct block_table moved = {.capacity = capacity, .used = table->live, .live = table->live};
  moved.entries =
      mmap(NULL, capacity * sizeof(struct block), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (moved.entries == MAP_FAILED) return false;
  for (uint64_t i = 0; i < table->capacity; ++i) {
    const struct block* const block = &table->entries[i];
    if (block->references != 0) *place_of(&moved, block->key) = *block;
  }
  if (table->capacity != 0) munmap(table->entries, table->capacity * sizeof(struct block));
  *table = moved;
  return true;
}

struct block* blocks_entry(struct block_table* table, uint64_t key) {
  struct block* found = blocks_find(table, key);
  if (found != NULL) return found;
  /* Without memory a table that is not full goes on, only slower. */
  if (table->used + 1 > table->capacity / 4 * 3 && !make_room(table) && table->used + 1 >= table->capacity) return NULL;
  found = place_of(table, key);
  found->key = key;
  ++table->used;
  return found;
}
