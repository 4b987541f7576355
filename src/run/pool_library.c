/* SPDX-FileCopyrightText: 2026 The warpheap authors
 * SPDX-License-Identifier: Apache-2.0 */
#include "pool_library.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "find.h"
#include "settings.h"

/* It is there from the start of each thread, so to read it takes no memory. */
static __thread __attribute__((tls_model("initial-exec"))) bool is_entered;

void pool_enter(void) { is_entered = true; }
void pool_leave(void) { is_entered = false; }
bool pool_is_entered(void) { return is_entered; }

static struct pool_library library;

static bool open_file(const char* path, char* reason, unsigned long bytes) {
  /* The program's namespace, where the driver is; an auditor has another one. */
  void* const handle = dlmopen(LM_ID_BASE, path, RTLD_NOW | RTLD_LOCAL);
  if (handle == NULL) {
    const char* const error = dlerror();
    snprintf(reason, bytes, "%s", error != NULL ? error : "the library of pools cannot be loaded");
    return false;
  }
#define FIND(name)                                                                           \
  library.name = (__typeof__(library.name))libc_dlsym()(handle, "wh_pool_" #name);           \
  if (library.name == NULL) {                                                                \
    snprintf(reason, bytes, "%s has no wh_pool_" #name " and is no library of pools", path); \
    return false;                                                                            \
  }
  WARPHEAP_POOL_FUNCTIONS(FIND)
  return true;
}

static bool load(char* reason, unsigned long bytes) {
  const char* const path = setting(SETTING_POOL);
  if (*path == '\0') {
    snprintf(reason, bytes, "WARPHEAP_RUN_POOL names no library of pools; start the program with 'warpheap run'");
    return false;
  }
  if (!open_file(path, reason, bytes)) return false;
  if (library.abi() != WH_POOL_ABI) {
    snprintf(reason, bytes, "%s has interface %u and this library needs %d; build both anew", path, library.abi(),
             WH_POOL_ABI);
    return false;
  }
  if (strcmp(library.backend(), "cuda") != 0) {
    snprintf(reason, bytes, "%s makes pools of the backend %s, whose memory is not a GPU's", path, library.backend());
    return false;
  }
  if (library.device_available() == 0) {
    snprintf(reason, bytes, "%s", library.error());
    return false;
  }
  return true;
}

const struct pool_library* pool_library_load(char* reason, unsigned long bytes) {
  pool_enter();
  const bool is_loaded = load(reason, bytes);
  pool_leave();
  return is_loaded ? &library : NULL;
}
