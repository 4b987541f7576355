/* SPDX-FileCopyrightText: 2026 The warpheap authors
 * SPDX-License-Identifier: Apache-2.0 */
#include "settings.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static char values[SETTINGS][PATH_MAX];

/* Constructors of other libraries may have run, and have asked, before. */
__attribute__((constructor)) static void remember(void) {
  static const char* const variables[SETTINGS] = {"WARPHEAP_RUN_MODE", "WARPHEAP_RUN_OUT", "WARPHEAP_RUN_POOL"};
  static bool is_known;
  if (is_known) return;
  for (int which = 0; which < SETTINGS; ++which) {
    const char* const value = getenv(variables[which]);
    if (value != NULL && strlen(value) < sizeof values[which]) strcpy(values[which], value);
  }
  is_known = true;
}

const char* setting(enum setting which) {
  remember();
  return values[which];
}
