/* SPDX-FileCopyrightText: 2026 The warpheap authors
 * SPDX-License-Identifier: Apache-2.0 */

#include "mam_from_c.h"

#include <string.h>
#include <warpheap/pool/mam.h>

int mam_used_from_c(void) {
  void* block = NULL;
  if (MAM_Create((size_t)1 << 20) != MAM_SUCCESS) return 1;
  if (MAM_CudaMalloc(&block, 1000) != MAM_SUCCESS || block == NULL) return 2;
  if (MAM_CudaFree(block) != MAM_SUCCESS) return 3;
  if (strlen(MAM_GetErrorString(MAM_CudaFree(block))) == 0) return 4;
  return MAM_Destroy() == MAM_SUCCESS ? 0 : 5;
}
