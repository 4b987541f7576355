/* SPDX-FileCopyrightText: 2026 The warpheap authors
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WARPHEAP_RUN_END_H
#define WARPHEAP_RUN_END_H

/* What stands before the C library's _exit and _Exit: writes the report, then ends the process. */
_Noreturn void end_process(int status);

/* Sees to a report at `quick_exit`. */
void end_register(void);

#endif
