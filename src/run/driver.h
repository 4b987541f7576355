/* SPDX-FileCopyrightText: 2026 The warpheap authors
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WARPHEAP_RUN_DRIVER_H
#define WARPHEAP_RUN_DRIVER_H

#include <stddef.h>
#include <stdint.h>

/* The calls of CUDA's driver that the library answers, with the types of their binary interface. <cuda.h> is not
 * needed, so the library is built where there is no toolkit. Each function has the name of the driver's own and
 * stands before it; it makes the driver's call and returns what that returned. */

typedef int32_t driver_result;
typedef uint64_t device_address;
typedef uint64_t memory_handle;
typedef void* stream_handle;

enum {
  DRIVER_SUCCESS = 0,
  DRIVER_INVALID_VALUE = 1,
  DRIVER_OUT_OF_MEMORY = 2,
  DRIVER_NO_PEER_ACCESS = 217,
  DRIVER_INVALID_HANDLE = 400,
  DRIVER_NOT_FOUND = 500,
  DRIVER_NOT_SUPPORTED = 801,
  DRIVER_UNKNOWN = 999,
  DRIVER_CAPTURE_INVALIDATED = 901, /* the end of a capture that went wrong */
  DRIVER_CAPTURE_UNJOINED = 904     /* the end of one that other streams had not come back from */
};

/* The handle that names the default stream of the calling thread in every call. */
enum { STREAM_OF_THREAD = 2 };

/* Flags of cuGetProcAddress. */
enum { DRIVER_LEGACY_STREAM = 1, DRIVER_STREAM_OF_THREAD = 2 };

driver_result cuGetProcAddress(const char* name, void** function, int version, uint64_t flags);
driver_result cuGetProcAddress_v2(const char* name, void** function, int version, uint64_t flags, int* status);

driver_result cuMemAlloc_v2(device_address* block, size_t bytes);
driver_result cuMemAllocPitch_v2(device_address* block, size_t* pitch, size_t width, size_t height, unsigned element);
driver_result cuMemAllocManaged(device_address* block, size_t bytes, unsigned flags);
driver_result cuMemFree_v2(device_address block);
driver_result cuMemGetAddressRange_v2(device_address* base, size_t* bytes, device_address address);
driver_result cuMemGetInfo_v2(size_t* free_bytes, size_t* bytes);

driver_result cuPointerGetAttribute(void* value, int attribute, device_address address);
driver_result cuPointerGetAttributes(unsigned count, int* attributes, void** values, device_address address);
driver_result cuIpcGetMemHandle(void* handle, device_address address);
driver_result cuDeviceCanAccessPeer(int* can, int device, int peer);
driver_result cuDeviceGetP2PAttribute(int* value, int attribute, int device, int peer);
driver_result cuCtxEnablePeerAccess(void* context, unsigned flags);
driver_result cuDeviceSetMemPool(int device, void* pool);
driver_result cuMemSetMemPool(void* location, int type, void* pool);
driver_result cuCtxDestroy_v2(void* context);
driver_result cuDevicePrimaryCtxRelease_v2(int device);
driver_result cuDevicePrimaryCtxReset(int device);
driver_result cuDevicePrimaryCtxReset_v2(int device);

driver_result cuMemAllocAsync(device_address* block, size_t bytes, stream_handle stream);
driver_result cuMemAllocAsync_ptsz(device_address* block, size_t bytes, stream_handle stream);
driver_result cuMemAllocFromPoolAsync(device_address* block, size_t bytes, void* pool, stream_handle stream);
driver_result cuMemAllocFromPoolAsync_ptsz(device_address* block, size_t bytes, void* pool, stream_handle stream);
driver_result cuMemFreeAsync(device_address block, stream_handle stream);
driver_result cuMemFreeAsync_ptsz(device_address block, stream_handle stream);

driver_result cuMemAllocHost_v2(void** block, size_t bytes);
driver_result cuMemHostAlloc(void** block, size_t bytes, unsigned flags);
driver_result cuMemFreeHost(void* block);

driver_result cuMemCreate(memory_handle* handle, size_t bytes, const void* properties, unsigned long long flags);
driver_result cuMemRetainAllocationHandle(memory_handle* handle, void* address);
driver_result cuMemRelease(memory_handle handle);

driver_result cuStreamDestroy_v2(stream_handle stream);

driver_result cuStreamBeginCapture(stream_handle stream);
driver_result cuStreamBeginCapture_ptsz(stream_handle stream);
driver_result cuStreamBeginCapture_v2(stream_handle stream, int mode);
driver_result cuStreamBeginCapture_v2_ptsz(stream_handle stream, int mode);
driver_result cuStreamBeginCaptureToGraph(stream_handle stream, void* graph, const void* nodes, const void* edges,
                                          size_t count, int mode);
driver_result cuStreamBeginCaptureToGraph_ptsz(stream_handle stream, void* graph, const void* nodes, const void* edges,
                                               size_t count, int mode);
driver_result cuStreamEndCapture(stream_handle stream, void** graph);
driver_result cuStreamEndCapture_ptsz(stream_handle stream, void** graph);

#endif
