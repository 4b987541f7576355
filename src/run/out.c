/* SPDX-FileCopyrightText: 2026 The warpheap authors
 * SPDX-License-Identifier: Apache-2.0 */
#include "out.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "settings.h"

/* One line is shorter than what the buffer has beyond this. */
enum { FLUSH_AT = 7168, LONGEST_LINE = 1024 };

int out_open(void) {
  const char* const path = setting(SETTING_OUT);
  if (*path == '\0') return -1;
  return open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
}

static struct {
  bool is_open;
  dev_t device;
  ino_t inode;
} first_stderr;

__attribute__((constructor)) static void remember_stderr(void) {
  struct stat now;
  if (fstat(STDERR_FILENO, &now) != 0) return;
  first_stderr.is_open = true;
  first_stderr.device = now.st_dev;
  first_stderr.inode = now.st_ino;
}

static int stderr_of_user(void) {
  struct stat now;
  const bool is_there = first_stderr.is_open && fstat(STDERR_FILENO, &now) == 0 && now.st_dev == first_stderr.device &&
                        now.st_ino == first_stderr.inode;
  return is_there ? STDERR_FILENO : -1;
}

static int write_all(int file, const char* bytes, size_t count) {
  while (count != 0) {
    const ssize_t written = write(file, bytes, count);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    if (written == 0) return EIO;
    bytes += written;
    count -= (size_t)written;
  }
  return 0;
}

/* Without the signals that a pipe without a reader and a file at its limit send: the program did not write this. One
 * that waits already is the program's own, and stays. */
int out_write(int file, const char* bytes, size_t count) {
  static const int kinds[] = {SIGPIPE, SIGXFSZ};
  sigset_t ours, before, pending;
  sigemptyset(&ours);
  sigpending(&pending);
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
    if (sigismember(&pending, kinds[i]) != 1) sigaddset(&ours, kinds[i]);
  }
  if (sigprocmask(SIG_BLOCK, &ours, &before) != 0) return write_all(file, bytes, count);
  const int error = write_all(file, bytes, count);
  if (error != 0) {
    while (sigtimedwait(&ours, NULL, &(struct timespec){0}) > 0 || errno == EINTR) {
    }
  }
  sigprocmask(SIG_SETMASK, &before, NULL);
  return error;
}

const char* out_reason(int error) {
  switch (error) {
    case ENOSPC: return "no space is left on the disk";
    case EDQUOT: return "the quota of the disk is used up";
    case EFBIG: return "the file has reached the limit of its size";
    default: return "the system refused";
  }
}

static void flush(struct out* out) {
  if (out->file >= 0 && out->error == 0) out->error = out_write(out->file, out->text, out->used);
  out->used = 0;
}

static void begin(struct out* out, int file, bool is_own) {
  out->file = file;
  out->is_own = is_own;
  out->error = 0;
  out->used = 0;
}

void out_begin(struct out* out) {
  const int file = out_open();
  begin(out, file < 0 ? stderr_of_user() : file, file >= 0);
}

void out_begin_stderr(struct out* out) { begin(out, stderr_of_user(), false); }

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

static void tell_of_loss(int error) {
  static atomic_flag is_told = ATOMIC_FLAG_INIT;
  if (atomic_flag_test_and_set(&is_told)) return;
  struct out out;
  out_begin_stderr(&out);
  out_add(&out, "warpheap run[%d]: the report could not be written: error %d, %s\n", (int)getpid(), error,
          out_reason(error));
  flush(&out);
}

void out_end(struct out* out) {
  flush(out);
  if (!out->is_own) return;
  close(out->file);
  if (out->error != 0) tell_of_loss(out->error);
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
