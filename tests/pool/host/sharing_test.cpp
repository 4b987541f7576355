// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Blocks of a pool in a second process, which `fork` makes: on the host memory survives that, as a GPU's does not.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <support/fail_after.hpp>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>
#include <warpheap/pool.hpp>

namespace warpheap::sharing_test {
namespace {

constexpr std::uint64_t mib = std::uint64_t{1} << 20;

// A pool over memory that can be shared.
struct shared_pool {
  explicit shared_pool(std::uint64_t bytes) : shared_pool(std::make_unique<shared_space>(bytes)) {}
  block_handle handle_of(const void* block) const { return export_block(space, blocks, block); }

  const shared_space& space;
  pool blocks;

 private:
  explicit shared_pool(std::unique_ptr<shared_space> made) : space(*made), blocks(std::move(made)) {}
};

unsigned char* bytes_of(void* block) { return static_cast<unsigned char*>(block); }

// Runs `body` in a child, whose failures are this test's.
template <class Body>
void in_child(Body body) {
  const pid_t child = ::fork();
  if (child == 0) {
    try {
      body();
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
    ::_exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0) << "the child failed";
}

TEST(sharing, a_child_sees_and_writes_the_block) {
  shared_pool shared(4 * mib);
  void* const first = shared.blocks.allocate(5000);
  void* const second = shared.blocks.allocate(mib);
  std::fill_n(bytes_of(second), mib, static_cast<unsigned char>(3));
  const block_handle handle = shared.handle_of(second);
  EXPECT_EQ(handle.block_bytes, mib);
  EXPECT_EQ(handle.memory_bytes, 4 * mib);
  in_child([&] {
    block_importer importer;
    auto* const mapped = bytes_of(importer.import_block(handle));
    EXPECT_NE(mapped, second) << "it is another mapping";
    EXPECT_TRUE(std::all_of(mapped, mapped + mib, [](unsigned char each) { return each == 3; }));
    std::fill_n(mapped, mib, static_cast<unsigned char>(4));
  });
  EXPECT_TRUE(std::all_of(bytes_of(second), bytes_of(second) + mib, [](unsigned char each) { return each == 4; }));
  shared.blocks.deallocate(first);
}

TEST(sharing, each_memory_is_mapped_once) {
  shared_pool a(4 * mib);
  shared_pool b(4 * mib);
  const block_handle of_a[2] = {a.handle_of(a.blocks.allocate(1)), a.handle_of(a.blocks.allocate(1))};
  const block_handle of_b = b.handle_of(b.blocks.allocate(1));
  in_child([&] {
    block_importer importer;
    void* const first = importer.import_block(of_a[0]);
    void* const second = importer.import_block(of_a[1], 0);
    EXPECT_EQ(bytes_of(second) - bytes_of(first), 256) << "as far apart as in the other process";
    EXPECT_EQ(importer.import_block(of_a[0]), first);
    void* const other = importer.import_block(of_b);
    EXPECT_EQ(importer.memories(), 2u);
    EXPECT_EQ(importer.blocks(), 4u);
    importer.release_block(first);
    importer.release_block(second);
    importer.release_block(nullptr);
    EXPECT_EQ(importer.memories(), 2u);
    *bytes_of(first) = 1;
    importer.release_block(first);
    EXPECT_EQ(importer.memories(), 1u);
    EXPECT_THROW(importer.release_block(first), unknown_block);
    EXPECT_THROW(importer.release_block(bytes_of(other) + 1), unknown_block);
    importer.release_block(other);
    EXPECT_EQ(importer.memories() + importer.blocks(), 0u);
  });
}

TEST(sharing, bytes_that_are_no_handle_are_refused) {
  shared_pool shared(mib);
  void* const block = shared.blocks.allocate(1000);
  const block_handle handle = shared.handle_of(block);
  block_importer importer;
  EXPECT_THROW(importer.import_block(handle), std::invalid_argument) << "of the same process";
  EXPECT_THROW(importer.import_block(block_handle{}), std::invalid_argument);
  EXPECT_THROW(shared.handle_of(bytes_of(block) + 256), unknown_block);
  EXPECT_THROW(shared.handle_of(nullptr), unknown_block);
  pool elsewhere(std::make_unique<host_space>(mib));
  EXPECT_THROW(export_block(shared.space, elsewhere, elsewhere.allocate(1)), unknown_block) << "of another space";
  in_child([&] {
    for (auto damage : {&block_handle::kind, &block_handle::memory_bytes, &block_handle::offset, &block_handle::sum}) {
      block_handle other = handle;
      other.*damage ^= 256;
      EXPECT_THROW(importer.import_block(other), std::invalid_argument);
    }
    EXPECT_THROW(importer.import_block(handle, 1), launch_failure) << "there is no such device";
    EXPECT_EQ(importer.memories() + importer.blocks(), 0u);
    EXPECT_NO_THROW(importer.import_block(handle));
  });
}

// The next memory has the number of the file that was closed.
TEST(sharing, memory_that_was_given_back_is_not_taken_for_another) {
  auto shared = std::make_unique<shared_pool>(2 * mib);
  const block_handle handle = shared->handle_of(shared->blocks.allocate(1));
  shared.reset();
  block_importer importer;
  in_child([&] { EXPECT_THROW(importer.import_block(handle), launch_failure); });
  shared = std::make_unique<shared_pool>(2 * mib);
  EXPECT_NE(shared->handle_of(shared->blocks.allocate(1)).memory, handle.memory);
  in_child([&] {
    EXPECT_THROW(importer.import_block(handle), launch_failure);
    EXPECT_EQ(importer.memories() + importer.blocks(), 0u);
  });
}

TEST(sharing, what_the_machine_refuses_leaves_nothing) {
  {
    const host::fail_after planned(0, host::device_calls::allocate);
    EXPECT_THROW(shared_space(2 * mib), std::system_error);
  }
  EXPECT_THROW(shared_space(~std::uint64_t{0}), std::length_error);
  shared_pool shared(2 * mib);
  const block_handle handle = shared.handle_of(shared.blocks.allocate(1));
  in_child([&] {
    block_importer importer;
    {
      const host::fail_after planned(0, host::device_calls::allocate);
      EXPECT_THROW(importer.import_block(handle), std::system_error);
    }
    EXPECT_EQ(importer.memories() + importer.blocks(), 0u);
    void* const block = importer.import_block(handle);
    importer.release_block(block);
    EXPECT_EQ(importer.memories() + importer.blocks(), 0u);
  });
}

TEST(sharing, threads_import_and_release_beside_each_other) {
  shared_pool shared(2 * mib);
  std::vector<block_handle> handles;
  for (int i = 0; i < 8; ++i) handles.push_back(shared.handle_of(shared.blocks.allocate(1000)));
  in_child([&] {
    block_importer importer;
    std::vector<std::thread> threads;
    for (std::size_t id = 0; id < 4; ++id) {
      threads.emplace_back([&, id] {
        for (std::size_t i = 0; i < 200; ++i) {
          void* const own = importer.import_block(handles[id]);
          void* const common = importer.import_block(handles[7]);
          *bytes_of(own) = static_cast<unsigned char>(i);
          importer.release_block(common);
          EXPECT_EQ(*bytes_of(own), static_cast<unsigned char>(i));
          importer.release_block(own);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(importer.memories() + importer.blocks(), 0u);
  });
}

// A space that keeps count of what it is asked for at a time.
class asked_space final : public pool_space {
 public:
  explicit asked_space(std::vector<int>& peers) : pool_space(nullptr, 0, 0), range_(mib), peers_(peers) {
    lies_at(range_.data(), range_.reserved_bytes(), std::uint64_t{64} << 10);
  }
  void commit(std::uint64_t offset, std::uint64_t bytes) override { range_.commit(offset, bytes); }
  void decommit(std::uint64_t offset, std::uint64_t bytes) override { range_.decommit(offset, bytes); }
  void allow_peer(int device) override {
    if (device == 9) throw launch_failure("no such device");
    peers_.push_back(device);
    if (on_allow) on_allow();
  }
  std::function<void()> on_allow;

 private:
  host_range range_;
  std::vector<int>& peers_;
};

TEST(sharing, a_space_hears_of_peers_and_may_use_its_pool_meanwhile) {
  std::vector<int> peers;
  auto made = std::make_unique<asked_space>(peers);
  asked_space& space = *made;
  stream_pool blocks(std::move(made));
  blocks.deallocate({}, blocks.allocate({}, 1000));
  space.on_allow = [&] { EXPECT_NE(blocks.common().reserved_bytes(), 0u); };
  blocks.allow_peer(3);
  EXPECT_THROW(blocks.allow_peer(9), launch_failure);
  blocks.allow_peer(4);
  EXPECT_EQ(peers, (std::vector<int>{3, 4}));
  blocks.deallocate({}, blocks.allocate({}, mib));
  stream_pool other(std::make_unique<host_space>(mib));
  EXPECT_THROW(other.allow_peer(0), std::logic_error) << "host memory belongs to no device";
}

}  // namespace
}  // namespace warpheap::sharing_test
