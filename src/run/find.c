/* SPDX-FileCopyrightText: 2026 The warpheap authors
 * SPDX-License-Identifier: Apache-2.0 */
#include "find.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "pool_library.h"

#define DRIVER_FILE "libcuda.so"

dlsym_function* libc_dlsym(void) {
  /* The versions that dlsym has had on the architectures that CUDA runs on. */
  static const char* const versions[] = {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17"};
  static _Atomic(dlsym_function*) known;
  dlsym_function* found = atomic_load_explicit(&known, memory_order_relaxed);
  if (found != NULL) return found;
  for (size_t i = 0; found == NULL && i < sizeof versions / sizeof *versions; ++i) {
    found = (dlsym_function*)dlvsym(RTLD_NEXT, "dlsym", versions[i]);
  }
  atomic_store_explicit(&known, found, memory_order_relaxed);
  return found;
}

static void* search(const char* symbol) {
  void* found = libc_dlsym()(RTLD_NEXT, symbol);
  if (found != NULL) return found;
  /* The program's libraries; those of an auditor are others. */
  void* const driver = dlmopen(LM_ID_BASE, DRIVER_FILE ".1", RTLD_LAZY | RTLD_NOLOAD);
  if (driver == NULL) return NULL;
  found = libc_dlsym()(driver, symbol);
  dlclose(driver);
  return found;
}

void* find_next(const char* symbol) {
  /* An auditor is told of its own searches, too, and would bind its wrapper. */
  const bool was_entered = pool_is_entered();
  pool_enter();
  void* const found = search(symbol);
  if (!was_entered) pool_leave();
  return found;
}

bool is_driver_file(const char* path) {
  const char* const slash = strrchr(path, '/');
  const char* const name = slash == NULL ? path : slash + 1;
  return strncmp(name, DRIVER_FILE, strlen(DRIVER_FILE)) == 0;
}

bool is_of_driver(const void* function) {
  Dl_info info;
  return dladdr(function, &info) != 0 && info.dli_fname != NULL && is_driver_file(info.dli_fname);
}
