/* SPDX-FileCopyrightText: 2026 The warpheap authors
 * SPDX-License-Identifier: Apache-2.0 */
#include "out.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* One line is shorter than what the buffer has beyond this. */
enum { FLUSH_AT = 7168, LONGEST_LINE = 1024 };

int out_open(void) {
  const char* const path = getenv("WARPHEAP_RUN_OUT");
  if (path == NULL || *path == '\0') return -1;
  return open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
}

static void write_all(int file, const char* bytes, size_t count) {
  while (count != 0) {
    const ssize_t written = write(file, bytes, count);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    bytes += written;
    count -= (size_t)written;
  }
}

/* Without the signal that a pipe without a reader sends: the program did not write this. */
void out_write(int file, const char* bytes, size_t count) {
  sigset_t pipe, before, pending;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  sigpending(&pending);
  if (sigismember(&pending, SIGPIPE) == 1 || sigprocmask(SIG_BLOCK, &pipe, &before) != 0) {
    write_all(file, bytes, count);
    return;
  }
  write_all(file, bytes, count);
  while (sigtimedwait(&pipe, NULL, &(struct timespec){0}) < 0 && errno == EINTR) {
  }
  sigprocmask(SIG_SETMASK, &before, NULL);
}

static void flush(struct out* out) {
  out_write(out->file, out->text, out->used);
  out->used = 0;
}

void out_begin(struct out* out) {
  const int file = out_open();
  out->file = file < 0 ? STDERR_FILENO : file;
  out->used = 0;
}

static void add(struct out* out, const char* format, va_list words) {
  const int length = vsnprintf(out->text + out->used, LONGEST_LINE, format, words);
  if (length > 0) out->used += length < LONGEST_LINE ? (size_t)length : LONGEST_LINE - 1;
  if (out->used > FLUSH_AT) flush(out);
}

void out_add(struct out* out, const char* format, ...) {
  va_list words;
  va_start(words, format);
  add(out, format, words);
  va_end(words);
}

void out_end(struct out* out) {
  flush(out);
  if (out->file != STDERR_FILENO) close(out->file);
}

void out_line(const char* format, ...) {
  struct out out;
  va_list words;
  out_begin(&out);
  va_start(words, format);
  add(&out, format, words);
  va_end(words);
  out_end(&out);
}
