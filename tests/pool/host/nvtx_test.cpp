// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// nvtx_adaptor under a tool: one that is linked with this program (nvtx_tool.cpp) and keeps what it is told.

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>
#include <warpheap/pool.hpp>
#include <warpheap/pool/adaptors/nvtx.hpp>

namespace warpheap::nvtx_test {
namespace {

constexpr std::uint64_t kib = 1024;
constexpr std::uint64_t mib = 1024 * kib;

/// What the tool was told.
struct told {
  struct range {
    const char* begin;
    std::uint64_t bytes;
    bool has(const char* address) const { return address >= begin && address < begin + bytes; }
  };
  std::mutex mutex;
  bool listens = true;
  std::string name;                      // of the latest heap
  std::map<std::intptr_t, range> heaps;  // by handle
  std::map<const char*, range> in_use;   // blocks, by their begin
  std::vector<std::string> complaints;   // of what a tool could not make sense of
  std::intptr_t last_handle = 0;

  bool may_touch(const void* address, std::uint64_t at = 0) {
    const std::lock_guard lock(mutex);
    const char* const byte = static_cast<const char*>(address) + at;
    for (const auto& [begin, block] : in_use) {
      if (block.has(byte)) return true;
    }
    return false;
  }
  void clear() {
    const std::lock_guard lock(mutex);
    listens = true;
    heaps.clear();
    in_use.clear();
    complaints.clear();
  }
};
told tool;

nvtxMemHeapHandle_t register_heap(nvtxDomainHandle_t, const nvtxMemHeapDesc_t* of) {
  const std::lock_guard lock(tool.mutex);
  if (!tool.listens) return nullptr;
  if (of->extCompatID != NVTX_EXT_COMPATID_MEM || of->structSize != sizeof *of ||
      of->usage != NVTX_MEM_HEAP_USAGE_TYPE_SUB_ALLOCATOR || of->type != NVTX_MEM_TYPE_VIRTUAL_ADDRESS ||
      of->typeSpecificDescSize != sizeof(nvtxMemVirtualRangeDesc_t)) {
    tool.complaints.push_back("a heap of an unknown kind");
    return nullptr;
  }
  const auto* const range = static_cast<const nvtxMemVirtualRangeDesc_t*>(of->typeSpecificDesc);
  tool.name = of->message.ascii;
  tool.heaps[++tool.last_handle] = {static_cast<const char*>(range->ptr), range->size};
  return reinterpret_cast<nvtxMemHeapHandle_t>(tool.last_handle);
}
void unregister_heap(nvtxDomainHandle_t, nvtxMemHeapHandle_t heap) {
  const std::lock_guard lock(tool.mutex);
  if (tool.heaps.erase(reinterpret_cast<std::intptr_t>(heap)) == 0) tool.complaints.push_back("an unknown heap");
}
void register_regions(nvtxDomainHandle_t, const nvtxMemRegionsRegisterBatch_t* of) {
  const std::lock_guard lock(tool.mutex);
  const auto heap = tool.heaps.find(reinterpret_cast<std::intptr_t>(of->heap));
  if (heap == tool.heaps.end()) return tool.complaints.push_back("a block of an unknown heap");
  const auto* each = static_cast<const char*>(of->regionDescElements);
  for (std::size_t i = 0; i < of->regionCount; ++i, each += of->regionDescElementSize) {
    const auto& range = *reinterpret_cast<const nvtxMemVirtualRangeDesc_t*>(each);
    const auto* const begin = static_cast<const char*>(range.ptr);
    if (range.size == 0 || !heap->second.has(begin) || !heap->second.has(begin + range.size - 1)) {
      tool.complaints.push_back("a block outside its heap");
    }
    for (const auto& [other, block] : tool.in_use) {
      if (begin < other + block.bytes && other < begin + range.size) tool.complaints.push_back("blocks that overlap");
    }
    tool.in_use[begin] = {begin, range.size};
  }
}
void unregister_regions(nvtxDomainHandle_t, const nvtxMemRegionsUnregisterBatch_t* of) {
  const std::lock_guard lock(tool.mutex);
  if (of->refType != NVTX_MEM_REGION_REF_TYPE_POINTER) tool.complaints.push_back("a block by something else");
  const auto* each = reinterpret_cast<const char*>(of->refElements);
  for (std::size_t i = 0; i < of->refCount; ++i, each += of->refElementSize) {
    const auto* const begin = static_cast<const char*>(reinterpret_cast<const nvtxMemRegionRef_t*>(each)->pointer);
    if (tool.in_use.erase(begin) == 0) tool.complaints.push_back("an unknown block");
  }
}

int attach_tool(nvtxExtModuleInfo_t* of) {
  if (of->moduleId != NVTX_EXT_MODULEID_MEM || of->segmentsCount == 0) return 0;
  std::intptr_t* const slots = of->segments[0].functionSlots;
  slots[NVTX3EXT_CBID_nvtxMemHeapRegister] = reinterpret_cast<std::intptr_t>(&register_heap);
  slots[NVTX3EXT_CBID_nvtxMemHeapUnregister] = reinterpret_cast<std::intptr_t>(&unregister_heap);
  slots[NVTX3EXT_CBID_nvtxMemRegionsRegister] = reinterpret_cast<std::intptr_t>(&register_regions);
  slots[NVTX3EXT_CBID_nvtxMemRegionsUnregister] = reinterpret_cast<std::intptr_t>(&unregister_regions);
  return 1;
}

/// A pool that fails on demand, and checks that nobody may touch what it gets back.
class watched_source {
 public:
  enum class failure { none, refuses, took_it_back };
  explicit watched_source(pool& blocks) : blocks_(blocks) {}
  void* allocate(std::uint64_t bytes, std::uint64_t alignment = 1) {
    if (fails == failure::refuses) throw out_of_memory(bytes, "none left today");
    return blocks_.allocate(bytes, alignment);
  }
  void deallocate(void* block) {
    EXPECT_FALSE(tool.may_touch(block)) << "the source could hand out what is in use still";
    if (fails == failure::refuses) throw std::runtime_error("not today");
    blocks_.deallocate(block);
    if (fails == failure::took_it_back) throw damaged_block("it was damaged");
  }
  std::uint64_t block_bytes(const void* block) const { return blocks_.block_bytes(block); }

  failure fails = failure::none;

 private:
  pool& blocks_;
};
using failure = watched_source::failure;

class nvtx : public testing::Test {
 protected:
  nvtx() { tool.clear(); }
  ~nvtx() override { EXPECT_EQ(tool.complaints, std::vector<std::string>{}); }

  pool blocks{std::make_unique<host_space>(mib, 64 * kib)};
  watched_source source{blocks};
};

TEST_F(nvtx, tools_know_what_was_asked_for_and_no_more) {
  nvtx_adaptor seen(source, blocks.data(), blocks.reserved_bytes(), "blocks of a test");
  ASSERT_TRUE(seen.is_heard());
  EXPECT_EQ(tool.name, "blocks of a test");
  ASSERT_EQ(tool.heaps.size(), 1u);
  EXPECT_EQ(tool.heaps.begin()->second.begin, blocks.data());
  EXPECT_EQ(tool.heaps.begin()->second.bytes, mib);
  void* const block = seen.allocate(1000);
  EXPECT_GE(seen.block_bytes(block), 1000u);
  EXPECT_TRUE(tool.may_touch(block, 0));
  EXPECT_TRUE(tool.may_touch(block, 999));
  EXPECT_FALSE(tool.may_touch(block, 1000)) << "the rounding is not the caller's";
  void* const other = seen.allocate(64, 4096);
  seen.deallocate(block);
  EXPECT_FALSE(tool.may_touch(block));
  EXPECT_TRUE(tool.may_touch(other, 63));
  seen.deallocate(other);
  seen.deallocate(nullptr);
  EXPECT_TRUE(tool.in_use.empty());
}

TEST_F(nvtx, a_request_that_fails_is_not_told) {
  nvtx_adaptor seen(source, blocks.data(), blocks.reserved_bytes());
  source.fails = failure::refuses;
  EXPECT_THROW(seen.allocate(100), out_of_memory);
  EXPECT_TRUE(tool.in_use.empty());
}

TEST_F(nvtx, a_block_is_in_use_as_long_as_it_is_live) {
  nvtx_adaptor seen(source, blocks.data(), blocks.reserved_bytes());
  void* const block = seen.allocate(100);
  source.fails = failure::refuses;
  EXPECT_THROW(seen.deallocate(block), std::runtime_error);
  EXPECT_TRUE(tool.may_touch(block, 99)) << "the source has not taken it back";
  EXPECT_FALSE(tool.may_touch(block, 100));
  source.fails = failure::took_it_back;
  EXPECT_THROW(seen.deallocate(block), damaged_block);
  EXPECT_FALSE(tool.may_touch(block));
}

TEST_F(nvtx, blocks_of_others_and_of_no_bytes_are_passed_on) {
  nvtx_adaptor seen(source, blocks.data(), blocks.reserved_bytes());
  void* const others = blocks.allocate(100);
  seen.deallocate(others);
  EXPECT_THROW(seen.deallocate(others), unknown_block);
  void* const none = seen.allocate(0);
  EXPECT_FALSE(tool.may_touch(none));
  seen.deallocate(none);
  EXPECT_EQ(blocks.statistics().live_blocks, 0u);
}

TEST_F(nvtx, a_block_that_went_past_it_is_told_anew) {
  nvtx_adaptor seen(source, blocks.data(), blocks.reserved_bytes());
  void* const block = seen.allocate(1000);
  blocks.deallocate(block);
  void* const again = seen.allocate(500);
  ASSERT_EQ(again, block) << "the test needs the same block again";
  EXPECT_TRUE(tool.may_touch(block, 499));
  EXPECT_FALSE(tool.may_touch(block, 500));
  seen.deallocate(again);
}

TEST_F(nvtx, its_end_takes_all_back) {
  void* block = nullptr;
  {
    nvtx_adaptor seen(source, blocks.data(), blocks.reserved_bytes());
    block = seen.allocate(1000);
    static_cast<void>(seen.allocate(0));
  }
  EXPECT_TRUE(tool.in_use.empty());
  EXPECT_TRUE(tool.heaps.empty());
  EXPECT_GE(blocks.block_bytes(block), 1000u) << "the block stays with the source";
}

TEST_F(nvtx, it_keeps_nothing_where_no_tool_listens) {
  tool.listens = false;
  nvtx_adaptor seen(source, blocks.data(), blocks.reserved_bytes());
  EXPECT_FALSE(seen.is_heard());
  tool.listens = true;  // too late
  void* const block = seen.allocate(1000);
  EXPECT_TRUE(tool.in_use.empty());
  seen.deallocate(block);
  EXPECT_EQ(blocks.statistics().live_blocks, 0u);
}

TEST_F(nvtx, threads_may_call_it) {
  nvtx_adaptor seen(blocks, blocks.data(), blocks.reserved_bytes());
  const auto traffic = [&seen] {
    std::vector<void*> mine;
    for (std::uint64_t i = 0; i < 300; ++i) {
      mine.push_back(seen.allocate(1 + i % 700));
      if (mine.size() > 8) {
        seen.deallocate(mine.front());
        mine.erase(mine.begin());
      }
    }
    for (void* const block : mine) seen.deallocate(block);
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(traffic);
  for (std::thread& each : threads) each.join();
  EXPECT_TRUE(tool.in_use.empty());
}

}  // namespace
}  // namespace warpheap::nvtx_test

extern "C" int attach_tool_of_nvtx_test(void* to) {
  return warpheap::nvtx_test::attach_tool(static_cast<nvtxExtModuleInfo_t*>(to));
}
