// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The stream pool on the machine's own streams. What it promises of their order, stream_order_test.cpp watches; here it
// is that real streams and events do what it takes them to do.

#include <gtest/gtest.h>

#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <thread>
#include <vector>
#include <warpheap/pool.hpp>

namespace warpheap::stream_pool_test {
namespace {

constexpr std::uint64_t mib = 1 << 20;

class stream_pool_test : public testing::Test {
 protected:
  void SetUp() override {
    if (!machine_available()) GTEST_SKIP() << "there is no device";
  }
  static std::unique_ptr<stream_pool> make(std::uint64_t bytes) {
    return std::make_unique<stream_pool>(std::make_unique<device_space>(bytes, range_options{2 * mib, false}),
                                         stream_pool_options{.span_bytes = mib});
  }
};

TEST_F(stream_pool_test, serves_the_default_stream) {
  const auto pool = make(8 * mib);
  void* const a = pool->allocate(nullptr, 1000);
  device_fill(a, 1, 1000);
  pool->deallocate(nullptr, a);
  EXPECT_EQ(pool->allocate(nullptr, 1000), a);
  EXPECT_THROW(pool->allocate(nullptr, 9 * mib), out_of_memory);
  int elsewhere = 0;
  EXPECT_THROW(pool->deallocate(nullptr, &elsewhere), unknown_block);
  pool->deallocate(nullptr, a);
  pool->trim();
  EXPECT_EQ(pool->statistics().live_blocks, 0u);
}

#if defined(WARPHEAP_BACKEND_CUDA)

void must(cudaError_t code) { ASSERT_EQ(code, cudaSuccess) << cudaGetErrorString(code); }

// Keeps a stream busy, then writes.
__global__ void write_late(unsigned* words, std::uint64_t count, unsigned value, long long cycles) {
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
  for (std::uint64_t i = threadIdx.x; i < count; i += blockDim.x) words[i] = value;
}
__global__ void count_others(const unsigned* words, std::uint64_t count, unsigned value, unsigned* others) {
  for (std::uint64_t i = threadIdx.x; i < count; i += blockDim.x) {
    if (words[i] != value) atomicAdd(others, 1u);
  }
}

// A slow writer on one stream, its memory freed at once and handed to another: the writer must not be the last to
// write.
TEST_F(stream_pool_test, another_streams_work_waits_for_the_last_users) {
  const auto pool = make(2 * mib);
  cudaStream_t a = nullptr;
  cudaStream_t b = nullptr;
  must(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
  must(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
  unsigned* others = nullptr;
  must(cudaMalloc(&others, sizeof(unsigned)));
  must(cudaMemset(others, 0, sizeof(unsigned)));
  const std::uint64_t bytes = pool->statistics().reserved_bytes;
  auto* const first = static_cast<unsigned*>(pool->allocate(a, bytes));
  write_late<<<1, 256, 0, a>>>(first, bytes / 4, 1, 200'000'000);
  pool->deallocate(a, first);
  auto* const second = static_cast<unsigned*>(pool->allocate(b, bytes));
  EXPECT_EQ(second, first);
  EXPECT_EQ(pool->statistics().waits, 1u);
  write_late<<<1, 256, 0, b>>>(second, bytes / 4, 2, 0);
  must(cudaStreamSynchronize(a));
  count_others<<<1, 256, 0, b>>>(second, bytes / 4, 2, others);
  pool->deallocate(b, second);
  must(cudaStreamSynchronize(b));
  unsigned wrong = 0;
  must(cudaMemcpy(&wrong, others, sizeof wrong, cudaMemcpyDefault));
  EXPECT_EQ(wrong, 0u);
  must(cudaFree(others));
  pool->forget(a);
  pool->forget(b);
  must(cudaStreamDestroy(a));
  must(cudaStreamDestroy(b));
}

TEST_F(stream_pool_test, a_captured_stream_is_refused) {
  const auto pool = make(8 * mib);
  cudaStream_t stream = nullptr;
  must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  void* const block = pool->allocate(stream, 1000);
  must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  EXPECT_THROW(pool->allocate(stream, 1000), stream_refused);
  EXPECT_THROW(pool->deallocate(stream, block), stream_refused);
  cudaGraph_t graph = nullptr;
  must(cudaStreamEndCapture(stream, &graph));
  must(cudaGraphDestroy(graph));
  pool->deallocate(stream, block);
  pool->forget(stream);
  must(cudaStreamDestroy(stream));
}

// A slow writer on a stream that is noted: the memory must not be another's before it is done.
TEST_F(stream_pool_test, a_noted_streams_work_is_waited_for) {
  const auto pool = make(2 * mib);
  cudaStream_t a = nullptr;
  cudaStream_t b = nullptr;
  must(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
  must(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
  unsigned* others = nullptr;
  must(cudaMalloc(&others, sizeof(unsigned)));
  must(cudaMemset(others, 0, sizeof(unsigned)));
  const std::uint64_t bytes = pool->statistics().reserved_bytes;
  auto* const first = static_cast<unsigned*>(pool->allocate(a, bytes));
  pool->note_use(b, first);
  write_late<<<1, 256, 0, b>>>(first, bytes / 4, 1, 200'000'000);
  pool->deallocate(a, first);
  EXPECT_EQ(pool->statistics().deferred_blocks, 1u);
  auto* const second = static_cast<unsigned*>(pool->allocate(a, bytes));
  EXPECT_EQ(second, first);
  write_late<<<1, 256, 0, a>>>(second, bytes / 4, 2, 0);
  must(cudaStreamSynchronize(b));
  count_others<<<1, 256, 0, a>>>(second, bytes / 4, 2, others);
  pool->deallocate(a, second);
  must(cudaStreamSynchronize(a));
  unsigned wrong = 0;
  must(cudaMemcpy(&wrong, others, sizeof wrong, cudaMemcpyDefault));
  EXPECT_EQ(wrong, 0u);
  must(cudaFree(others));
  pool->forget(a);
  pool->forget(b);
  must(cudaStreamDestroy(a));
  must(cudaStreamDestroy(b));
}

// A graph whose two streams take blocks of the capture. Between its runs other streams use all memory that there is.
TEST_F(stream_pool_test, a_graph_finds_its_memory_each_time_it_runs) {
  const auto pool = make(16 * mib);
  cudaStream_t captured = nullptr;
  cudaStream_t joined = nullptr;
  cudaStream_t other = nullptr;
  for (cudaStream_t* each : {&captured, &joined, &other}) {
    must(cudaStreamCreateWithFlags(each, cudaStreamNonBlocking));
  }
  cudaEvent_t fork = nullptr;
  cudaEvent_t join = nullptr;
  must(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
  must(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
  unsigned* others = nullptr;
  must(cudaMalloc(&others, sizeof(unsigned)));
  must(cudaMemset(others, 0, sizeof(unsigned)));
  const std::uint64_t words = mib / 4;
  write_late<<<1, 256, 0, other>>>(others, 0, 0, 0);  // loads the kernels
  count_others<<<1, 256, 0, other>>>(others, 0, 0, others);
  void* const before = pool->allocate(captured, 1000);

  pool->begin_capture({1, 2}, captured);
  must(cudaStreamBeginCapture(captured, cudaStreamCaptureModeGlobal));
  must(cudaEventRecord(fork, captured));
  must(cudaStreamWaitEvent(joined, fork, 0));
  auto* const a = static_cast<unsigned*>(pool->allocate(captured, mib));
  auto* const b = static_cast<unsigned*>(pool->allocate(joined, mib));
  write_late<<<1, 256, 0, captured>>>(a, words, 1, 1'000'000);
  write_late<<<1, 256, 0, joined>>>(b, words, 2, 1'000'000);
  count_others<<<1, 256, 0, captured>>>(a, words, 1, others);
  count_others<<<1, 256, 0, joined>>>(b, words, 2, others);
  pool->deallocate(captured, a);
  EXPECT_EQ(pool->allocate(captured, mib), a);
  write_late<<<1, 256, 0, captured>>>(a, words, 3, 0);
  count_others<<<1, 256, 0, captured>>>(a, words, 3, others);
  pool->deallocate(captured, a);
  pool->deallocate(joined, b);
  pool->deallocate(captured, before);
  must(cudaEventRecord(join, joined));
  must(cudaStreamWaitEvent(captured, join, 0));
  cudaGraph_t graph = nullptr;
  must(cudaStreamEndCapture(captured, &graph));
  pool->end_capture({1, 2});
  ASSERT_NE(graph, nullptr);
  cudaGraphExec_t run = nullptr;
  must(cudaGraphInstantiate(&run, graph, 0));
  for (int i = 0; i < 3; ++i) {
    must(cudaGraphLaunch(run, captured));
    std::vector<void*> all;
    for (;;) {  // not a spin: ends when the pool is full
      try {
        all.push_back(pool->allocate(other, mib));
      } catch (const out_of_memory&) {
        break;
      }
      write_late<<<1, 256, 0, other>>>(static_cast<unsigned*>(all.back()), words, 9, 0);
    }
    EXPECT_GT(all.size(), 4u);
    for (void* const each : all) {
      EXPECT_NE(each, a);
      EXPECT_NE(each, b);
      pool->deallocate(other, each);
    }
  }
  pool->release_capture({1, 2}, captured);
  pool->trim();
  EXPECT_EQ(pool->statistics().committed_bytes, 0u);
  must(cudaStreamSynchronize(captured));
  unsigned wrong = 0;
  must(cudaMemcpy(&wrong, others, sizeof wrong, cudaMemcpyDefault));
  EXPECT_EQ(wrong, 0u);
  must(cudaGraphExecDestroy(run));
  must(cudaGraphDestroy(graph));
  must(cudaEventDestroy(fork));
  must(cudaEventDestroy(join));
  must(cudaFree(others));
  for (cudaStream_t each : {captured, joined, other}) {
    pool->forget(each);
    must(cudaStreamDestroy(each));
  }
}

// All that a pool asks of the driver: events of two streams, waits, memory taken and given back, an event destroyed.
void use_a_pool_of_its_own(cudaStream_t a, cudaStream_t b) {
  stream_pool pool(std::make_unique<device_space>(8 * mib, range_options{2 * mib, false}),
                   stream_pool_options{.span_bytes = mib});
  const std::uint64_t bytes = pool.statistics().reserved_bytes;
  void* const first = pool.allocate(a, bytes);
  write_late<<<1, 32, 0, a>>>(static_cast<unsigned*>(first), 1, 1, 50'000'000);
  pool.deallocate(a, first);
  void* const second = pool.allocate(b, bytes);  // records, queries and waits
  EXPECT_EQ(pool.statistics().waits, 1u);
  pool.deallocate(b, second);
  pool.forget(a);
  pool.trim();
  pool.forget(b);
}

// In global mode a capture ends in an error when any thread makes a call that could belong to it.
TEST_F(stream_pool_test, a_capture_in_global_mode_lives_while_pools_are_used) {
  cudaStream_t captured = nullptr;
  cudaStream_t a = nullptr;
  cudaStream_t b = nullptr;
  must(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
  must(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
  unsigned* word = nullptr;
  must(cudaStreamCreateWithFlags(&captured, cudaStreamNonBlocking));
  must(cudaMalloc(&word, sizeof(unsigned)));
  const auto pool = make(8 * mib);
  pool->deallocate(captured, pool->allocate(captured, 1000));
  // The kernels are loaded before, since loading one is such a call too.
  use_a_pool_of_its_own(a, b);
  must(cudaStreamBeginCapture(captured, cudaStreamCaptureModeGlobal));
  write_late<<<1, 32, 0, captured>>>(word, 1, 1, 0);
  EXPECT_THROW(pool->forget(captured), stream_refused);
  std::string complaint;
  std::thread other([&] {
    try {
      use_a_pool_of_its_own(a, b);
    } catch (const std::exception& error) {
      complaint = error.what();
    }
  });
  other.join();
  EXPECT_EQ(complaint, "");
  EXPECT_NO_THROW(use_a_pool_of_its_own(a, b)) << "by the thread that captures";
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(captured, &graph), cudaSuccess) << "the capture was ended by a call of the pool";
  EXPECT_NE(graph, nullptr);
  static_cast<void>(cudaGetLastError());
  if (graph != nullptr) must(cudaGraphDestroy(graph));
  pool->forget(captured);
  for (cudaStream_t each : {captured, a, b}) must(cudaStreamDestroy(each));
  must(cudaFree(word));
}

TEST_F(stream_pool_test, threads_default_streams_are_streams_of_their_own) {
  const auto pool = make(64 * mib);
  std::vector<std::thread> threads;
  for (int id = 0; id < 4; ++id) {
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) {
        void* const block = pool->allocate(cudaStreamPerThread, 100'000);
        static_cast<void>(cudaMemsetAsync(block, 1, 100'000, cudaStreamPerThread));
        pool->deallocate(cudaStreamPerThread, block);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(pool->statistics().streams, 4u);
  pool->trim();
  EXPECT_EQ(pool->statistics().committed_bytes, 0u);
}

#endif

}  // namespace
}  // namespace warpheap::stream_pool_test
