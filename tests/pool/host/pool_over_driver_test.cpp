// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The library of pools of a GPU, over a driver that stands in for NVIDIA's: what it asks the driver for, in which
// context, and what it makes of the answers. That it works with a GPU, the program pool_c shows there.

#include <gtest/gtest.h>
#include <warpheap/pool/pool.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>
#include <warpheap/platform.hpp>
#include <warpheap/pool.hpp>

#include "../other_process.hpp"
#include "../pool_c_fixture.hpp"
#include "stand_in_cuda.hpp"

namespace warpheap::test::pool_over_driver_test {
namespace {

class pool_over_driver : public pool_c {
 protected:
  void SetUp() override {
    stand_in::reset_all();
    stand_in::set_current_context(nullptr);
  }
  void TearDown() override {
    pool_c::TearDown();
    EXPECT_EQ(stand_in::taken_bytes(0) + stand_in::taken_bytes(1), 0u);
    EXPECT_EQ(stand_in::reserved_bytes(), 0u);
  }

  static wh_pool_options options(int device = -1, std::uint32_t flags = 0) {
    wh_pool_options how = pool_c::options();
    how.device = device;
    how.flags = flags;
    return how;
  }
};

TEST_F(pool_over_driver, the_library_says_what_it_is) {
  EXPECT_STREQ(wh_pool_backend(), "cuda");
  EXPECT_EQ(wh_pool_device_available(), 1u);
  EXPECT_EQ(wh_pool_device_count(), 2);
}

TEST_F(pool_over_driver, a_thread_without_a_context_gets_that_of_the_first_device) {
  make();
  EXPECT_EQ(wh_pool_device(pool_), 0);
  EXPECT_EQ(stand_in::current_context(), stand_in::primary_context(0));
  std::thread([&] {
    EXPECT_EQ(stand_in::current_context(), nullptr);
    deallocate(allocate(1000));
  }).join();
}

TEST_F(pool_over_driver, calls_leave_the_current_device_as_it_was) {
  make(options(1));
  EXPECT_EQ(wh_pool_device(pool_), 1);
  const CUstream stream = stand_in::make_stream(1);
  for (const int current : {0, 1}) {
    stand_in::set_current_context(stand_in::primary_context(current));
    deallocate(allocate(1000, stream), stream);
    EXPECT_EQ(stand_in::current_context(), stand_in::primary_context(current));
  }
  EXPECT_EQ(stand_in::taken_bytes(0), 0u);
  EXPECT_EQ(stand_in::taken_bytes(1), 2 * mebibyte);
}

TEST_F(pool_over_driver, memory_comes_from_the_driver_in_pieces_and_goes_back) {
  make();
  EXPECT_EQ(stand_in::taken_bytes(0), 0u);
  EXPECT_GE(stand_in::reserved_bytes(), 64 * mebibyte);
  auto* const block = static_cast<unsigned char*>(allocate(3 * mebibyte));
  EXPECT_EQ(stand_in::taken_bytes(0), 4 * mebibyte);
  std::fill_n(block, 3 * mebibyte, static_cast<unsigned char>(7));
  deallocate(block);
  EXPECT_EQ(wh_pool_trim(pool_, 0, nullptr), WH_POOL_OK);
  EXPECT_EQ(stand_in::taken_bytes(0), 0u);
}

TEST_F(pool_over_driver, an_error_has_the_drivers_words) {
  stand_in::set_capacity(0, 32 * mebibyte);
  const wh_pool_options how = options(-1, WH_POOL_PLAIN);
  EXPECT_NE(wh_pool_make(&how, &pool_), WH_POOL_OK);
  EXPECT_TRUE(told("CUDA_ERROR_OUT_OF_MEMORY: out of memory")) << wh_pool_error();
  EXPECT_EQ(pool_, nullptr);

  make();
  void* block = nullptr;
  EXPECT_EQ(wh_pool_allocate(pool_, 40 * mebibyte, 0, nullptr, &block), WH_POOL_OUT_OF_MEMORY) << wh_pool_error();
  EXPECT_EQ(stand_in::taken_bytes(0), 0u);
  deallocate(allocate(30 * mebibyte));
}

TEST_F(pool_over_driver, plain_memory_is_the_drivers_allocation) {
  make(options(-1, WH_POOL_PLAIN));
  const std::uint64_t taken = stand_in::taken_bytes(0);
  EXPECT_GE(taken, 64 * mebibyte);
  deallocate(allocate(1000));
  EXPECT_EQ(stand_in::taken_bytes(0), taken);
}

TEST_F(pool_over_driver, memory_that_is_pinned_is_the_drivers) {
  {
    pool blocks(std::make_unique<pinned_space>(mebibyte));
    blocks.deallocate(blocks.allocate(1000));
  }
  stand_in::fail_next("cuMemHostAlloc", CUDA_ERROR_OUT_OF_MEMORY);
  stand_in::fail_next("cuMemAddressReserve", CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_ANY_THROW(pool(std::make_unique<pinned_space>(mebibyte)));
}

TEST_F(pool_over_driver, a_stream_waits_for_the_work_of_the_one_whose_memory_it_takes) {
  wh_pool_options how = options();
  how.reserve_bytes = 2 * mebibyte;
  make(how);
  const CUstream first = stand_in::make_stream(0);
  const CUstream second = stand_in::make_stream(0);
  void* const block = allocate(mebibyte, first);
  stand_in::give_work(first);
  deallocate(block, first);
  EXPECT_TRUE(stand_in::waits().empty());
  void* const again = allocate(2 * mebibyte, second);
  const std::vector<stand_in::wait> waits = stand_in::waits();
  ASSERT_EQ(waits.size(), 1u);
  EXPECT_EQ(waits[0].stream, second);
  EXPECT_EQ(waits[0].until, first);
  EXPECT_EQ(waits[0].work, 1u);
  deallocate(again, second);
  stand_in::do_work(first);
}

TEST_F(pool_over_driver, a_block_that_another_stream_uses_comes_back_after_its_work) {
  make();
  const CUstream other = stand_in::make_stream(0);
  void* const block = allocate(1000);
  stand_in::give_work(other);
  EXPECT_EQ(wh_pool_note_use(pool_, block, other), WH_POOL_OK);
  deallocate(block);
  EXPECT_EQ(figures().deferred_bytes, 1024u);
  stand_in::do_work(other);
  EXPECT_EQ(wh_pool_trim(pool_, 0, nullptr), WH_POOL_OK);
  EXPECT_EQ(stand_in::taken_bytes(0), 0u);
}

TEST_F(pool_over_driver, a_mark_that_cannot_be_made_leaves_the_block) {
  make();
  void* const block = allocate(1000);
  EXPECT_EQ(wh_pool_note_use(pool_, block, stand_in::make_stream(0)), WH_POOL_OK);
  for (const char* call : {"cuEventCreate", "cuEventRecord"}) {
    stand_in::fail_next(call, CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT_NE(wh_pool_deallocate(pool_, block, nullptr), WH_POOL_OK) << call;
  }
  deallocate(block);
}

TEST_F(pool_over_driver, a_stream_that_is_captured_gets_memory_of_the_capture_alone) {
  make();
  const CUstream captured = stand_in::make_stream(0);
  stand_in::begin_capture(captured);
  void* block = nullptr;
  EXPECT_EQ(wh_pool_allocate(pool_, 1000, 0, captured, &block), WH_POOL_NOT_SUPPORTED);
  EXPECT_EQ(wh_pool_allocate(pool_, 1000, 0, nullptr, &block), WH_POOL_NOT_SUPPORTED)
      << "the default stream cannot be asked";
  ASSERT_EQ(wh_pool_begin_capture(pool_, 7, 0, captured, nullptr, nullptr), WH_POOL_OK) << wh_pool_error();
  block = allocate(1000, captured);
  const CUstream not_captured = stand_in::make_stream(0);
  void* const other = allocate(1000, not_captured);
  deallocate(block, captured);
  stand_in::end_capture(captured);
  EXPECT_EQ(wh_pool_end_capture(pool_, 7, 0), WH_POOL_OK);
  EXPECT_EQ(wh_pool_release_capture(pool_, 7, 0, nullptr), WH_POOL_OK) << wh_pool_error();
  deallocate(other, not_captured);
}

TEST_F(pool_over_driver, a_stream_of_another_device_is_refused) {
  make();
  void* block = nullptr;
  EXPECT_EQ(wh_pool_allocate(pool_, 1000, 0, stand_in::make_stream(1), &block), WH_POOL_INVALID_ARGUMENT);
  EXPECT_EQ(stand_in::taken_bytes(0), 0u);
}

TEST_F(pool_over_driver, a_device_that_was_reset_ends_its_pools) {
  make(options(1));
  deallocate(allocate(1000, stand_in::make_stream(1)));
  const CUcontext gone = stand_in::primary_context(1);
  stand_in::reset_device(1);
  const auto is_refused = [&](CUcontext current) {
    stand_in::set_current_context(current);
    void* block = nullptr;
    EXPECT_EQ(wh_pool_allocate(pool_, 1000, 0, nullptr, &block), WH_POOL_DEVICE_FAILURE);
    EXPECT_TRUE(told("was reset")) << wh_pool_error();
  };
  is_refused(stand_in::primary_context(0));
  is_refused(gone);  // which a thread keeps
  ASSERT_EQ(stand_in::primary_context(1), gone) << "started again, it is another context in the same place";
  is_refused(gone);
}

// The thread has the context as its own, before and after: an answer may not come from that alone.
TEST_F(pool_over_driver, a_device_that_was_reset_ends_its_pools_where_it_is_current) {
  stand_in::set_current_context(stand_in::primary_context(1));
  make();
  EXPECT_EQ(wh_pool_device(pool_), 1);
  deallocate(allocate(1000));
  stand_in::reset_device(1);
  void* block = nullptr;
  EXPECT_EQ(wh_pool_allocate(pool_, 1000, 0, nullptr, &block), WH_POOL_DEVICE_FAILURE);
  EXPECT_TRUE(told("was reset")) << wh_pool_error();
  if (std::getenv("STAND_IN_LACKS") != nullptr) return;
  wh_pool* anew = nullptr;
  wh_pool_options how = options();
  EXPECT_EQ(wh_pool_make(&how, &anew), WH_POOL_DEVICE_FAILURE) << "the thread's device is not there";
  how.device = 1;  // a device that is named is started
  EXPECT_EQ(wh_pool_make(&how, &anew), WH_POOL_OK) << wh_pool_error();
  EXPECT_EQ(wh_pool_end(anew), WH_POOL_OK);
  EXPECT_EQ(wh_pool_allocate(pool_, 1000, 0, nullptr, &block), WH_POOL_DEVICE_FAILURE);
  EXPECT_TRUE(told("was reset")) << wh_pool_error();
  ::setenv("STAND_IN_LACKS", "cuCtxGetId", 1);  // a driver that tells no numbers of contexts
  {
    const other_process without_numbers("pool_over_driver.a_device_that_was_reset_ends_its_pools_where_it_is_current");
  }
  ::unsetenv("STAND_IN_LACKS");
}

TEST_F(pool_over_driver, another_device_is_let_in_once) {
  make(options(0, WH_POOL_PLAIN));
  const std::vector<std::pair<int, int>> expected{{0, 1}};
  for (int time = 0; time < 2; ++time) EXPECT_EQ(wh_pool_allow_peer(pool_, 1), WH_POOL_OK) << wh_pool_error();
  EXPECT_EQ(stand_in::peers(), expected);
  EXPECT_EQ(wh_pool_end(pool_), WH_POOL_OK);
  pool_ = nullptr;
  make(options(0, WH_POOL_PLAIN));
  EXPECT_EQ(wh_pool_allow_peer(pool_, 1), WH_POOL_OK) << "the driver says that it was let in before";
  stand_in::set_reach(false);
  EXPECT_EQ(wh_pool_end(pool_), WH_POOL_OK);
  pool_ = nullptr;
  make(options(0, WH_POOL_PLAIN));
  EXPECT_EQ(wh_pool_allow_peer(pool_, 1), WH_POOL_DEVICE_FAILURE);
  EXPECT_TRUE(told("cannot reach")) << wh_pool_error();
}

TEST_F(pool_over_driver, shared_memory_has_a_handle_of_the_driver) {
  make(options(0, WH_POOL_SHARED));
  void* const block = allocate(1000);
  wh_pool_handle handle{};
  EXPECT_EQ(wh_pool_export(pool_, block, &handle), WH_POOL_OK) << wh_pool_error();
  const auto names = stand_in::names_of_calls();
  EXPECT_EQ(std::count(names.begin(), names.end(), "cuIpcGetMemHandle"), 1);
  deallocate(block);
}

// What the driver is asked for each time: its answers are most of a call's time.
TEST_F(pool_over_driver, a_block_that_comes_and_goes_takes_few_calls_of_the_driver) {
  make();
  const CUstream stream = stand_in::make_stream(0);
  deallocate(allocate(1000, stream), stream);
  const std::size_t before = stand_in::names_of_calls().size();
  void* const block = allocate(1000, stream);
  deallocate(block, stream);
  const auto names = stand_in::names_of_calls();
  std::string asked;
  for (std::size_t i = before; i < names.size(); ++i) asked += names[i] + " ";
  EXPECT_LE(names.size() - before, 10u) << asked;
}

TEST_F(pool_over_driver, an_older_driver_is_no_device) {
  if (std::getenv("STAND_IN_LACKS") != nullptr) {
    EXPECT_EQ(wh_pool_device_available(), 0u);
    EXPECT_TRUE(told("no driver of CUDA 12 or later")) << wh_pool_error();
    EXPECT_EQ(wh_pool_device_count(), 0);
    EXPECT_EQ(wh_pool_make(nullptr, &pool_), WH_POOL_DEVICE_FAILURE);
    EXPECT_TRUE(told("no driver of CUDA 12 or later")) << wh_pool_error();
    wh_pool_options named = options(0);
    EXPECT_EQ(wh_pool_make(&named, &pool_), WH_POOL_DEVICE_FAILURE);
    EXPECT_TRUE(told("no driver of CUDA 12 or later")) << wh_pool_error();
    return;
  }
  ::setenv("STAND_IN_LACKS", "cuStreamGetCaptureInfo", 1);
  { const other_process older("pool_over_driver.an_older_driver_is_no_device"); }
  ::unsetenv("STAND_IN_LACKS");
}

}  // namespace
}  // namespace warpheap::test::pool_over_driver_test
