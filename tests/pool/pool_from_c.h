/* SPDX-FileCopyrightText: 2026 The warpheap authors
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/* Uses a pool as a program in C does. Returns 0, or the line that something was wrong in. */
int pool_used_from_c(void);

#ifdef __cplusplus
}
#endif
