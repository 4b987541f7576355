/* SPDX-FileCopyrightText: 2026 The warpheap authors
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "calls.h"
#include "driver.h"
#include "notes.h"
#include "pool_library.h"

typedef driver_result first_form(const char* name, void** function, int version, uint64_t flags);
typedef driver_result second_form(const char* name, void** function, int version, uint64_t flags, int* status);

/* The driver's cuGetProcAddress, in one of its two forms. */
struct driver_table {
  first_form* first;
  second_form* second;
};

static void* look_up(const struct driver_table* table, const char* name, int version, uint64_t flags) {
  void* found = NULL;
  int status = 0;
  const driver_result result = table->second != NULL ? table->second(name, &found, version, flags, &status)
                                                     : table->first(name, &found, version, flags);
  return result == DRIVER_SUCCESS ? found : NULL;
}

/* The wrapper of what the driver found under that name; `found` itself if the library has no wrapper with this form.
 *
 * A later version of CUDA can have another form under the same name. So a wrapper answers only if the driver finds the
 * same function under the version that the wrapper was written for. */
static void* answer(const struct driver_table* table, const char* name, void* found) {
  for (int i = 0; i < CALLS; ++i) {
    struct call* const call = &calls[i];
    if (strcmp(name, call->base) != 0 && strcmp(name, call->symbol) != 0) continue;
    const uint64_t flags = call->per_thread ? DRIVER_STREAM_OF_THREAD : DRIVER_LEGACY_STREAM;
    if (look_up(table, name, call->version, flags) != found) continue;
    call_found(call, found);
    note_lookup((enum call_number)i);
    return call->wrapper;
  }
  return found;
}

driver_result cuGetProcAddress(const char* name, void** function, int version, uint64_t flags) {
  const struct driver_table table = {.first = REAL(cuGetProcAddress)};
  if (table.first == NULL) return DRIVER_NOT_FOUND;
  const driver_result result = table.first(name, function, version, flags);
  if (result == DRIVER_SUCCESS && *function != NULL && !pool_is_entered()) *function = answer(&table, name, *function);
  note_call(CALL_cuGetProcAddress, result);
  return result;
}

driver_result cuGetProcAddress_v2(const char* name, void** function, int version, uint64_t flags, int* status) {
  const struct driver_table table = {.second = REAL(cuGetProcAddress_v2)};
  if (table.second == NULL) return DRIVER_NOT_FOUND;
  const driver_result result = table.second(name, function, version, flags, status);
  if (result == DRIVER_SUCCESS && *function != NULL && !pool_is_entered()) *function = answer(&table, name, *function);
  note_call(CALL_cuGetProcAddress_v2, result);
  return result;
}
