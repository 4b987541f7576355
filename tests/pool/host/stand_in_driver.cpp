// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// A libcuda.so.1 with the functions that pools call. It is looked into by cuGetProcAddress_v2 alone. The variable
// STAND_IN_LACKS names a function that it does not have, as an older driver.

#include <cuda.h>
#include <cudaTypedefs.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "stand_in_world.hpp"

namespace warpheap::test::stand_in {
namespace {

CUresult init(unsigned) {
  const entered call("cuInit");
  the().is_started = the().is_started || call.fails() == CUDA_SUCCESS;
  return call.fails();
}
CUresult error_name(CUresult code, const char** name) {
  *name = code == CUDA_ERROR_OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_STAND_IN";
  return CUDA_SUCCESS;
}
CUresult error_text(CUresult code, const char** text) {
  *text = code == CUDA_ERROR_OUT_OF_MEMORY ? "out of memory" : "an error of the stand-in";
  return CUDA_SUCCESS;
}

CUresult device_count(int* count) {
  *count = devices;
  return entered("cuDeviceGetCount").fails();
}
CUresult device(CUdevice* found, int number) {
  const entered call("cuDeviceGet");
  if (number < 0 || number >= devices) return CUDA_ERROR_INVALID_DEVICE;
  *found = number;
  return call.fails();
}
CUresult device_name(char* name, int bytes, CUdevice) {
  std::strncpy(name, "stand-in", static_cast<std::size_t>(bytes));
  return CUDA_SUCCESS;
}
CUresult device_attribute(int* value, CUdevice_attribute what, CUdevice) {
  *value = what == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT       ? 132
           : what == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR ? 9
                                                                  : 1;
  if (what == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR || what == CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID) *value = 0;
  return CUDA_SUCCESS;
}
CUresult device_memory(std::size_t* bytes, CUdevice which) {
  const entered call("cuDeviceTotalMem");
  *bytes = of(which).capacity;
  return call.fails();
}
CUresult device_identity(CUuuid* identity, CUdevice which) {
  *identity = {};
  identity->bytes[0] = static_cast<char>(which + 1);
  return CUDA_SUCCESS;
}
CUresult reaches(int* can, CUdevice from, CUdevice to) {
  const entered call("cuDeviceCanAccessPeer");
  *can = the().can_reach && from != to ? 1 : 0;
  the().flags["cuDeviceCanAccessPeer"] = static_cast<unsigned>(from);
  return call.fails();
}

CUresult retain_primary(CUcontext* context, CUdevice which) {
  const entered call("cuDevicePrimaryCtxRetain");
  if (which < 0 || which >= devices) return CUDA_ERROR_INVALID_DEVICE;
  if (call.fails() != CUDA_SUCCESS) return call.fails();
  *context = start_primary(which);
  return CUDA_SUCCESS;
}
CUresult release_primary(CUdevice) { return entered("cuDevicePrimaryCtxRelease").fails(); }
CUresult primary_state(CUdevice which, unsigned* flags, int* active) {
  const entered call("cuDevicePrimaryCtxGetState");
  *flags = 0;
  *active = of(which).is_active ? 1 : 0;
  return call.fails();
}
CUresult get_current(CUcontext* context) {
  const entered call("cuCtxGetCurrent");
  *context = contexts.back();
  return call.fails();
}
CUresult set_current(CUcontext context) {
  const entered call("cuCtxSetCurrent");
  contexts.back() = context;
  return call.fails();
}
CUresult push(CUcontext context) {
  const entered call("cuCtxPushCurrent");
  if (call.fails() == CUDA_SUCCESS) contexts.push_back(context);
  return call.fails();
}
CUresult pop(CUcontext* context) {
  const entered call("cuCtxPopCurrent");
  *context = contexts.back();
  contexts.pop_back();
  return call.fails();
}
CUresult context_device(CUdevice* which) {
  const entered call("cuCtxGetDevice");
  return own_device(*which);
}
CUresult context_id(CUcontext context, unsigned long long* id) {
  const entered call("cuCtxGetId");
  *id = of(context->device).context_id;  // of a context that was reset, too
  return call.fails();
}
CUresult enable_peer(CUcontext owner, unsigned) {
  const entered call("cuCtxEnablePeerAccess");
  int peer = 0;
  if (const CUresult code = own_device(peer); code != CUDA_SUCCESS) return code;
  const std::pair<int, int> made{owner->device, peer};
  if (std::count(the().peers.begin(), the().peers.end(), made) != 0) return CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
  the().peers.push_back(made);
  return call.fails();
}

// Mapped memory.
CUresult get_granularity(std::size_t* bytes, const CUmemAllocationProp*, CUmemAllocationGranularity_flags) {
  *bytes = granularity;
  return CUDA_SUCCESS;
}
CUresult reserve(CUdeviceptr* address, std::size_t bytes, std::size_t alignment, CUdeviceptr, unsigned long long) {
  const entered call("cuMemAddressReserve");
  if (call.fails() != CUDA_SUCCESS) return call.fails();
  // More than was asked for, so that the range can begin where it is aligned.
  const std::size_t unit = std::max<std::size_t>(alignment, granularity);
  void* const all = ::mmap(nullptr, bytes + unit, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (all == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
  const auto begin = reinterpret_cast<std::uintptr_t>(all);
  const std::uintptr_t at = (begin + unit - 1) / unit * unit;
  if (at != begin) ::munmap(all, at - begin);
  ::munmap(reinterpret_cast<void*>(at + bytes), begin + unit - at);
  *address = at;
  int where = 0;
  static_cast<void>(own_device(where));
  the().ranges[at] = {where, bytes};
  return CUDA_SUCCESS;
}
CUresult release_range(CUdeviceptr address, std::size_t bytes) {
  const entered call("cuMemAddressFree");
  if (the().ranges.erase(address) == 0) return CUDA_ERROR_INVALID_VALUE;
  ::munmap(reinterpret_cast<void*>(address), bytes);
  return call.fails();
}
CUresult create(CUmemGenericAllocationHandle* handle, std::size_t bytes, const CUmemAllocationProp* properties,
                unsigned long long) {
  const entered call("cuMemCreate");
  if (call.fails() != CUDA_SUCCESS) return call.fails();
  const int where = properties->location.type == CU_MEM_LOCATION_TYPE_DEVICE ? properties->location.id : 0;
  if (const CUresult code = take(where, bytes); code != CUDA_SUCCESS) return code;
  *handle = ++the().last_handle;
  the().handles[*handle] = {where, bytes};
  return CUDA_SUCCESS;
}
CUresult release_handle(CUmemGenericAllocationHandle handle) {
  const entered call("cuMemRelease");
  const auto found = the().handles.find(handle);
  if (found == the().handles.end()) return CUDA_ERROR_INVALID_VALUE;
  give(found->second);
  the().handles.erase(found);
  return call.fails();
}
CUresult map(CUdeviceptr, std::size_t, std::size_t, CUmemGenericAllocationHandle, unsigned long long) {
  return entered("cuMemMap").fails();
}
CUresult unmap(CUdeviceptr address, std::size_t bytes) {
  const entered call("cuMemUnmap");
  void* const at = reinterpret_cast<void*>(address);
  ::mmap(at, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  return call.fails();
}
CUresult set_access(CUdeviceptr address, std::size_t bytes, const CUmemAccessDesc*, std::size_t) {
  const entered call("cuMemSetAccess");
  if (call.fails() != CUDA_SUCCESS) return call.fails();
  ::mprotect(reinterpret_cast<void*>(address), bytes, PROT_READ | PROT_WRITE);
  return CUDA_SUCCESS;
}

// Memory that is not mapped.
CUresult allocate(CUdeviceptr* address, std::size_t bytes) {
  const entered call("cuMemAlloc");
  int where = 0;
  CUresult code = call.fails();
  if (code == CUDA_SUCCESS) code = own_device(where);
  if (code == CUDA_SUCCESS) code = take(where, bytes);
  if (code != CUDA_SUCCESS) return code;
  constexpr std::size_t alignment = 512;
  void* const made = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  *address = reinterpret_cast<CUdeviceptr>(made);
  the().blocks[*address] = {where, bytes};
  return CUDA_SUCCESS;
}
CUresult release(CUdeviceptr address) {
  const entered call("cuMemFree");
  int where = 0;
  if (const CUresult code = own_device(where); code != CUDA_SUCCESS) return code;
  const auto found = the().blocks.find(address);
  if (found == the().blocks.end()) return CUDA_ERROR_INVALID_VALUE;
  give(found->second);
  the().blocks.erase(found);
  std::free(reinterpret_cast<void*>(address));
  return call.fails();
}
CUresult allocate_host(void** memory, std::size_t bytes, unsigned flags) {
  const entered call("cuMemHostAlloc");
  int where = 0;
  if (const CUresult code = own_device(where); code != CUDA_SUCCESS) return code;
  if (call.fails() != CUDA_SUCCESS) return call.fails();
  the().flags["cuMemHostAlloc"] = flags;
  *memory = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  the().pinned[*memory] = bytes;
  return CUDA_SUCCESS;
}
CUresult release_host(void* memory) {
  const entered call("cuMemFreeHost");
  int where = 0;
  if (const CUresult code = own_device(where); code != CUDA_SUCCESS) return code;
  if (the().pinned.erase(memory) == 0) return CUDA_ERROR_INVALID_VALUE;
  std::free(memory);
  return call.fails();
}
CUresult memory_handle(CUipcMemHandle* handle, CUdeviceptr address) {
  const entered call("cuIpcGetMemHandle");
  if (the().blocks.count(address) == 0) return CUDA_ERROR_INVALID_VALUE;
  *handle = {};
  std::memcpy(handle->reserved, &address, sizeof(address));
  return call.fails();
}
// A process may not open what it made itself, but here it may: a test has one process.
CUresult open_memory(CUdeviceptr* address, CUipcMemHandle handle, unsigned flags) {
  const entered call("cuIpcOpenMemHandle");
  if (call.fails() != CUDA_SUCCESS) return call.fails();
  std::memcpy(address, handle.reserved, sizeof(*address));
  if (the().blocks.count(*address) == 0) return CUDA_ERROR_INVALID_HANDLE;
  ++the().opened[*address];
  the().flags["cuIpcOpenMemHandle"] = flags;
  return CUDA_SUCCESS;
}
CUresult close_memory(CUdeviceptr address) {
  const entered call("cuIpcCloseMemHandle");
  if (call.fails() != CUDA_SUCCESS) return call.fails();
  const auto found = the().opened.find(address);
  if (found == the().opened.end()) return CUDA_ERROR_INVALID_VALUE;
  if (--found->second == 0) the().opened.erase(found);
  return CUDA_SUCCESS;
}

// Events and streams.
CUresult make_event(CUevent* event, unsigned flags) {
  const entered call("cuEventCreate");
  int where = 0;
  if (const CUresult code = own_device(where); code != CUDA_SUCCESS) return code;
  if (call.fails() != CUDA_SUCCESS) return call.fails();
  *event = new CUevent_st;
  ++the().events;
  the().flags["cuEventCreate"] = flags;
  return CUDA_SUCCESS;
}
CUresult end_event(CUevent event) {
  const entered call("cuEventDestroy");
  if (call.fails() != CUDA_SUCCESS) return call.fails();
  delete event;
  --the().events;
  return CUDA_SUCCESS;
}
CUresult ask_event(CUevent event) {
  const entered call("cuEventQuery");
  if (call.fails() != CUDA_SUCCESS) return call.fails();
  return event->stream == nullptr || event->stream->done >= event->work ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}
CUresult record(CUevent event, CUstream stream) {
  const entered call("cuEventRecord");
  if (call.fails() != CUDA_SUCCESS) return call.fails();
  const CUresult code = find_stream(stream);
  if (code == CUDA_SUCCESS) *event = {stream, stream->given};
  return code;
}
CUresult await_event(CUevent event) {
  const entered call("cuEventSynchronize");
  if (event->stream != nullptr) event->stream->done = std::max(event->stream->done, event->work);
  return call.fails();
}
CUresult let_wait(CUstream stream, CUevent event, unsigned) {
  const entered call("cuStreamWaitEvent");
  if (call.fails() != CUDA_SUCCESS) return call.fails();
  CUstream found = stream;
  if (const CUresult code = find_stream(found); code != CUDA_SUCCESS) return code;
  the().waits.push_back({stream, event->stream, event->work});
  return CUDA_SUCCESS;
}
CUresult is_capturing(CUstream stream, CUstreamCaptureStatus* status) {
  const entered call("cuStreamIsCapturing");
  if (call.fails() != CUDA_SUCCESS) return call.fails();
  if ((stream == nullptr || stream == CU_STREAM_LEGACY) && is_any_captured()) return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
  if (const CUresult code = find_stream(stream); code != CUDA_SUCCESS) return code;
  *status = stream->capture != 0 ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
  return CUDA_SUCCESS;
}
CUresult capture_info(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph*, const CUgraphNode**,
                      std::size_t*) {
  const entered call("cuStreamGetCaptureInfo");
  if ((stream == nullptr || stream == CU_STREAM_LEGACY) && is_any_captured()) return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
  if (const CUresult code = find_stream(stream); code != CUDA_SUCCESS) return code;
  *status = stream->capture != 0 ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
  if (id != nullptr) *id = stream->capture;
  return call.fails();
}
CUresult exchange_mode(CUstreamCaptureMode* mode) {
  const entered call("cuThreadExchangeStreamCaptureMode");
  if (call.fails() == CUDA_SUCCESS) std::swap(*mode, capture_mode);
  return call.fails();
}
CUresult stream_context(CUstream stream, CUcontext* context) {
  const entered call("cuStreamGetCtx");
  if (const CUresult code = find_stream(stream); code != CUDA_SUCCESS) return code;
  *context = &of(stream->device).context;
  return call.fails();
}

// What the driver has under the same name for another version of CUDA, or for streams of a thread.
CUresult other_form() { return CUDA_ERROR_NOT_SUPPORTED; }

bool has_newer_form(const char* name, int version) {
  static const std::map<std::string, int> all{
      {"cuStreamGetCaptureInfo", 12030}, {"cuCtxGetDevice", 13000}, {"cuStreamGetCtx", 12050}};
  const auto found = all.find(name);
  return found != all.end() && version >= found->second;
}

struct function {
  const char* name;
  int version;
  void* at;
};

template <class Form>
function named(const char* name, int version, Form call) {
  return {name, version, reinterpret_cast<void*>(call)};
}

const std::vector<function>& functions() {
  static const std::vector<function> all{
      named<PFN_cuInit_v2000>("cuInit", 2000, init),
      named<PFN_cuGetErrorName_v6000>("cuGetErrorName", 6000, error_name),
      named<PFN_cuGetErrorString_v6000>("cuGetErrorString", 6000, error_text),
      named<PFN_cuDeviceGetCount_v2000>("cuDeviceGetCount", 2000, device_count),
      named<PFN_cuDeviceGet_v2000>("cuDeviceGet", 2000, device),
      named<PFN_cuDeviceGetName_v2000>("cuDeviceGetName", 2000, device_name),
      named<PFN_cuDeviceGetAttribute_v2000>("cuDeviceGetAttribute", 2000, device_attribute),
      named<PFN_cuDeviceTotalMem_v3020>("cuDeviceTotalMem", 3020, device_memory),
      named<PFN_cuDeviceGetUuid_v11040>("cuDeviceGetUuid", 11040, device_identity),
      named<PFN_cuDeviceCanAccessPeer_v4000>("cuDeviceCanAccessPeer", 4000, reaches),
      named<PFN_cuDevicePrimaryCtxRetain_v7000>("cuDevicePrimaryCtxRetain", 7000, retain_primary),
      named<PFN_cuDevicePrimaryCtxRelease_v11000>("cuDevicePrimaryCtxRelease", 11000, release_primary),
      named<PFN_cuDevicePrimaryCtxGetState_v7000>("cuDevicePrimaryCtxGetState", 7000, primary_state),
      named<PFN_cuCtxGetCurrent_v4000>("cuCtxGetCurrent", 4000, get_current),
      named<PFN_cuCtxSetCurrent_v4000>("cuCtxSetCurrent", 4000, set_current),
      named<PFN_cuCtxPushCurrent_v4000>("cuCtxPushCurrent", 4000, push),
      named<PFN_cuCtxPopCurrent_v4000>("cuCtxPopCurrent", 4000, pop),
      named<PFN_cuCtxGetDevice_v2000>("cuCtxGetDevice", 2000, context_device),
      named<PFN_cuCtxGetId_v12000>("cuCtxGetId", 12000, context_id),
      named<PFN_cuCtxEnablePeerAccess_v4000>("cuCtxEnablePeerAccess", 4000, enable_peer),
      named<PFN_cuMemGetAllocationGranularity_v10020>("cuMemGetAllocationGranularity", 10020, get_granularity),
      named<PFN_cuMemAddressReserve_v10020>("cuMemAddressReserve", 10020, reserve),
      named<PFN_cuMemAddressFree_v10020>("cuMemAddressFree", 10020, release_range),
      named<PFN_cuMemCreate_v10020>("cuMemCreate", 10020, create),
      named<PFN_cuMemRelease_v10020>("cuMemRelease", 10020, release_handle),
      named<PFN_cuMemMap_v10020>("cuMemMap", 10020, map),
      named<PFN_cuMemUnmap_v10020>("cuMemUnmap", 10020, unmap),
      named<PFN_cuMemSetAccess_v10020>("cuMemSetAccess", 10020, set_access),
      named<PFN_cuMemAlloc_v3020>("cuMemAlloc", 3020, allocate),
      named<PFN_cuMemFree_v3020>("cuMemFree", 3020, release),
      named<PFN_cuMemHostAlloc_v2020>("cuMemHostAlloc", 2020, allocate_host),
      named<PFN_cuMemFreeHost_v2000>("cuMemFreeHost", 2000, release_host),
      named<PFN_cuIpcGetMemHandle_v4010>("cuIpcGetMemHandle", 4010, memory_handle),
      named<PFN_cuIpcOpenMemHandle_v11000>("cuIpcOpenMemHandle", 11000, open_memory),
      named<PFN_cuIpcCloseMemHandle_v4010>("cuIpcCloseMemHandle", 4010, close_memory),
      named<PFN_cuEventCreate_v2000>("cuEventCreate", 2000, make_event),
      named<PFN_cuEventDestroy_v4000>("cuEventDestroy", 4000, end_event),
      named<PFN_cuEventQuery_v2000>("cuEventQuery", 2000, ask_event),
      named<PFN_cuEventRecord_v2000>("cuEventRecord", 2000, record),
      named<PFN_cuEventSynchronize_v2000>("cuEventSynchronize", 2000, await_event),
      named<PFN_cuStreamWaitEvent_v3020>("cuStreamWaitEvent", 3020, let_wait),
      named<PFN_cuStreamIsCapturing_v10000>("cuStreamIsCapturing", 10000, is_capturing),
      named<PFN_cuStreamGetCaptureInfo_v11030>("cuStreamGetCaptureInfo", 11030, capture_info),
      named<PFN_cuThreadExchangeStreamCaptureMode_v10010>("cuThreadExchangeStreamCaptureMode", 10010, exchange_mode),
      named<PFN_cuStreamGetCtx_v9020>("cuStreamGetCtx", 9020, stream_context),
  };
  return all;
}

}  // namespace

}  // namespace warpheap::test::stand_in

extern "C" __attribute__((visibility("default"))) CUresult cuGetProcAddress_v2(const char* name, void** function,
                                                                               int version, cuuint64_t flags,
                                                                               CUdriverProcAddressQueryResult* how) {
  using warpheap::test::stand_in::functions;
  using warpheap::test::stand_in::has_newer_form;
  using warpheap::test::stand_in::other_form;
  const char* const lacks = std::getenv("STAND_IN_LACKS");
  *function = nullptr;
  CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  for (const auto& each : functions()) {
    if (std::strcmp(each.name, name) != 0 || (lacks != nullptr && std::strcmp(lacks, name) == 0)) continue;
    found = each.version <= version ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
    if (each.version <= version) *function = each.at;
    if (has_newer_form(name, version) || flags == CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) {
      *function = reinterpret_cast<void*>(other_form);
    }
  }
  if (how != nullptr) *how = found;
  return found == CU_GET_PROC_ADDRESS_SUCCESS ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
