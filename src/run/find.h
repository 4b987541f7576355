/* SPDX-FileCopyrightText: 2026 The warpheap authors
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WARPHEAP_RUN_FIND_H
#define WARPHEAP_RUN_FIND_H

#include <stdbool.h>

/* How the library finds functions that have its own names. */

typedef void* dlsym_function(void* handle, const char* symbol);

/* The C library's dlsym. It is looked up by version, which the library's own dlsym does not have. */
dlsym_function* libc_dlsym(void);

/* The function that the program would have got by this name without the library: of the libraries after this one, or of
 * a driver that was opened by dlopen; null if neither has it. */
void* find_next(const char* symbol);

/* True if the function lies in a file whose name begins with libcuda.so. */
bool is_of_driver(const void* function);

/* True for the path of such a file. */
bool is_driver_file(const char* path);

#endif
