/* SPDX-FileCopyrightText: 2026 The warpheap authors
 * SPDX-License-Identifier: Apache-2.0 */
#include "report.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "out.h"
#include "pool.h"
#include "state.h"

enum { MOST_LINES_OF_LEAKS = 50 };

static void report_calls(struct out* out, const struct state* state) {
  out_add(out, "  %-30s %10s %10s %10s %16s\n", "call", "lookups", "calls", "refused", "bytes");
  for (int call = 0; call < CALLS; ++call) {
    const struct call_figures* const of = &state->figures[call];
    if (of->calls == 0 && of->lookups == 0) continue;
    out_add(out, "  %-30s %10" PRIu64 " %10" PRIu64 " %10" PRIu64 " %16" PRIu64 "\n", calls[call].symbol, of->lookups,
            of->calls, of->refused, of->bytes);
  }
}

static void report_kinds(struct out* out, const struct state* state) {
  out_add(out, "  %-30s %10s %21s %16s\n", "memory", "live", "bytes", "most bytes");
  for (int kind = 0; kind < KINDS; ++kind) {
    const struct kind_figures* const of = &state->kinds[kind];
    if (of->peak == 0 && of->blocks == 0) continue;
    out_add(out, "  %-30s %10" PRIu64 " %21" PRIu64 " %16" PRIu64 "\n", kind_name(kind), of->blocks, of->bytes,
            of->peak);
  }
}

/* By kind, then the largest, then the first. */
static int is_before(const struct block* a, const struct block* b) {
  if (a->kind != b->kind) return a->kind < b->kind;
  return a->bytes != b->bytes ? a->bytes > b->bytes : a->id < b->id;
}

/* qsort may take memory from malloc, so this is Shell's sort with gaps of Knuth. */
static void sort(struct block* blocks, uint64_t count) {
  uint64_t gap = 1;
  while (gap < count / 3) gap = 3 * gap + 1;
  for (; gap != 0; gap /= 3) {
    for (uint64_t i = gap; i < count; ++i) {
      const struct block moved = blocks[i];
      uint64_t at = i;
      for (; at >= gap && is_before(&moved, &blocks[at - gap]); at -= gap) blocks[at] = blocks[at - gap];
      blocks[at] = moved;
    }
  }
}

/* Blocks of one kind and size share a line. */
static void list_leaks(struct out* out, const struct block* blocks, uint64_t count) {
  int lines = 0;
  for (uint64_t first = 0, next; first < count; first = next) {
    for (next = first;
         next < count && blocks[next].kind == blocks[first].kind && blocks[next].bytes == blocks[first].bytes;)
      ++next;
    if (++lines > MOST_LINES_OF_LEAKS) {
      out_add(out, "  and %" PRIu64 " blocks more\n", count - first);
      return;
    }
    out_add(out, "  leak: %" PRIu64 " of %" PRIu64 " bytes, %s, the first is block %" PRIu64 " at 0x%" PRIx64 "\n",
            next - first, blocks[first].bytes, kind_name(blocks[first].kind), blocks[first].id,
            blocks[first].key & ~KEY_OF_HANDLE);
  }
}

static void report_leaks(struct out* out, const struct state* state) {
  const struct block_table* const table = &state->blocks;
  const uint64_t size = (table->live + 1) * sizeof(struct block);
  struct block* const live = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (live == MAP_FAILED) {
    out_add(out, "  %" PRIu64 " blocks are live, and there is no memory to list them\n", table->live);
    return;
  }
  uint64_t count = 0;
  for (uint64_t i = 0; i < table->capacity; ++i) {
    if (table->entries[i].references != 0) live[count++] = table->entries[i];
  }
  sort(live, count);
  list_leaks(out, live, count);
  munmap(live, size);
}

static uint64_t sum(const struct state* state, uint64_t* bytes) {
  uint64_t blocks = 0;
  *bytes = 0;
  for (int kind = 0; kind < KINDS; ++kind) {
    blocks += state->kinds[kind].blocks;
    *bytes += state->kinds[kind].bytes;
  }
  return blocks;
}

static void report(const struct state* state, bool is_locked) {
  struct out out;
  uint64_t bytes = 0;
  const uint64_t blocks = sum(state, &bytes);
  const bool checks = run_mode() == MODE_CHECK, pools = run_mode() == MODE_POOL;
  out_begin(&out);
  out_add(&out, "warpheap run[%d]: %s of %.200s\n", (int)state->process,
          checks  ? "check"
          : pools ? "pool"
                  : "count",
          program_invocation_short_name);
  if (checks) {
    out_add(&out, "  faults: %" PRIu64 "; not freed: %" PRIu64 " blocks, %" PRIu64 " bytes\n", state->faults, blocks,
            bytes);
    if (state->unjudged != 0) {
      out_add(&out, "  frees that the driver refused for another reason than the pointer: %" PRIu64 "\n",
              state->unjudged);
    }
    /* Without the lock the table may be moving. */
    if (is_locked) report_leaks(&out, state);
  } else {
    if (pools) pool_report(&out, state);
    report_calls(&out, state);
    report_kinds(&out, state);
  }
  if (state->unknown_frees != 0) {
    out_add(&out, "  frees of memory that was taken out of sight: %" PRIu64 "\n", state->unknown_frees);
  }
  if (state->unnoted != 0) {
    out_add(&out, "  blocks that could not be noted for want of memory: %" PRIu64 "\n", state->unnoted);
  }
  out_end(&out);
}

static void report_lost_lines(const struct state* state) {
  const struct trace_file* const trace = &state->trace;
  if (trace->lost == 0) return;
  struct out out;
  out_begin_stderr(&out);
  out_add(&out, "warpheap run[%d]: trace of %.200s: %" PRIu64 " lines could not be written, the first and all after it",
          (int)state->process, program_invocation_short_name, trace->lost);
  if (trace->error != 0) out_add(&out, ": error %d, %s", trace->error, out_reason(trace->error));
  out_add(&out, "\n");
  out_end(&out);
}

void report_at_end(void) {
  bool is_locked = false;
  struct state* const state = state_lock_at_end(&is_locked);
  if (state == NULL) return;
  if (run_mode() == MODE_TRACE) {
    report_lost_lines(state);
  } else {
    report(state, is_locked);
  }
  if (is_locked) state_unlock(state);
}
