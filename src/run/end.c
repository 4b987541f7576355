/* SPDX-FileCopyrightText: 2026 The warpheap authors
 * SPDX-License-Identifier: Apache-2.0 */
#include "end.h"

#include <dlfcn.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "find.h"
#include "report.h"
#include "watch.h"

/* Destructors of libraries run after all that programs registered with atexit, C++ destructors of statics included. */
__attribute__((destructor)) static void at_exit(void) { report_at_end(); }

static void at_quick_exit_of_program(void* ignored) {
  (void)ignored;
  report_at_end();
  watch_end();
}

/* `quick_exit` runs no destructor, and goes to the C library's own _exit. What is registered first runs last. An
 * auditor comes before the program's C library is there, and is called again then. */
__attribute__((constructor)) void end_register(void) {
  typedef int register_function(void (*)(void*), void*);
  void* const c_library = dlmopen(LM_ID_BASE, "libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
  if (c_library == NULL) return;
  register_function* const add = (register_function*)libc_dlsym()(c_library, "__cxa_at_quick_exit");
  if (add != NULL) add(at_quick_exit_of_program, NULL);
}

/* A program that calls _exit runs no destructor. */
_Noreturn void end_process(int status) {
  report_at_end();
  watch_end();
  for (;;) syscall(SYS_exit_group, status);
}

_Noreturn void _exit(int status) { end_process(status); }
_Noreturn void _Exit(int status) { end_process(status); }
