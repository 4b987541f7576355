// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Functions of CUDA's runtime for the library of pools, over the driver alone. The platform's headers call the runtime;
// the library links these functions in its place, and pool.map keeps them within it. So one library serves whichever
// driver is there, of CUDA 12 or later: CUDA's own runtime refuses a driver that is older than itself.
//
// As with the runtime, a thread without a context gets the primary one of device 0 at the first call that needs one. A
// program's own runtime sees the same contexts. An error is the return value alone: none is kept for a later call.
//
// The numbers of errors, of states and of flags are the same in both interfaces, which the assertions below state for
// those that differ in their names.

#include <cuda.h>
#include <cudaTypedefs.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <atomic>
#include <cstddef>
#include <cstring>

namespace {

static_assert(static_cast<int>(cudaErrorMemoryAllocation) == CUDA_ERROR_OUT_OF_MEMORY);
static_assert(static_cast<int>(cudaErrorNotReady) == CUDA_ERROR_NOT_READY);
static_assert(static_cast<int>(cudaErrorNoDevice) == CUDA_ERROR_NO_DEVICE);
static_assert(static_cast<int>(cudaErrorPeerAccessAlreadyEnabled) == CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
static_assert(static_cast<int>(cudaErrorStreamCaptureImplicit) == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
static_assert(static_cast<int>(cudaStreamCaptureStatusInvalidated) == CU_STREAM_CAPTURE_STATUS_INVALIDATED);
static_assert(static_cast<int>(cudaStreamCaptureModeRelaxed) == CU_STREAM_CAPTURE_MODE_RELAXED);
static_assert(cudaEventDisableTiming == CU_EVENT_DISABLE_TIMING);
static_assert(cudaHostAllocPortable == CU_MEMHOSTALLOC_PORTABLE && cudaHostAllocMapped == CU_MEMHOSTALLOC_DEVICEMAP);
static_assert(static_cast<int>(cudaIpcMemLazyEnablePeerAccess) == CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
static_assert(static_cast<int>(cudaDriverEntryPointSymbolNotFound) == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);

cudaError_t as_runtime(CUresult code) { return static_cast<cudaError_t>(code); }

// The driver's functions, each in the form that came with the version of CUDA which ends its type's name. All forms are
// of CUDA 12.0 or before. They are looked up once; `usable` says whether all are there.
class driver {
 private:
  // Before the functions, which are found by it: `usable_` holds as long as each was.
  PFN_cuGetProcAddress_v12000 look_up_ = open();
  bool usable_ = look_up_ != nullptr;

 public:
  PFN_cuInit_v2000 init = find("cuInit", 2000);
  PFN_cuGetErrorName_v6000 error_name = find("cuGetErrorName", 6000);
  PFN_cuGetErrorString_v6000 error_text = find("cuGetErrorString", 6000);

  PFN_cuDeviceGetCount_v2000 device_count = find("cuDeviceGetCount", 2000);
  PFN_cuDeviceGet_v2000 device = find("cuDeviceGet", 2000);
  PFN_cuDeviceGetName_v2000 device_name = find("cuDeviceGetName", 2000);
  PFN_cuDeviceGetAttribute_v2000 device_attribute = find("cuDeviceGetAttribute", 2000);
  PFN_cuDeviceTotalMem_v3020 device_memory = find("cuDeviceTotalMem", 3020);
  PFN_cuDeviceGetUuid_v11040 device_identity = find("cuDeviceGetUuid", 11040);
  PFN_cuDeviceCanAccessPeer_v4000 reaches = find("cuDeviceCanAccessPeer", 4000);

  PFN_cuDevicePrimaryCtxRetain_v7000 retain_primary = find("cuDevicePrimaryCtxRetain", 7000);
  PFN_cuCtxGetCurrent_v4000 current_context = find("cuCtxGetCurrent", 4000);
  PFN_cuCtxSetCurrent_v4000 set_context = find("cuCtxSetCurrent", 4000);
  PFN_cuCtxGetDevice_v2000 context_device = find("cuCtxGetDevice", 2000);
  PFN_cuCtxEnablePeerAccess_v4000 enable_peer = find("cuCtxEnablePeerAccess", 4000);

  PFN_cuMemAlloc_v3020 allocate = find("cuMemAlloc", 3020);
  PFN_cuMemFree_v3020 release = find("cuMemFree", 3020);
  PFN_cuMemHostAlloc_v2020 allocate_host = find("cuMemHostAlloc", 2020);
  PFN_cuMemFreeHost_v2000 release_host = find("cuMemFreeHost", 2000);
  PFN_cuIpcGetMemHandle_v4010 memory_handle = find("cuIpcGetMemHandle", 4010);
  PFN_cuIpcOpenMemHandle_v11000 open_memory = find("cuIpcOpenMemHandle", 11000);
  PFN_cuIpcCloseMemHandle_v4010 close_memory = find("cuIpcCloseMemHandle", 4010);

  PFN_cuEventCreate_v2000 make_event = find("cuEventCreate", 2000);
  PFN_cuEventDestroy_v4000 end_event = find("cuEventDestroy", 4000);
  PFN_cuEventQuery_v2000 ask_event = find("cuEventQuery", 2000);
  PFN_cuEventRecord_v2000 record = find("cuEventRecord", 2000);
  PFN_cuEventSynchronize_v2000 await_event = find("cuEventSynchronize", 2000);
  PFN_cuStreamWaitEvent_v3020 let_wait = find("cuStreamWaitEvent", 3020);
  PFN_cuStreamIsCapturing_v10000 is_capturing = find("cuStreamIsCapturing", 10000);
  PFN_cuStreamGetCaptureInfo_v11030 capture_info = find("cuStreamGetCaptureInfo", 11030);
  PFN_cuThreadExchangeStreamCaptureMode_v10010 exchange_capture_mode = find("cuThreadExchangeStreamCaptureMode", 10010);

  static const driver& get() {
    static const driver found;
    return found;
  }
  // Whether all functions were found: else the driver is missing, or of before CUDA 12.
  bool usable() const { return usable_; }
  // Any function of the driver, by its name and the version of CUDA that has the form.
  CUresult look_up(const char* name, void** function, int version, cuuint64_t flags,
                   CUdriverProcAddressQueryResult* how) const {
    return look_up_(name, function, version, flags, how);
  }

 private:
  driver() = default;

  static PFN_cuGetProcAddress_v12000 open() {
    // It stays loaded: the process may use it without this library.
    void* const library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return nullptr;
    return reinterpret_cast<PFN_cuGetProcAddress_v12000>(::dlsym(library, "cuGetProcAddress_v2"));
  }

  // Becomes a pointer to a function of whichever form it is given to.
  struct any_function {
    void* at;
    template <class Call>
    operator Call() const {
      return reinterpret_cast<Call>(at);
    }
  };
  any_function find(const char* name, int version) {
    void* found = nullptr;
    usable_ = usable_ && look_up(name, &found, version, CU_GET_PROC_ADDRESS_LEGACY_STREAM, nullptr) == CUDA_SUCCESS &&
              found != nullptr;
    return {found};
  }
};

// The driver started. A failure is no state: a later call tries again.
cudaError_t start() {
  if (!driver::get().usable()) return cudaErrorInsufficientDriver;
  // Two threads may start it at once, which is no error. Released after the start, and acquired, so that a thread which
  // reads true calls a driver that has started.
  static std::atomic<bool> is_started{false};
  if (is_started.load(std::memory_order_acquire)) return cudaSuccess;
  const CUresult code = driver::get().init(0);
  if (code == CUDA_SUCCESS) is_started.store(true, std::memory_order_release);
  return as_runtime(code);
}

// The driver started and the thread with a context.
cudaError_t start_context() {
  if (const cudaError_t code = start(); code != cudaSuccess) return code;
  const driver& calls = driver::get();
  CUcontext context = nullptr;
  CUresult code = calls.current_context(&context);
  if (code != CUDA_SUCCESS || context != nullptr) return as_runtime(code);
  CUdevice first = 0;
  code = calls.device(&first, 0);
  if (code == CUDA_SUCCESS) code = calls.retain_primary(&context, first);  // for the rest of the process
  if (code == CUDA_SUCCESS) code = calls.set_context(context);
  return as_runtime(code);
}

// What `call(driver)` says, in a context of the thread. Nearly all calls find one, so the driver is asked at once. If
// it refuses for the lack of a context, or since nobody has started it, then the call has done nothing and is made
// again.
template <class Call>
cudaError_t with_context(Call call) {
  if (!driver::get().usable()) return cudaErrorInsufficientDriver;
  const CUresult first = call(driver::get());
  if (first != CUDA_ERROR_INVALID_CONTEXT && first != CUDA_ERROR_NOT_INITIALIZED) return as_runtime(first);
  const cudaError_t code = start_context();
  return code == cudaSuccess ? as_runtime(call(driver::get())) : code;
}

CUdeviceptr address(const void* memory) { return reinterpret_cast<CUdeviceptr>(memory); }

}  // namespace

// --- Errors and functions --------------------------------------------------------------------------------------------

cudaError_t cudaGetLastError() { return cudaSuccess; }

const char* cudaGetErrorName(cudaError_t code) {
  if (code == cudaErrorInsufficientDriver) return "no driver of CUDA 12 or later";
  const char* name = nullptr;
  if (!driver::get().usable() || driver::get().error_name(static_cast<CUresult>(code), &name) != CUDA_SUCCESS) {
    return "unknown error";
  }
  return name;
}

const char* cudaGetErrorString(cudaError_t code) {
  if (code == cudaErrorInsufficientDriver) {
    return "libcuda.so.1 is not there, or older: install or update NVIDIA's driver, and let the loader find it";
  }
  const char* text = nullptr;
  if (!driver::get().usable() || driver::get().error_text(static_cast<CUresult>(code), &text) != CUDA_SUCCESS) {
    return "the driver does not know it";
  }
  return text;
}

cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned version,
                                             unsigned long long flags, cudaDriverEntryPointQueryResult* how) {
  if (const cudaError_t code = start(); code != cudaSuccess) return code;
  CUdriverProcAddressQueryResult found{};
  const CUresult code = driver::get().look_up(name, function, static_cast<int>(version), flags, &found);
  if (how != nullptr) *how = static_cast<cudaDriverEntryPointQueryResult>(found);
  return as_runtime(code);
}

// --- Devices ---------------------------------------------------------------------------------------------------------

cudaError_t cudaGetDeviceCount(int* count) {
  const cudaError_t code = start();
  return code == cudaSuccess ? as_runtime(driver::get().device_count(count)) : code;
}

cudaError_t cudaGetDevice(int* device) {
  if (const cudaError_t code = start(); code != cudaSuccess) return code;
  const driver& calls = driver::get();
  CUcontext context = nullptr;
  const CUresult code = calls.current_context(&context);
  *device = 0;  // what a thread without a context will use
  if (code != CUDA_SUCCESS || context == nullptr) return as_runtime(code);
  return as_runtime(calls.context_device(device));
}

// As much as the platform's headers read.
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int number) {
  if (const cudaError_t code = start(); code != cudaSuccess) return code;
  const driver& calls = driver::get();
  *properties = {};
  CUdevice device = 0;
  CUresult code = calls.device(&device, number);
  const auto ask = [&](int& answer, CUdevice_attribute what) {
    if (code == CUDA_SUCCESS) code = calls.device_attribute(&answer, what, device);
  };
  if (code == CUDA_SUCCESS) code = calls.device_name(properties->name, sizeof(properties->name), device);
  if (code == CUDA_SUCCESS) code = calls.device_memory(&properties->totalGlobalMem, device);
  if (code == CUDA_SUCCESS) code = calls.device_identity(&properties->uuid, device);
  ask(properties->multiProcessorCount, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  ask(properties->major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  ask(properties->minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  return as_runtime(code);
}

cudaError_t cudaDeviceCanAccessPeer(int* reaches, int device, int peer) {
  const cudaError_t code = start();
  return code == cudaSuccess ? as_runtime(driver::get().reaches(reaches, device, peer)) : code;
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  if (const cudaError_t code = start_context(); code != cudaSuccess) return code;
  const driver& calls = driver::get();
  CUcontext of_peer = nullptr;
  const CUresult code = calls.retain_primary(&of_peer, peer);  // for the rest of the process, as with the runtime
  return as_runtime(code == CUDA_SUCCESS ? calls.enable_peer(of_peer, flags) : code);
}

// --- Memory ----------------------------------------------------------------------------------------------------------

cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
  return with_context([&](const driver& calls) {
    CUdeviceptr made = 0;
    const CUresult code = bytes == 0 ? CUDA_SUCCESS : calls.allocate(&made, bytes);
    if (code == CUDA_SUCCESS) *memory = reinterpret_cast<void*>(made);
    return code;
  });
}

cudaError_t cudaFree(void* memory) {
  if (memory == nullptr) return start_context();  // programs start the runtime so
  return with_context([&](const driver& calls) { return calls.release(address(memory)); });
}

cudaError_t cudaHostAlloc(void** memory, std::size_t bytes, unsigned flags) {
  return with_context([&](const driver& calls) { return calls.allocate_host(memory, bytes, flags); });
}

cudaError_t cudaFreeHost(void* memory) {
  if (memory == nullptr) return start_context();
  return with_context([&](const driver& calls) { return calls.release_host(memory); });
}

static_assert(sizeof(cudaIpcMemHandle_t) == sizeof(CUipcMemHandle));

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* memory) {
  return with_context([&](const driver& calls) {
    CUipcMemHandle made{};
    const CUresult code = calls.memory_handle(&made, address(memory));
    if (code == CUDA_SUCCESS) std::memcpy(handle, &made, sizeof(made));
    return code;
  });
}

cudaError_t cudaIpcOpenMemHandle(void** memory, cudaIpcMemHandle_t handle, unsigned flags) {
  return with_context([&](const driver& calls) {
    CUipcMemHandle given;
    std::memcpy(&given, &handle, sizeof(given));
    CUdeviceptr made = 0;
    const CUresult code = calls.open_memory(&made, given, flags);
    if (code == CUDA_SUCCESS) *memory = reinterpret_cast<void*>(made);
    return code;
  });
}

cudaError_t cudaIpcCloseMemHandle(void* memory) {
  return with_context([&](const driver& calls) { return calls.close_memory(address(memory)); });
}

// --- Events and streams ----------------------------------------------------------------------------------------------

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return with_context([&](const driver& calls) { return calls.make_event(event, flags); });
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return with_context([&](const driver& calls) { return calls.end_event(event); });
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  return with_context([&](const driver& calls) { return calls.ask_event(event); });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return with_context([&](const driver& calls) { return calls.record(event, stream); });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return with_context([&](const driver& calls) { return calls.await_event(event); });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  return with_context([&](const driver& calls) { return calls.let_wait(stream, event, flags); });
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return with_context([&](const driver& calls) {
    CUstreamCaptureStatus found{};
    const CUresult code = calls.is_capturing(stream, &found);
    if (code == CUDA_SUCCESS) *status = static_cast<cudaStreamCaptureStatus>(found);
    return code;
  });
}

// The graph is not asked for: the driver's form of this call with edges of a graph is of CUDA 12.3.
#if CUDART_VERSION >= 13000
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* number,
                                     cudaGraph_t*, const cudaGraphNode_t**, const cudaGraphEdgeData**, std::size_t*)
#else
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* number,
                                     cudaGraph_t*, const cudaGraphNode_t**, std::size_t*)
#endif
{
  return with_context([&](const driver& calls) {
    CUstreamCaptureStatus found{};
    cuuint64_t id = 0;
    const CUresult code = calls.capture_info(stream, &found, &id, nullptr, nullptr, nullptr);
    if (code != CUDA_SUCCESS) return code;
    *status = static_cast<cudaStreamCaptureStatus>(found);
    *number = id;
    return code;
  });
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  if (const cudaError_t code = start(); code != cudaSuccess) return code;
  auto exchanged = static_cast<CUstreamCaptureMode>(*mode);
  const CUresult code = driver::get().exchange_capture_mode(&exchanged);
  if (code == CUDA_SUCCESS) *mode = static_cast<cudaStreamCaptureMode>(exchanged);
  return as_runtime(code);
}
