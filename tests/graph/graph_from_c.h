/* SPDX-FileCopyrightText: 2026 The warpheap authors
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/* Uses a graph of each design as a program in C does, with arrays of the library. Returns 0, or the line that something
 * was wrong in. */
int graph_used_from_c(void);

#ifdef __cplusplus
}
#endif
