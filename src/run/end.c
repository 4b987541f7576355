/* SPDX-FileCopyrightText: 2026 The warpheap authors
 * SPDX-License-Identifier: Apache-2.0 */
#include "end.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "report.h"
#include "watch.h"

/* Destructors of libraries run after all that programs registered with atexit, C++ destructors of statics included. */
__attribute__((destructor)) static void at_exit(void) { report_at_end(); }

/* A program that calls _exit runs no destructor. */
_Noreturn void end_process(int status) {
  report_at_end();
  watch_end();
  for (;;) syscall(SYS_exit_group, status);
}

_Noreturn void _exit(int status) { end_process(status); }
_Noreturn void _Exit(int status) { end_process(status); }
