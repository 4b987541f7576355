/* SPDX-FileCopyrightText: 2026 The warpheap authors
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/* Uses a heap of each design as a program in C does. Returns 0, or the line that something was wrong in. */
int heap_used_from_c(void);

#ifdef __cplusplus
}
#endif
