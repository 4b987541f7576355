/* SPDX-FileCopyrightText: 2026 The warpheap authors
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MAM_FROM_C_H
#define MAM_FROM_C_H

#ifdef __cplusplus
extern "C" {
#endif

/* Uses the interface as the paper shows; 0 if all went well, else the number of the step that did not. */
int mam_used_from_c(void);

#ifdef __cplusplus
}
#endif

#endif
