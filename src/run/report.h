/* SPDX-FileCopyrightText: 2026 The warpheap authors
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WARPHEAP_RUN_REPORT_H
#define WARPHEAP_RUN_REPORT_H

/* Writes the report of the process: in MODE_COUNT the figures of calls and memory, in
 * MODE_POOL those of the pools, too, in MODE_CHECK the faults and the
 * blocks that are live, in MODE_TRACE lines that were lost. The first call does this; later ones, and those of a
 * process that has made no call of the driver that the library answers, do nothing. */
void report_at_end(void);

#endif
