/* SPDX-FileCopyrightText: 2026 The warpheap authors
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "out.h"

enum { LONGEST_LINE = 256 };

/* The file of the trace; -1 if it cannot be written. A program may have closed all files that it does not know, and the
 * number may be another file's by now, so it is looked at each time. */
static int file_of(struct state* state) {
  struct trace_file* const trace = &state->trace;
  struct stat now;
  /* A line may have been written in part, and what came after a gap would mislead. */
  if (trace->error != 0) return -1;
  if (trace->is_open && fstat(trace->file, &now) == 0 && now.st_dev == trace->device && now.st_ino == trace->inode) {
    return trace->file;
  }
  if (trace->failed) return -1;
  const int file = out_open();
  if (file < 0 || fstat(file, &now) != 0) {
    trace->failed = true;
    out_line("warpheap run[%d]: the file of the trace cannot be opened; nothing is traced\n", (int)state->process);
    return -1;
  }
  *trace = (struct trace_file){.is_open = true, .file = file, .device = now.st_dev, .inode = now.st_ino};
  return file;
}

__attribute__((format(printf, 2, 3))) static void line(struct state* state, const char* format, ...) {
  if (run_mode() != MODE_TRACE) return;
  const int file = file_of(state);
  if (file < 0) {
    ++state->trace.lost;
    return;
  }
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  char text[LONGEST_LINE];
  int length = snprintf(text, sizeof text, "%" PRId64 " %d %ld ", (int64_t)now.tv_sec * 1000000000 + now.tv_nsec,
                        (int)state->process, (long)syscall(SYS_gettid));
  va_list words;
  va_start(words, format);
  length += vsnprintf(text + length, sizeof text - (size_t)length, format, words);
  va_end(words);
  state->trace.error = out_write(file, text, (size_t)length);
  if (state->trace.error != 0) ++state->trace.lost;
}

void trace_taken(struct state* state, enum call_number call, const struct block* block, stream_handle stream) {
  line(state, "+ %" PRIu64 " %" PRIu64 " %s %s 0x%" PRIxPTR "\n", block->id, block->bytes, kind_name(block->kind),
       calls[call].symbol, (uintptr_t)stream);
}

void trace_refused(struct state* state, const struct request* request, driver_result result) {
  line(state, "! %" PRIu64 " %s %s 0x%" PRIxPTR " %d\n", request->bytes, kind_name(request->kind),
       calls[request->call].symbol, (uintptr_t)request->stream, result);
}

void trace_given(struct state* state, const struct given* given) {
  line(state, "- %" PRIu64 " %s 0x%" PRIxPTR "\n", given->block.id, calls[given->call].symbol,
       (uintptr_t)given->stream);
}

void trace_unknown(struct state* state, const struct given* given, driver_result result) {
  line(state, "? 0x%" PRIx64 " %s 0x%" PRIxPTR " %d\n", given->key & ~KEY_OF_HANDLE, calls[given->call].symbol,
       (uintptr_t)given->stream, result);
}
