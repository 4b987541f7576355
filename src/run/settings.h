/* SPDX-FileCopyrightText: 2026 The warpheap authors
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WARPHEAP_RUN_SETTINGS_H
#define WARPHEAP_RUN_SETTINGS_H

enum setting { SETTING_MODE, SETTING_OUT, SETTING_POOL, SETTINGS };

/* What `warpheap run` says in an environment variable, as it was when the program began: the program may clear its
 * environment, or change it in another thread. Empty if it is not set, or longer than the path of a file can be. */
const char* setting(enum setting which);

#endif
