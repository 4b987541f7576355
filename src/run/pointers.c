/* SPDX-FileCopyrightText: 2026 The warpheap authors
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdatomic.h>
#include <unistd.h>

#include "calls.h"
#include "check.h"
#include "driver.h"
#include "notes.h"
#include "out.h"
#include "pool.h"
#include "state.h"

/* What the program asks about memory. To the driver a pool is one allocation, so what it would say of a block of a
 * pool is said here; and what only whole allocations have is refused. */

enum { CONTEXT = 1, MEMORY_KIND = 2, RANGE_START = 11, RANGE_BYTES = 12 }; /* attributes of pointers */
enum { PERFORMANCE_RANK = 1 };                                             /* of pairs of devices */

static driver_result range_in_pool(device_address* base, size_t* bytes, device_address address) {
  struct block block;
  if (!pool_find_block(address, &block)) return DRIVER_INVALID_VALUE;
  if (base != NULL) *base = block.key;
  if (bytes != NULL) *bytes = block.bytes;
  return DRIVER_SUCCESS;
}

driver_result cuMemGetAddressRange_v2(device_address* base, size_t* bytes, device_address address) {
  __typeof__(&cuMemGetAddressRange_v2) real = REAL(cuMemGetAddressRange_v2);
  if (real == NULL) return DRIVER_NOT_FOUND;
  driver_result result = DRIVER_SUCCESS;
  if (pool_of(address) >= 0) {
    result = range_in_pool(base, bytes, address);
  } else {
    device_address start = 0;
    result = real(&start, bytes, address);
    if (result == DRIVER_SUCCESS) {
      /* The program did not ask for the red zone. */
      if (bytes != NULL) *bytes -= check_zone_of(start);
      if (base != NULL) *base = start;
    }
  }
  note_call(CALL_cuMemGetAddressRange_v2, result);
  return result;
}

/* Writes an attribute of a block of a pool over what the driver said of the pool. */
static void mend_attribute(int pool, const struct block* block, int attribute, void* value) {
  if (attribute == RANGE_START) *(device_address*)value = block->key;
  if (attribute == RANGE_BYTES) *(size_t*)value = block->bytes;
  if (attribute == CONTEXT && block->kind == KIND_DEVICE) *(void**)value = pool_context(pool);
}

driver_result cuPointerGetAttribute(void* value, int attribute, device_address address) {
  __typeof__(&cuPointerGetAttribute) real = REAL(cuPointerGetAttribute);
  if (real == NULL) return DRIVER_NOT_FOUND;
  driver_result result = real(value, attribute, address);
  const int pool = pool_of(address);
  struct block block;
  const bool is_answered = attribute == CONTEXT || attribute == RANGE_START || attribute == RANGE_BYTES;
  if (pool >= 0 && is_answered && value != NULL && pool_find_block(address, &block) &&
      (attribute != CONTEXT || block.kind == KIND_DEVICE)) {
    mend_attribute(pool, &block, attribute, value);
    result = DRIVER_SUCCESS;
  }
  note_call(CALL_cuPointerGetAttribute, result);
  return result;
}

driver_result cuPointerGetAttributes(unsigned count, int* attributes, void** values, device_address address) {
  __typeof__(&cuPointerGetAttributes) real = REAL(cuPointerGetAttributes);
  if (real == NULL) return DRIVER_NOT_FOUND;
  const driver_result result = real(count, attributes, values, address);
  const int pool = result == DRIVER_SUCCESS ? pool_of(address) : -1;
  struct block block;
  if (pool >= 0 && pool_find_block(address, &block)) {
    for (unsigned at = 0; at < count; ++at) mend_attribute(pool, &block, attributes[at], values[at]);
  }
  note_call(CALL_cuPointerGetAttributes, result);
  return result;
}

/* Says once for each call why it is refused. */
static void say_refused(enum call_number call, const char* why) {
  static _Atomic bool is_told[CALLS];
  if (atomic_exchange_explicit(&is_told[call], true, memory_order_relaxed)) return;
  out_line("warpheap run[%d]: %s was refused: %s; run the program with another mode\n", (int)getpid(),
           calls[call].symbol, why);
}

driver_result cuIpcGetMemHandle(void* handle, device_address address) {
  __typeof__(&cuIpcGetMemHandle) real = REAL(cuIpcGetMemHandle);
  if (real == NULL) return DRIVER_NOT_FOUND;
  driver_result result = DRIVER_NOT_SUPPORTED;
  if (pool_of(address) >= 0) {
    say_refused(CALL_cuIpcGetMemHandle,
                "a block of the pool is a part of an allocation, and the driver shares whole ones");
  } else {
    result = real(handle, address);
  }
  note_call(CALL_cuIpcGetMemHandle, result);
  return result;
}

/* Other devices cannot reach the memory of a pool. Programs ask first, and copy through the host where the answer is
 * no. */

driver_result cuDeviceCanAccessPeer(int* can, int device, int peer) {
  __typeof__(&cuDeviceCanAccessPeer) real = REAL(cuDeviceCanAccessPeer);
  if (real == NULL) return DRIVER_NOT_FOUND;
  const driver_result result = real(can, device, peer);
  if (result == DRIVER_SUCCESS && pool_serves()) *can = 0;
  note_call(CALL_cuDeviceCanAccessPeer, result);
  return result;
}

driver_result cuDeviceGetP2PAttribute(int* value, int attribute, int device, int peer) {
  __typeof__(&cuDeviceGetP2PAttribute) real = REAL(cuDeviceGetP2PAttribute);
  if (real == NULL) return DRIVER_NOT_FOUND;
  const driver_result result = real(value, attribute, device, peer);
  if (result == DRIVER_SUCCESS && attribute != PERFORMANCE_RANK && pool_serves()) *value = 0;
  note_call(CALL_cuDeviceGetP2PAttribute, result);
  return result;
}

driver_result cuCtxEnablePeerAccess(void* context, unsigned flags) {
  __typeof__(&cuCtxEnablePeerAccess) real = REAL(cuCtxEnablePeerAccess);
  if (real == NULL) return DRIVER_NOT_FOUND;
  driver_result result = DRIVER_NO_PEER_ACCESS;
  if (pool_serves()) {
    say_refused(CALL_cuCtxEnablePeerAccess, "other devices cannot reach the memory of the pool");
  } else {
    result = real(context, flags);
  }
  note_call(CALL_cuCtxEnablePeerAccess, result);
  return result;
}

driver_result cuDeviceSetMemPool(int device, void* pool) {
  __typeof__(&cuDeviceSetMemPool) real = REAL(cuDeviceSetMemPool);
  if (real == NULL) return DRIVER_NOT_FOUND;
  const driver_result result = real(device, pool);
  if (result == DRIVER_SUCCESS) pool_leave_streams_alone();
  note_call(CALL_cuDeviceSetMemPool, result);
  return result;
}

/* Of CUDA 13. For memory of another kind than that of a device, the program's pool serves no block of a stream, and to
 * leave the streams to the driver costs speed at most. */
driver_result cuMemSetMemPool(void* location, int type, void* pool) {
  __typeof__(&cuMemSetMemPool) real = REAL(cuMemSetMemPool);
  if (real == NULL) return DRIVER_NOT_FOUND;
  const driver_result result = real(location, type, pool);
  if (result == DRIVER_SUCCESS) pool_leave_streams_alone();
  note_call(CALL_cuMemSetMemPool, result);
  return result;
}

/* --- Ends of contexts --------------------------------------------------------------------------------------------- */

/* Any other answer, such as that of a broken context, says nothing of the pointer. */
static bool is_unknown(uint64_t key, const void* ask) {
  __typeof__(&cuPointerGetAttribute) const real = (__typeof__(&cuPointerGetAttribute))ask;
  int kind = 0;
  return (key & KEY_OF_HANDLE) == 0 && real(&kind, MEMORY_KIND, key) == DRIVER_INVALID_VALUE;
}

/* A context has ended, or may have: the driver is asked which blocks are there. MODE_CHECK lists those that went with
 * their context as what the program did not free. */
static void look_for_ends(enum call_number call, driver_result result) {
  __typeof__(&cuPointerGetAttribute) const ask = REAL(cuPointerGetAttribute);
  if (result == DRIVER_SUCCESS && ask != NULL && run_mode() != MODE_CHECK && run_mode() != MODE_OFF) {
    note_gone(call, is_unknown, (const void*)ask, false);
  }
  note_call(call, result);
}

driver_result cuCtxDestroy_v2(void* context) {
  __typeof__(&cuCtxDestroy_v2) real = REAL(cuCtxDestroy_v2);
  if (real == NULL) return DRIVER_NOT_FOUND;
  const driver_result result = real(context);
  look_for_ends(CALL_cuCtxDestroy_v2, result);
  return result;
}

driver_result cuDevicePrimaryCtxRelease_v2(int device) {
  __typeof__(&cuDevicePrimaryCtxRelease_v2) real = REAL(cuDevicePrimaryCtxRelease_v2);
  if (real == NULL) return DRIVER_NOT_FOUND;
  const driver_result result = real(device);
  look_for_ends(CALL_cuDevicePrimaryCtxRelease_v2, result);
  return result;
}

#define RESET(symbol)                                               \
  driver_result symbol(int device) {                                \
    __typeof__(&symbol) real = REAL(symbol);                        \
    if (real == NULL) return DRIVER_NOT_FOUND;                      \
    const driver_result result = real(device);                      \
    if (result == DRIVER_SUCCESS) pool_lose(CALL_##symbol, device); \
    look_for_ends(CALL_##symbol, result);                           \
    return result;                                                  \
  }
RESET(cuDevicePrimaryCtxReset)
RESET(cuDevicePrimaryCtxReset_v2)
