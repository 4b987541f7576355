/* SPDX-FileCopyrightText: 2026 The warpheap authors
 * SPDX-License-Identifier: Apache-2.0 */

/* Another library that is loaded into programs, for tests of `warpheap run`. It says at the end what it saw.
 *
 * With -DHAS_DLSYM it has a dlsym of its own, as tools have it that look at other calls; the C library's it finds by
 * version. Without, it stands before fflush, and finds the next one by dlsym. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static int seen;

#ifdef HAS_DLSYM
void* dlsym(void* restrict handle, const char* restrict name) {
  static void* (*next)(void*, const char*);
  static const char* const versions[] = {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17"};
  for (int i = 0; next == NULL && i < 3; ++i) {
    next = (void* (*)(void*, const char*))dlvsym(RTLD_NEXT, "dlsym", versions[i]);
  }
  if (strncmp(name, "cu", 2) == 0) ++seen;
  return next(handle, name);
}
#else
int fflush(FILE* file) {
  static int depth;
  /* A next one that is this one would go on for ever. */
  if (depth++ != 0) __builtin_trap();
  int (*const next)(FILE*) = (int (*)(FILE*))dlsym(RTLD_NEXT, "fflush");
  const int result = next(file);
  --depth;
  ++seen;
  return result;
}
#endif

__attribute__((destructor)) static void tell(void) { fprintf(stderr, "the other library saw %d\n", seen); }
