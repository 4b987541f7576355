// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Programs that ask CUDA's runtime for memory in all its ways, and look at what they stored there. Each gives back what
// it took. `interposed_test.cpp` starts them again under the library of `warpheap run`.

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <run/device_words.hpp>
#include <string>
#include <support/child_process.hpp>
#include <thread>
#include <vector>

namespace warpheap::test::run {
namespace {

struct held_block {
  std::uint32_t* words = nullptr;
  std::uint64_t count = 0;
  std::uint32_t value = 0;
  bool is_in_stream_order = false;
};

// Takes and gives back blocks on `stream`, eight live at once: half by cudaMalloc, half in the order of the stream.
// Returns the number of blocks that were refused, or did not hold what a kernel had stored.
unsigned churn(std::uint32_t seed, cudaStream_t stream) {
  std::mt19937 random{seed};
  std::array<held_block, 8> held{};
  unsigned wrong = 0;
  const auto give_back = [&](held_block& block) {
    if (block.words == nullptr) return;
    wrong += is_filled(block.words, block.count, block.value, stream) ? 0 : 1;
    const cudaError_t end = block.is_in_stream_order ? cudaFreeAsync(block.words, stream) : cudaFree(block.words);
    wrong += end == cudaSuccess ? 0 : 1;
    block = {};
  };
  const std::uint64_t rounds = scaled(1, 400);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    held_block& block = held[random() % held.size()];
    give_back(block);
    block.count = 1 + random() % (std::uint32_t{1} << random() % 19);
    block.value = random();
    block.is_in_stream_order = round % 2 == 1;
    void* taken = nullptr;
    const cudaError_t end = block.is_in_stream_order ? cudaMallocAsync(&taken, 4 * block.count, stream)
                                                     : cudaMalloc(&taken, 4 * block.count);
    if (end != cudaSuccess) {
      ++wrong;
      continue;
    }
    block.words = static_cast<std::uint32_t*>(taken);
    fill(block.words, block.count, block.value, stream);
  }
  for (held_block& block : held) give_back(block);
  return wrong;
}

TEST(program, has_threads_with_streams_of_their_own) {
  std::array<unsigned, 4> wrong{};
  std::vector<std::thread> threads;
  for (std::uint32_t i = 0; i < wrong.size(); ++i) {
    threads.emplace_back([i, &mine = wrong[i]] {
      cudaStream_t stream = cudaStreamPerThread;
      if (i % 2 == 1 && cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess) mine = 1;
      mine += churn(i, stream);
      if (i % 2 == 1) mine += cudaStreamDestroy(stream) == cudaSuccess ? 0 : 1;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, (std::array<unsigned, 4>{}));
}

TEST(program, takes_memory_while_a_graph_is_captured) {
  constexpr std::uint64_t count = 10'000;
  cudaStream_t stream{};
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  std::uint32_t* result = nullptr;
  ASSERT_EQ(cudaMalloc(&result, 4 * count), cudaSuccess);

  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  std::uint32_t* words = nullptr;
  EXPECT_EQ(cudaMallocAsync(&words, 4 * count, stream), cudaSuccess);
  fill(words, count, 17, stream);
  EXPECT_EQ(cudaMemcpyAsync(result, words, 4 * count, cudaMemcpyDeviceToDevice, stream), cudaSuccess);
  EXPECT_EQ(cudaFreeAsync(words, stream), cudaSuccess);
  cudaGraph_t graph{};
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);

  cudaGraphExec_t launched{};
  ASSERT_EQ(cudaGraphInstantiate(&launched, graph, 0), cudaSuccess);
  for (int launch = 0; launch < 3; ++launch) {
    fill(result, count, 0, stream);
    EXPECT_EQ(cudaGraphLaunch(launched, stream), cudaSuccess);
    EXPECT_TRUE(is_filled(result, count, 17, stream));
  }
  EXPECT_EQ(cudaGraphExecDestroy(launched), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  EXPECT_EQ(cudaFree(result), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

TEST(program, names_a_pool_of_the_driver) {
  constexpr std::uint64_t count = 100'000;
  cudaMemPoolProps kind{};
  kind.allocType = cudaMemAllocationTypePinned;
  kind.location = {cudaMemLocationTypeDevice, 0};
  cudaMemPool_t pool{};
  ASSERT_EQ(cudaMemPoolCreate(&pool, &kind), cudaSuccess);
  void* words = nullptr;
  ASSERT_EQ(cudaMallocFromPoolAsync(&words, 4 * count, pool, nullptr), cudaSuccess);
  fill(static_cast<std::uint32_t*>(words), count, 4);
  EXPECT_TRUE(is_filled(static_cast<std::uint32_t*>(words), count, 4));
  std::uint64_t used = 0;
  EXPECT_EQ(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used), cudaSuccess);
  EXPECT_GE(used, 4 * count);
  EXPECT_EQ(cudaFreeAsync(words, nullptr), cudaSuccess);
  EXPECT_EQ(cudaMemPoolTrimTo(pool, 0), cudaSuccess);
  EXPECT_EQ(cudaMemPoolDestroy(pool), cudaSuccess);
}

TEST(program, takes_managed_memory_rows_and_memory_of_the_host) {
  constexpr std::uint64_t count = 5'000;
  std::uint32_t* managed = nullptr;
  ASSERT_EQ(cudaMallocManaged(&managed, 4 * count), cudaSuccess);
  fill(managed, count, 1);
  EXPECT_TRUE(is_filled(managed, count, 1));
  EXPECT_EQ(cudaFree(managed), cudaSuccess);

  void* rows = nullptr;
  std::size_t pitch = 0;
  ASSERT_EQ(cudaMallocPitch(&rows, &pitch, 1'000, 50), cudaSuccess);
  fill(static_cast<std::uint32_t*>(rows), 50 * pitch / 4, 2);
  EXPECT_TRUE(is_filled(static_cast<std::uint32_t*>(rows), 50 * pitch / 4, 2));
  EXPECT_EQ(cudaFree(rows), cudaSuccess);

  std::uint32_t* pinned = nullptr;
  ASSERT_EQ(cudaMallocHost(&pinned, 4 * count), cudaSuccess);
  fill(pinned, count, 3);
  EXPECT_TRUE(is_filled(pinned, count, 3));
  EXPECT_EQ(cudaFreeHost(pinned), cudaSuccess);
}

TEST(program, is_refused_more_than_there_is) {
  void* block = nullptr;
  EXPECT_EQ(cudaMalloc(&block, std::size_t{1} << 50), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaMalloc(&block, 1'000), cudaSuccess);
  EXPECT_EQ(cudaFree(block), cudaSuccess);
}

// What a process tells the child that it has forked: a block that both may read, if the driver shares it.
struct shared_block {
  bool is_shared = false;
  cudaIpcMemHandle_t handle{};
};

constexpr std::uint64_t shared_count = 3'000;

// The parent: shares a block, works, and ends when the child has read. Returns its exit code.
int share_and_work(int told, pid_t child) {
  shared_block shared;
  std::uint32_t* words = nullptr;
  if (cudaMalloc(&words, 4 * shared_count) != cudaSuccess) return 10;
  fill(words, shared_count, 9);
  if (!is_filled(words, shared_count, 9)) return 11;
  shared.is_shared = cudaIpcGetMemHandle(&shared.handle, words) == cudaSuccess;
  // Only a pool's block is refused, for the driver shares whole allocations.
  const char* const mode = std::getenv("WARPHEAP_RUN_MODE");
  if (shared.is_shared == (mode != nullptr && std::string{mode} == "pool")) return 12;
  if (write(told, &shared, sizeof shared) != static_cast<ssize_t>(sizeof shared)) return 13;
  if (churn(21, nullptr) != 0) return 14;
  int status = 0;
  if (waitpid(child, &status, 0) != child || !WIFEXITED(status)) return 15;
  if (cudaFree(words) != cudaSuccess) return 16;
  return WEXITSTATUS(status);
}

int read_and_work(int told) {
  shared_block shared;
  if (read(told, &shared, sizeof shared) != static_cast<ssize_t>(sizeof shared)) return 20;
  if (shared.is_shared) {
    void* words = nullptr;
    if (cudaIpcOpenMemHandle(&words, shared.handle, cudaIpcMemLazyEnablePeerAccess) != cudaSuccess) return 21;
    if (!is_filled(static_cast<std::uint32_t*>(words), shared_count, 9)) return 22;
    if (cudaIpcCloseMemHandle(words) != cudaSuccess) return 23;
  }
  return churn(22, nullptr) == 0 ? 0 : 24;
}

// The process has not begun with CUDA, which survives no fork.
void fork_and_share() {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) std::exit(1);
  const pid_t child = fork();
  if (child < 0) std::exit(2);
  std::exit(child == 0 ? read_and_work(ends[0]) : share_and_work(ends[1], child));
}

TEST(program, forks_and_shares_a_block_with_its_child) {
  if (!children_can_fail_freely()) GTEST_SKIP() << "a memory checker keeps the GPU's context of each child for minutes";
  start_children_anew();
  EXPECT_EXIT(fork_and_share(), testing::ExitedWithCode(0), "");
}

// The last one: a pool of the device ends with it.
TEST(program, resets_its_device) {
  std::uint32_t* words = nullptr;
  for (std::uint32_t time = 0; time < 2; ++time) {
    ASSERT_EQ(cudaMalloc(&words, 4'000), cudaSuccess);
    fill(words, 1'000, time);
    EXPECT_TRUE(is_filled(words, 1'000, time));
    EXPECT_EQ(cudaFree(words), cudaSuccess);
    EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
  }
}

}  // namespace
}  // namespace warpheap::test::run
