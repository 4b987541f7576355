/* SPDX-FileCopyrightText: 2026 The warpheap authors
 * SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include "calls.h"
#include "end.h"
#include "find.h"
#include "notes.h"
#include "pool_library.h"

/* The second way in: as an auditor (LD_AUDIT) the library is told of each function that the dynamic linker binds, by
 * name or by dlsym, and says what to bind in its place. It then lies in a namespace of its own, and nothing that it
 * exports is seen by the program. */

/* What a file is; the dynamic linker keeps this for each. */
enum { OTHER_FILE, DRIVER, C_LIBRARY };

unsigned la_version(unsigned version) { return version < LAV_CURRENT ? version : LAV_CURRENT; }

unsigned la_objopen(struct link_map* map, Lmid_t space, uintptr_t* cookie) {
  (void)space;
  *cookie = is_driver_file(map->l_name) ? DRIVER : strstr(map->l_name, "/libc.so.") != NULL ? C_LIBRARY : OTHER_FILE;
  return LA_FLG_BINDFROM | (*cookie == OTHER_FILE ? 0 : LA_FLG_BINDTO);
}

void la_preinit(uintptr_t* cookie) {
  (void)cookie;
  end_register();
}

uintptr_t la_symbind64(Elf64_Sym* symbol, unsigned index, uintptr_t* from, uintptr_t* to, unsigned* flags,
                       const char* name) {
  (void)index, (void)from;
  *flags |= LA_SYMB_NOPLTENTER | LA_SYMB_NOPLTEXIT;
  if (*to == C_LIBRARY) {
    const int ends = strcmp(name, "_exit") == 0 || strcmp(name, "_Exit") == 0;
    return ends ? (uintptr_t)end_process : symbol->st_value;
  }
  struct call* const call = *to == DRIVER ? call_of_symbol(name) : NULL;
  if (call == NULL || pool_is_entered()) return symbol->st_value;
  call_found(call, (void*)symbol->st_value);
  note_lookup((enum call_number)(call - calls));
  return (uintptr_t)call->wrapper;
}
