/* SPDX-FileCopyrightText: 2026 The warpheap authors
 * SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <stddef.h>

#include "calls.h"
#include "find.h"
#include "notes.h"
#include "pool_library.h"

/* The wrapper, where the search leads to the driver's function. */
static void* answer(struct call* call, void* handle) {
  void* found = libc_dlsym()(handle, call->symbol);
  if (found == call->wrapper) {
    /* The search came to this library first, as one of all libraries does: is there a driver, too? */
    found = find_next(call->symbol);
    if (found == NULL) {
      /* This fails again, and then dlerror says so. Its result is not returned, for that would be a jump, too. */
      libc_dlsym()(RTLD_NEXT, call->symbol);
      return NULL;
    }
  }
  if (found == NULL || !is_of_driver(found) || pool_is_entered()) return found;
  call_found(call, found);
  note_lookup((enum call_number)(call - calls));
  return call->wrapper;
}

/* What is not answered goes on by a jump, which this file is compiled for: the C library looks at who called it, for
 * RTLD_NEXT and for the libraries that RTLD_DEFAULT begins with. After a call in place of the jump another library that
 * has a dlsym, and looks for the next one, would find its own. */
void* dlsym(void* restrict handle, const char* restrict symbol) {
  struct call* const call = handle != RTLD_NEXT && symbol[0] == 'c' && symbol[1] == 'u' ? call_of_symbol(symbol) : NULL;
  if (call == NULL) return libc_dlsym()(handle, symbol);
  return answer(call, handle);
}
