/* SPDX-FileCopyrightText: 2026 The warpheap authors
 * SPDX-License-Identifier: Apache-2.0 */
#include "calls.h"
#include "check.h"
#include "driver.h"
#include "notes.h"
#include "pool.h"

/* Memory that is taken and given back in the order of the host: of the device, managed, of the host, and handles of
 * memory without addresses. */

driver_result cuMemAlloc_v2(device_address* block, size_t bytes) {
  __typeof__(&cuMemAlloc_v2) real = REAL(cuMemAlloc_v2);
  if (real == NULL) return DRIVER_NOT_FOUND;
  const struct request request = {CALL_cuMemAlloc_v2, KIND_DEVICE, bytes, NULL};
  if (pool_take(bytes, block)) {
    note_taken(&request, DRIVER_SUCCESS, *block, 0);
    note_pooled(bytes, true);
    return DRIVER_SUCCESS;
  }
  uint32_t zone = check_zone_bytes(bytes);
  driver_result result = real(block, bytes + zone);
  if (zone != 0 && result == DRIVER_OUT_OF_MEMORY) {
    /* The program gets all memory that it would get without a red zone. */
    zone = 0;
    result = real(block, bytes);
  }
  if (result == DRIVER_OUT_OF_MEMORY && pool_spare()) result = real(block, bytes);
  const device_address at = result == DRIVER_SUCCESS ? *block : 0;
  if (at != 0) zone = check_fill_zone(at, bytes, zone);
  note_taken(&request, result, at, zone);
  if (at != 0) note_pooled(bytes, false);
  return result;
}

/* What the pool has free a program can have: by a block of the pool, or by one of the driver, which gets it first. */
driver_result cuMemGetInfo_v2(size_t* free_bytes, size_t* bytes) {
  __typeof__(&cuMemGetInfo_v2) real = REAL(cuMemGetInfo_v2);
  if (real == NULL) return DRIVER_NOT_FOUND;
  /* The pool first: what it takes from the driver in between is then counted once. */
  const uint64_t more = pool_free_bytes();
  const driver_result result = real(free_bytes, bytes);
  if (result == DRIVER_SUCCESS && free_bytes != NULL) {
    const uint64_t most = bytes != NULL && *bytes > *free_bytes ? *bytes - *free_bytes : 0;
    *free_bytes += bytes == NULL || more < most ? more : most;
  }
  note_call(CALL_cuMemGetInfo_v2, result);
  return result;
}

driver_result cuMemAllocPitch_v2(device_address* block, size_t* pitch, size_t width, size_t height, unsigned element) {
  __typeof__(&cuMemAllocPitch_v2) real = REAL(cuMemAllocPitch_v2);
  if (real == NULL) return DRIVER_NOT_FOUND;
  driver_result result = real(block, pitch, width, height, element);
  if (result == DRIVER_OUT_OF_MEMORY && pool_spare()) result = real(block, pitch, width, height, element);
  const struct request request = {CALL_cuMemAllocPitch_v2, KIND_DEVICE,
                                  result == DRIVER_SUCCESS ? *pitch * height : width * height, NULL};
  note_taken(&request, result, result == DRIVER_SUCCESS ? *block : 0, 0);
  return result;
}

driver_result cuMemAllocManaged(device_address* block, size_t bytes, unsigned flags) {
  __typeof__(&cuMemAllocManaged) real = REAL(cuMemAllocManaged);
  if (real == NULL) return DRIVER_NOT_FOUND;
  driver_result result = real(block, bytes, flags);
  if (result == DRIVER_OUT_OF_MEMORY && pool_spare()) result = real(block, bytes, flags);
  const struct request request = {CALL_cuMemAllocManaged, KIND_MANAGED, bytes, NULL};
  note_taken(&request, result, result == DRIVER_SUCCESS ? *block : 0, 0);
  return result;
}

driver_result cuMemFree_v2(device_address block) {
  __typeof__(&cuMemFree_v2) real = REAL(cuMemFree_v2);
  if (real == NULL) return DRIVER_NOT_FOUND;
  const struct given given = note_giving(CALL_cuMemFree_v2, block, NULL);
  check_zone(&given);
  const int pool = pool_of(block);
  const driver_result result = pool >= 0 ? pool_give(pool, &given) : real(block);
  note_given(&given, result);
  if (pool >= 0 && result == DRIVER_SUCCESS) note_unpooled(&given);
  return result;
}

driver_result cuMemAllocHost_v2(void** block, size_t bytes) {
  __typeof__(&cuMemAllocHost_v2) real = REAL(cuMemAllocHost_v2);
  if (real == NULL) return DRIVER_NOT_FOUND;
  const driver_result result = real(block, bytes);
  const struct request request = {CALL_cuMemAllocHost_v2, KIND_HOST, bytes, NULL};
  note_taken(&request, result, result == DRIVER_SUCCESS ? (uintptr_t)*block : 0, 0);
  return result;
}

driver_result cuMemHostAlloc(void** block, size_t bytes, unsigned flags) {
  __typeof__(&cuMemHostAlloc) real = REAL(cuMemHostAlloc);
  if (real == NULL) return DRIVER_NOT_FOUND;
  const driver_result result = real(block, bytes, flags);
  const struct request request = {CALL_cuMemHostAlloc, KIND_HOST, bytes, NULL};
  note_taken(&request, result, result == DRIVER_SUCCESS ? (uintptr_t)*block : 0, 0);
  return result;
}

driver_result cuMemFreeHost(void* block) {
  __typeof__(&cuMemFreeHost) real = REAL(cuMemFreeHost);
  if (real == NULL) return DRIVER_NOT_FOUND;
  const struct given given = note_giving(CALL_cuMemFreeHost, (uintptr_t)block, NULL);
  const driver_result result = real(block);
  note_given(&given, result);
  return result;
}

/* Every handle but 0 has a key of its own. */
static uint64_t key_of(memory_handle handle) { return handle != 0 ? handle | KEY_OF_HANDLE : 0; }

driver_result cuMemCreate(memory_handle* handle, size_t bytes, const void* properties, unsigned long long flags) {
  __typeof__(&cuMemCreate) real = REAL(cuMemCreate);
  if (real == NULL) return DRIVER_NOT_FOUND;
  driver_result result = real(handle, bytes, properties, flags);
  if (result == DRIVER_OUT_OF_MEMORY && pool_spare()) result = real(handle, bytes, properties, flags);
  const struct request request = {CALL_cuMemCreate, KIND_PHYSICAL, bytes, NULL};
  note_taken(&request, result, result == DRIVER_SUCCESS ? key_of(*handle) : 0, 0);
  return result;
}

driver_result cuMemRetainAllocationHandle(memory_handle* handle, void* address) {
  __typeof__(&cuMemRetainAllocationHandle) real = REAL(cuMemRetainAllocationHandle);
  if (real == NULL) return DRIVER_NOT_FOUND;
  /* A block of the driver that was not made from a handle has none, and so has one of a pool. */
  const bool is_pools = pool_of((uintptr_t)address) >= 0;
  const driver_result result = is_pools ? DRIVER_INVALID_VALUE : real(handle, address);
  note_reference(result, result == DRIVER_SUCCESS ? key_of(*handle) : 0);
  return result;
}

driver_result cuMemRelease(memory_handle handle) {
  __typeof__(&cuMemRelease) real = REAL(cuMemRelease);
  if (real == NULL) return DRIVER_NOT_FOUND;
  const struct given given = note_giving(CALL_cuMemRelease, key_of(handle), NULL);
  const driver_result result = real(handle);
  note_given(&given, result);
  return result;
}
