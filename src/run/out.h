/* SPDX-FileCopyrightText: 2026 The warpheap authors
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WARPHEAP_RUN_OUT_H
#define WARPHEAP_RUN_OUT_H

#include <stddef.h>

/* Text for the user: it goes to the end of the file that the environment variable WARPHEAP_RUN_OUT names, and without
 * it, or if the file cannot be opened, to stderr. Nothing here takes memory, and a reader that has gone ends nobody. */

struct out {
  int file;
  size_t used;
  char text[8192];
};

/* The file of WARPHEAP_RUN_OUT, opened for its end; -1 without one. */
int out_open(void);

/* A text of several lines, which is written in one piece if it has at most 7 KiB. */
void out_begin(struct out* out);
__attribute__((format(printf, 2, 3))) void out_add(struct out* out, const char* format, ...);
void out_end(struct out* out);

/* One line, whose end is part of the format. */
__attribute__((format(printf, 1, 2))) void out_line(const char* format, ...);

/* Writes all bytes, as far as the file takes them. */
void out_write(int file, const char* bytes, size_t count);

#endif
