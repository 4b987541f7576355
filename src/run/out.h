/* SPDX-FileCopyrightText: 2026 The warpheap authors
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WARPHEAP_RUN_OUT_H
#define WARPHEAP_RUN_OUT_H

#include <stdbool.h>
#include <stddef.h>

/* Text for the user: it goes to the end of the file that the environment variable WARPHEAP_RUN_OUT names, and without
 * it, or if the file cannot be opened, to stderr as it was when the library was loaded. A program may have closed that,
 * and its number may be another file's by now; then the text goes nowhere. Nothing here takes memory, and neither a
 * reader that has gone nor a limit of the size of files ends anybody. */

struct out {
  int file;    /* -1: the text goes nowhere */
  bool is_own; /* opened for this text */
  int error;   /* of the first write that failed */
  size_t used;
  char text[8192];
};

/* The file of WARPHEAP_RUN_OUT, opened for its end; -1 without one. */
int out_open(void);

/* A text of several lines, which is written in one piece if it has at most 7 KiB. */
void out_begin(struct out* out);
/* One for stderr alone. */
void out_begin_stderr(struct out* out);
__attribute__((format(printf, 2, 3))) void out_add(struct out* out, const char* format, ...);
/* If the file did not take the text, one line on stderr says so, once in a process. */
void out_end(struct out* out);

/* One line, whose end is part of the format. */
__attribute__((format(printf, 1, 2))) void out_line(const char* format, ...);

/* Writes all bytes, as far as the file takes them. Returns 0, or the system's error. */
int out_write(int file, const char* bytes, size_t count);

/* The reason that an error of the system gives, for messages. */
const char* out_reason(int error);

#endif
