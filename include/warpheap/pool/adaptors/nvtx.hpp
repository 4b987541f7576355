// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#if !__has_include(<nvtx3/nvToolsExtMem.h>)
#error "warpheap: nvtx_adaptor needs nvtx3/nvToolsExtMem.h, which the CUDA toolkit has: add its include folder"
#endif

#include <nvtx3/nvToolsExtMem.h>

#include <cstdint>
#include <utility>
#include <warpheap/platform.hpp>
#include <warpheap/pool/adaptors/source.hpp>
#include <warpheap/pool/detail/block_book.hpp>

namespace warpheap {

/// Tells tools which bytes of a pool are in blocks, by the memory extension of NVTX. The memory checker of
/// compute-sanitizer then reports a kernel that touches a byte of the pool which no block has, or one beyond the bytes
/// that a block was asked for; without it the pool is one allocation, in which nothing is wrong. Nsight Systems shows
/// the blocks.
///
/// It goes directly above the pool, so that what other adaptors put beside a block counts as asked for. Where no tool
/// listens, it passes calls on and keeps nothing. Else it costs host memory for each live block, and a call of the tool
/// for each request. A block that it did not hand out is passed on and not told.
///
/// The memory is told by its addresses, so this is for memory of the GPU and for pinned host memory. The CUDA runtime
/// is initialised before. Uses libdl; needs no library of the toolkit.
template <block_source Source>
class nvtx_adaptor {
 public:
  /// Over `source`, which hands out parts of the `bytes` bytes from `begin` on: all of its addresses, also those that
  /// have no memory yet. Tools show `name`.
  nvtx_adaptor(Source& source, const void* begin, std::uint64_t bytes, const char* name = "warpheap pool")
      : source_(source), domain_(nvtxDomainCreateA("warpheap")), heap_(register_range(domain_, begin, bytes, name)) {}
  nvtx_adaptor(const nvtx_adaptor&) = delete;
  nvtx_adaptor& operator=(const nvtx_adaptor&) = delete;
  /// Tools forget the blocks. These stay with the source.
  ~nvtx_adaptor() {
    if (is_heard()) {
      live_.for_each([this](const void* block, std::uint64_t bytes) { forget(block, bytes); });
      nvtxMemHeapUnregister(domain_, heap_);
    }
    if (domain_ != nullptr) nvtxDomainDestroy(domain_);
  }

  /// True if a tool listens.
  bool is_heard() const { return heap_ != nullptr && heap_ != no_tool(); }

  /// Hands out a block of the source, and tells that its first `bytes` bytes are in use. Throws what the source throws.
  void* allocate(std::uint64_t bytes, std::uint64_t alignment = 1) {
    if (!is_heard()) return source_.allocate(bytes, alignment);
    auto entry = book::make();
    void* const block = source_.allocate(bytes, alignment);
    entry.mapped() = bytes;
    const host_lock lock(mutex_);
    if (const auto stale = live_.insert(std::move(entry), block)) forget(block, stale.mapped());
    tell(block, bytes);
    return block;
  }
  /// Tells that the block is in use no more, and gives it back to the source; null is ignored. Throws what the source
  /// throws; if the block is live after that, it is told again.
  void deallocate(void* block) {
    if (!is_heard() || block == nullptr) return source_.deallocate(block);
    auto entry = remove(block);
    pool_detail::give_back(source_, block, [&](bool is_live) {
      if (!entry || !is_live) return;
      const host_lock lock(mutex_);
      tell(block, entry.mapped());
      live_.insert(std::move(entry), block);
    });
  }
  /// Bytes that the source's block takes; 0 if none begins there.
  std::uint64_t block_bytes(const void* block) const { return source_.block_bytes(const_cast<void*>(block)); }

 private:
  using book = pool_detail::block_book<std::uint64_t>;

  // What older headers return where no tool listens; the present one returns null.
  static nvtxMemHeapHandle_t no_tool() { return reinterpret_cast<nvtxMemHeapHandle_t>(std::intptr_t{-1}); }

  static nvtxMemVirtualRangeDesc_t range_of(const void* begin, std::uint64_t bytes) {
    nvtxMemVirtualRangeDesc_t range{};
    range.size = bytes;
    range.ptr = begin;
    return range;
  }
  static nvtxMemHeapHandle_t register_range(nvtxDomainHandle_t domain, const void* begin, std::uint64_t bytes,
                                            const char* name) {
    const nvtxMemVirtualRangeDesc_t range = range_of(begin, bytes);
    nvtxMemHeapDesc_t of{};
    of.extCompatID = NVTX_EXT_COMPATID_MEM;
    of.structSize = sizeof of;
    of.usage = NVTX_MEM_HEAP_USAGE_TYPE_SUB_ALLOCATOR;
    of.type = NVTX_MEM_TYPE_VIRTUAL_ADDRESS;
    of.typeSpecificDescSize = sizeof range;
    of.typeSpecificDesc = &range;
    of.messageType = NVTX_MESSAGE_TYPE_ASCII;
    of.message.ascii = name;
    return nvtxMemHeapRegister(domain, &of);
  }

  // One block in use, or no more. A block of no bytes is never told: nobody may touch it.
  void tell(const void* block, std::uint64_t bytes) const {
    if (bytes == 0) return;
    const nvtxMemVirtualRangeDesc_t range = range_of(block, bytes);
    nvtxMemRegionsRegisterBatch_t of{};
    of.extCompatID = NVTX_EXT_COMPATID_MEM;
    of.structSize = sizeof of;
    of.regionType = NVTX_MEM_TYPE_VIRTUAL_ADDRESS;
    of.heap = heap_;
    of.regionCount = 1;
    of.regionDescElementSize = sizeof range;
    of.regionDescElements = &range;
    nvtxMemRegionsRegister(domain_, &of);
  }
  void forget(const void* block, std::uint64_t bytes) const {
    if (bytes == 0) return;
    nvtxMemRegionRef_t which{};
    which.pointer = block;
    nvtxMemRegionsUnregisterBatch_t of{};
    of.extCompatID = NVTX_EXT_COMPATID_MEM;
    of.structSize = sizeof of;
    of.refType = NVTX_MEM_REGION_REF_TYPE_POINTER;
    of.refCount = 1;
    of.refElementSize = sizeof which;
    of.refElements = &which;
    nvtxMemRegionsUnregister(domain_, &of);
  }
  // Tools forget the block before the source has it, so that they hear of its next use after that.
  typename book::entry remove(const void* block) {
    const host_lock lock(mutex_);
    auto entry = live_.remove(block);
    if (entry) forget(block, entry.mapped());
    return entry;
  }

  Source& source_;
  nvtxDomainHandle_t domain_;
  nvtxMemHeapHandle_t heap_;
  book live_;  // bytes of each block, as asked for
  host_mutex mutex_;
};

}  // namespace warpheap
