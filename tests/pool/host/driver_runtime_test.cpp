// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The functions of CUDA's runtime that pools call, one by one, over the driver that stands in for NVIDIA's.

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "../other_process.hpp"
#include "stand_in_cuda.hpp"

namespace warpheap::test::driver_runtime_test {
namespace {

bool is_child() { return std::getenv(other_process::variable) != nullptr; }

std::ptrdiff_t calls_of(const char* name) {
  const auto names = stand_in::names_of_calls();
  return std::count(names.begin(), names.end(), name);
}

class driver_runtime : public testing::Test {
 protected:
  void SetUp() override {
    stand_in::reset_all();
    stand_in::set_current_context(nullptr);
  }
  void TearDown() override {
    EXPECT_EQ(stand_in::events(), 0u);
    EXPECT_EQ(stand_in::opened(), 0u);
    EXPECT_EQ(stand_in::pinned(), 0u);
    EXPECT_EQ(stand_in::taken_bytes(0) + stand_in::taken_bytes(1), 0u);
  }
};

// In a process of its own, where nothing has started the driver before.
TEST_F(driver_runtime, the_first_call_starts_the_driver) {
  if (!is_child()) {
    const other_process anew("driver_runtime.the_first_call_starts_the_driver");
    return;
  }
  void* memory = nullptr;
  ASSERT_EQ(cudaMalloc(&memory, 1000), cudaSuccess);
  EXPECT_EQ(calls_of("cuInit"), 1);
  EXPECT_EQ(stand_in::current_context(), stand_in::primary_context(0));
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
}

TEST_F(driver_runtime, a_start_that_failed_is_tried_again) {
  if (!is_child()) {
    const other_process anew("driver_runtime.a_start_that_failed_is_tried_again");
    return;
  }
  int count = 0;
  stand_in::fail_next("cuInit", CUDA_ERROR_SYSTEM_NOT_READY);
  EXPECT_EQ(cudaGetDeviceCount(&count), cudaErrorSystemNotReady);
  EXPECT_EQ(cudaGetDeviceCount(&count), cudaSuccess);
  EXPECT_EQ(count, 2);
  EXPECT_EQ(calls_of("cuInit"), 2);
}

TEST_F(driver_runtime, each_call_gives_a_thread_a_context) {
  void* memory = nullptr;
  void* pinned = nullptr;
  cudaEvent_t event = nullptr;
  cudaStreamCaptureStatus status{};
  cudaIpcMemHandle_t handle;
  const auto in_new_thread = [](auto call) {
    std::thread([call] {
      EXPECT_EQ(stand_in::current_context(), nullptr);
      EXPECT_EQ(call(), cudaSuccess);
      EXPECT_EQ(stand_in::current_context(), stand_in::primary_context(0));
    }).join();
  };
  in_new_thread([] { return cudaFree(nullptr); });
  in_new_thread([] { return cudaFreeHost(nullptr); });
  in_new_thread([&] { return cudaMalloc(&memory, 1000); });
  in_new_thread([&] { return cudaHostAlloc(&pinned, 1000, cudaHostAllocPortable); });
  in_new_thread([&] { return cudaEventCreateWithFlags(&event, cudaEventDisableTiming); });
  in_new_thread([&] { return cudaEventRecord(event, nullptr); });
  in_new_thread([&] { return cudaStreamWaitEvent(nullptr, event, 0); });
  in_new_thread([&] { return cudaStreamIsCapturing(nullptr, &status); });
  in_new_thread([] { return cudaDeviceEnablePeerAccess(1, 0); });
  in_new_thread([&] { return cudaFreeHost(pinned); });
  in_new_thread([&] { return cudaFree(memory); });
  EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&memory, 1000), cudaSuccess);
  EXPECT_EQ(cudaIpcGetMemHandle(&handle, memory), cudaSuccess);
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
}

TEST_F(driver_runtime, an_error_is_told_after_one_call) {
  void* memory = nullptr;
  EXPECT_EQ(cudaFree(nullptr), cudaSuccess);
  const auto before = calls_of("cuMemAlloc");
  stand_in::fail_next("cuMemAlloc", CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(cudaMalloc(&memory, 1000), cudaErrorMemoryAllocation);
  EXPECT_EQ(calls_of("cuMemAlloc"), before + 1);
  EXPECT_EQ(memory, nullptr);
  EXPECT_EQ(cudaMalloc(&memory, 0), cudaSuccess) << "no bytes are no error, as with the runtime";
  EXPECT_EQ(memory, nullptr);
}

TEST_F(driver_runtime, flags_reach_the_driver) {
  void* pinned = nullptr;
  ASSERT_EQ(cudaHostAlloc(&pinned, 1000, cudaHostAllocPortable), cudaSuccess);
  EXPECT_EQ(stand_in::flags_of("cuMemHostAlloc"), unsigned{CU_MEMHOSTALLOC_PORTABLE});
  EXPECT_EQ(stand_in::pinned(), 1u);
  EXPECT_EQ(cudaFreeHost(pinned), cudaSuccess);
  cudaEvent_t event = nullptr;
  ASSERT_EQ(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), cudaSuccess);
  EXPECT_EQ(stand_in::flags_of("cuEventCreate"), unsigned{CU_EVENT_DISABLE_TIMING});
  EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
}

TEST_F(driver_runtime, properties_are_those_of_the_device) {
  stand_in::set_capacity(1, 12345);
  cudaDeviceProp properties;
  ASSERT_EQ(cudaGetDeviceProperties(&properties, 1), cudaSuccess);
  EXPECT_STREQ(properties.name, "stand-in");
  EXPECT_EQ(properties.totalGlobalMem, 12345u);
  EXPECT_EQ(properties.uuid.bytes[0], 2);
  EXPECT_EQ(properties.multiProcessorCount, 132);
  EXPECT_EQ(properties.major, 9);
  EXPECT_EQ(properties.minor, 0);
  EXPECT_EQ(cudaGetDeviceProperties(&properties, 2), cudaErrorInvalidDevice);
}

TEST_F(driver_runtime, a_device_asks_whether_it_reaches_another) {
  int reaches = 0;
  EXPECT_EQ(cudaDeviceCanAccessPeer(&reaches, 1, 0), cudaSuccess);
  EXPECT_EQ(reaches, 1);
  EXPECT_EQ(stand_in::flags_of("cuDeviceCanAccessPeer"), 1u);
  EXPECT_EQ(cudaDeviceCanAccessPeer(&reaches, 1, 1), cudaSuccess);
  EXPECT_EQ(reaches, 0);
}

TEST_F(driver_runtime, memory_is_named_opened_and_closed) {
  void* memory = nullptr;
  ASSERT_EQ(cudaMalloc(&memory, 1000), cudaSuccess);
  cudaIpcMemHandle_t handle{};
  EXPECT_EQ(cudaIpcGetMemHandle(&handle, memory), cudaSuccess);
  void* opened = nullptr;
  EXPECT_EQ(cudaIpcOpenMemHandle(&opened, handle, cudaIpcMemLazyEnablePeerAccess), cudaSuccess);
  EXPECT_EQ(opened, memory);
  EXPECT_EQ(stand_in::flags_of("cuIpcOpenMemHandle"), unsigned{CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS});
  EXPECT_EQ(stand_in::opened(), 1u);
  EXPECT_EQ(cudaIpcCloseMemHandle(opened), cudaSuccess);
  EXPECT_EQ(cudaIpcCloseMemHandle(opened), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
}

TEST_F(driver_runtime, an_event_tells_of_the_work_before_it) {
  const CUstream stream = stand_in::make_stream(0);
  cudaEvent_t event = nullptr;
  ASSERT_EQ(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), cudaSuccess);
  EXPECT_EQ(cudaEventQuery(event), cudaSuccess);
  stand_in::give_work(stream);
  EXPECT_EQ(cudaEventRecord(event, stream), cudaSuccess);
  EXPECT_EQ(cudaEventQuery(event), cudaErrorNotReady);
  EXPECT_EQ(cudaEventSynchronize(event), cudaSuccess);
  EXPECT_EQ(cudaEventQuery(event), cudaSuccess);
  EXPECT_EQ(stand_in::events(), 1u);
  EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
}

TEST_F(driver_runtime, a_capture_has_a_number) {
  const CUstream stream = stand_in::make_stream(0);
  cudaStreamCaptureStatus status{};
  unsigned long long first = 0;
  unsigned long long second = 0;
  EXPECT_EQ(cudaStreamGetCaptureInfo(stream, &status, &first), cudaSuccess);
  EXPECT_EQ(status, cudaStreamCaptureStatusNone);
  for (unsigned long long* number : {&first, &second}) {
    stand_in::begin_capture(stream);
    EXPECT_EQ(cudaStreamGetCaptureInfo(stream, &status, number), cudaSuccess);
    EXPECT_EQ(status, cudaStreamCaptureStatusActive);
    EXPECT_EQ(cudaStreamGetCaptureInfo(nullptr, &status, number), cudaErrorStreamCaptureImplicit)
        << "the default stream of a thread without a context";
    EXPECT_NE(*number, 0u);
    stand_in::end_capture(stream);
  }
  EXPECT_NE(first, second);
}

TEST_F(driver_runtime, a_thread_exchanges_its_mode_of_capture) {
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  EXPECT_EQ(cudaThreadExchangeStreamCaptureMode(&mode), cudaSuccess);
  EXPECT_EQ(mode, cudaStreamCaptureModeGlobal);
  EXPECT_EQ(cudaThreadExchangeStreamCaptureMode(&mode), cudaSuccess);
  EXPECT_EQ(mode, cudaStreamCaptureModeRelaxed);
}

TEST_F(driver_runtime, a_function_that_the_driver_lacks_is_not_found) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult how{};
  EXPECT_EQ(cudaGetDriverEntryPointByVersion("cuCtxGetId", &function, 12000, cudaEnableDefault, &how), cudaSuccess);
  EXPECT_EQ(how, cudaDriverEntryPointSuccess);
  EXPECT_NE(function, nullptr);
  static_cast<void>(cudaGetDriverEntryPointByVersion("cuCtxGetId", &function, 11000, cudaEnableDefault, &how));
  EXPECT_EQ(how, cudaDriverEntryPointVersionNotSufficent);
  static_cast<void>(cudaGetDriverEntryPointByVersion("cuNothing", &function, 12000, cudaEnableDefault, &how));
  EXPECT_EQ(how, cudaDriverEntryPointSymbolNotFound);
}

TEST_F(driver_runtime, errors_have_the_drivers_words) {
  EXPECT_STREQ(cudaGetErrorName(cudaErrorMemoryAllocation), "CUDA_ERROR_OUT_OF_MEMORY");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory");
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

}  // namespace
}  // namespace warpheap::test::driver_runtime_test
