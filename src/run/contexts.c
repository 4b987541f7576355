/* SPDX-FileCopyrightText: 2026 The warpheap authors
 * SPDX-License-Identifier: Apache-2.0 */
#include "contexts.h"

#include <stddef.h>

#include "find.h"

enum { NON_BLOCKING = 1, STREAM_LEGACY = 1, CAPTURE_NONE = 0 };

#define FUNCTIONS(X)                                                            \
  X(cuCtxGetCurrent, driver_result (*)(void** context))                         \
  X(cuCtxPushCurrent_v2, driver_result (*)(void* context))                      \
  X(cuCtxPopCurrent_v2, driver_result (*)(void** context))                      \
  X(cuCtxSynchronize, driver_result (*)(void))                                  \
  X(cuDeviceGetCount, driver_result (*)(int* count))                            \
  X(cuDeviceGet, driver_result (*)(int* device, int number))                    \
  X(cuDevicePrimaryCtxGetState, driver_result (*)(int, unsigned*, int* active)) \
  X(cuDevicePrimaryCtxRetain, driver_result (*)(void** context, int device))    \
  X(cuDevicePrimaryCtxRelease_v2, driver_result (*)(int device))                \
  X(cuStreamCreate, driver_result (*)(stream_handle*, unsigned flags))          \
  X(cuStreamGetCtx, driver_result (*)(stream_handle, void** context))           \
  X(cuStreamSynchronize, driver_result (*)(stream_handle))                      \
  X(cuStreamIsCapturing, driver_result (*)(stream_handle, int* status))

#define MEMBER(name, type) __typeof__((type)NULL) name;
static struct {
  FUNCTIONS(MEMBER)
} driver;

const char* contexts_open(void) {
#define OPEN(name, type)                \
  driver.name = (type)find_next(#name); \
  if (driver.name == NULL) return #name;
  FUNCTIONS(OPEN)
  return NULL;
}

void* context_current(void) {
  void* context = NULL;
  return driver.cuCtxGetCurrent(&context) == DRIVER_SUCCESS ? context : NULL;
}

void* context_of_stream(stream_handle stream) {
  const uintptr_t handle = (uintptr_t)stream;
  if (handle == 0 || handle == STREAM_LEGACY || handle == STREAM_OF_THREAD) return context_current();
  void* context = NULL;
  return driver.cuStreamGetCtx(stream, &context) == DRIVER_SUCCESS ? context : NULL;
}

int context_device(void* context) {
  int count = 0;
  if (context == NULL || driver.cuDeviceGetCount(&count) != DRIVER_SUCCESS) return -1;
  for (int number = 0; number < count; ++number) {
    int device = 0, is_active = 0;
    unsigned flags = 0;
    void* primary = NULL;
    /* One that is not active would be made by the question. */
    if (driver.cuDeviceGet(&device, number) != DRIVER_SUCCESS ||
        driver.cuDevicePrimaryCtxGetState(device, &flags, &is_active) != DRIVER_SUCCESS || !is_active ||
        driver.cuDevicePrimaryCtxRetain(&primary, device) != DRIVER_SUCCESS) {
      continue;
    }
    driver.cuDevicePrimaryCtxRelease_v2(device);
    if (primary == context) return number;
  }
  return -1;
}

driver_result context_synchronise(void* context) {
  const bool is_current = context_current() == context;
  driver_result result = is_current ? DRIVER_SUCCESS : driver.cuCtxPushCurrent_v2(context);
  if (result != DRIVER_SUCCESS) return result;
  result = driver.cuCtxSynchronize();
  void* popped = NULL;
  if (!is_current) driver.cuCtxPopCurrent_v2(&popped);
  return result;
}

driver_result context_make_stream(void* context, stream_handle* stream) {
  driver_result result = driver.cuCtxPushCurrent_v2(context);
  if (result != DRIVER_SUCCESS) return result;
  result = driver.cuStreamCreate(stream, NON_BLOCKING);
  void* popped = NULL;
  driver.cuCtxPopCurrent_v2(&popped);
  return result;
}

driver_result stream_synchronise(stream_handle stream) { return driver.cuStreamSynchronize(stream); }

driver_result stream_is_captured(stream_handle stream, bool* is_captured) {
  int status = CAPTURE_NONE;
  const driver_result result = driver.cuStreamIsCapturing(stream, &status);
  *is_captured = status != CAPTURE_NONE;
  return result;
}
