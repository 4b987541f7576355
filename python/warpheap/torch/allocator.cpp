// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
// PyTorch's allocator of CUDA memory over pools of warpheap. Compiled at first use against the PyTorch that is there,
// for its interface of allocators is another in each version.

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/csrc/cuda/CUDAPluggableAllocator.h>

#include "device_blocks.hpp"
#include "message.hpp"

namespace warpheap_torch {
namespace {

using c10::CachingDeviceAllocator::DeviceStats;
using c10::cuda::CUDACachingAllocator::AllocatorState;
using c10::cuda::CUDACachingAllocator::CheckpointDelta;
using c10::cuda::CUDACachingAllocator::OutOfMemoryObserver;
using c10::cuda::CUDACachingAllocator::SnapshotInfo;
using torch::cuda::CUDAPluggableAllocator::CUDAPluggableAllocator;

wh_pool_statistics figures_of(const pool_functions& functions, wh_pool* pool) {
  wh_pool_statistics figures{};
  figures.struct_bytes = sizeof(figures);
  TORCH_CHECK(functions.statistics_of(pool, &figures) == WH_POOL_OK, sentence("warpheap: ", functions.error()).c_str());
  return figures;
}

/** What PyTorch uses on one device. */
struct device_state {
  device_state(const pool_functions& functions, wh_pool* pool) : blocks(functions, pool) {}

  device_blocks blocks;
  std::atomic<std::uint64_t> retries{0};
  std::mutex mutex;
  // The counts at the last `resetAccumulatedStats`.
  std::uint64_t failures_before = 0;
  block_figures own_before;
  std::uint64_t retries_before = 0;
};

/** A checkpoint that PyTorch keeps. Devices are never ended, so it may outlive everything else. */
struct kept_checkpoint final : AllocatorState {
  kept_checkpoint(device_blocks& of, c10::MempoolId_t name) : blocks(of), taken(of.take_checkpoint(name)) {}
  ~kept_checkpoint() override { blocks.forget(taken); }

  device_blocks& blocks;
  device_blocks::checkpoint taken;
};

class pool_allocator final : public CUDAPluggableAllocator {
 public:
  explicit pool_allocator(const char* library)
      : CUDAPluggableAllocator(
            [this](std::size_t bytes, int device, cudaStream_t stream) {
              return take(bytes, static_cast<c10::DeviceIndex>(device), stream);
            },
            [this](void* block, std::size_t, int, cudaStream_t) { raw_delete(block); }),
        functions_(*new pool_functions(library)) {}

  // --- Blocks ---------------------------------------------------------------------------------------------------

  c10::DataPtr allocate(std::size_t bytes) override {
    const c10::DeviceIndex device = c10::cuda::current_device();
    void* block = take(bytes, device, c10::cuda::getCurrentCUDAStream(device));
    return {block, block, raw_deleter(), c10::Device(c10::DeviceType::CUDA, device)};
  }

  void* raw_alloc(std::size_t bytes) override {
    const c10::DeviceIndex device = c10::cuda::current_device();
    return take(bytes, device, c10::cuda::getCurrentCUDAStream(device));
  }

  void* raw_alloc_with_stream(std::size_t bytes, cudaStream_t stream) override {
    return take(bytes, c10::cuda::current_device(), stream);
  }

  // Destructors call this, so what fails is a warning.
  void raw_delete(void* block) override {
    if (block == nullptr) {
      return;
    }
    device_state* own = owner(block);
    if (own == nullptr) {
      warn(sentence("warpheap: ", block, " is not of its pools, and was not taken back"));
    } else if (const auto status = own->blocks.deallocate(block); status != WH_POOL_OK) {
      warn(sentence("warpheap: a block was not taken back: ",
                    status == WH_POOL_INVALID_ARGUMENT ? "no live block begins there" : functions_.error()));
    }
  }

  void recordStream(const c10::DataPtr& block, c10::cuda::CUDAStream stream) override {
    // Memory of others, as that of another process, has a stream of its own.
    device_state* own = block.get() == nullptr ? nullptr : owner(block.get());
    if (own != nullptr) {
      must(own->blocks.note_use(block.get(), stream.stream()));
    }
  }

  void* getBaseAllocation(void* block, std::size_t* bytes) override {
    device_state* own = owner(block);
    TORCH_CHECK(own != nullptr && own->blocks.has(block),
                sentence("warpheap: no live block begins at ", block).c_str());
    if (bytes != nullptr) {
      *bytes = own->blocks.requested(block);
    }
    return block;
  }

  // --- The whole pool -------------------------------------------------------------------------------------------

  void emptyCache(c10::MempoolId_t name = {0, 0}) override {
    (void)name;  // the free memory of all streams and private pools lies in one pool
    for_each([&](c10::DeviceIndex device, device_state& state) {
      if (!state.blocks.is_routed()) {
        collect(device, state);
        must(functions_.trim(state.blocks.pool(), 0, nullptr));
      }
    });
  }

  void cacheInfo(c10::DeviceIndex device, std::size_t* largest) override {
    // A block can be as large as the memory that the device has free, if the pool has the addresses for it.
    if (largest != nullptr && *largest == 0) {
      const auto figures = figures_of(functions_, state_of(device).blocks.pool());
      const std::size_t addresses = figures.reserved_bytes - figures.committed_bytes;
      *largest = std::min<std::size_t>(getMemoryInfo(device).first, addresses);
    }
  }

  void setMemoryFraction(double fraction, c10::DeviceIndex device) override {
    TORCH_CHECK(fraction >= 0 && fraction <= 1, "warpheap: the fraction of the memory must lie between 0 and 1");
    const auto all = static_cast<double>(getMemoryInfo(device).second);
    must(functions_.limit(state_of(device).blocks.pool(), static_cast<std::uint64_t>(fraction * all)));
  }

  // --- Counts ---------------------------------------------------------------------------------------------------

  DeviceStats getDeviceStats(c10::DeviceIndex device) override {
    device_state& state = state_of(device);
    const auto figures = figures_of(functions_, state.blocks.pool());
    const auto own = state.blocks.figures();
    const std::lock_guard lock(state.mutex);
    const auto put = [](c10::CachingAllocator::StatArray& array, running_sum all, const running_sum& before) {
      auto& sum = array[static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE)];
      sum.current = static_cast<std::int64_t>(all.now);
      sum.peak = static_cast<std::int64_t>(std::max(all.now, all.peak));
      sum.allocated = static_cast<std::int64_t>(all.in - before.in);
      sum.freed = static_cast<std::int64_t>(all.out - before.out);
    };
    const auto& before = state.own_before;
    auto active = own.bytes;
    active.now += figures.deferred_bytes;
    DeviceStats stats{};
    put(stats.allocation, own.blocks, before.blocks);
    put(stats.active, own.blocks, before.blocks);
    put(stats.allocated_bytes, own.bytes, before.bytes);
    put(stats.active_bytes, active, before.bytes);
    put(stats.reserved_bytes, {figures.committed_bytes, figures.peak_committed_bytes}, {});
    put(stats.requested_bytes, own.requested, before.requested);
    // The pool counts the request that was tried again, too.
    const std::uint64_t retries = state.retries - state.retries_before;
    stats.num_ooms = static_cast<std::int64_t>(figures.failures - state.failures_before - retries);
    stats.num_alloc_retries = static_cast<std::int64_t>(retries);
    return stats;
  }

  void resetAccumulatedStats(c10::DeviceIndex device) override {
    device_state& state = state_of(device);
    const auto figures = figures_of(functions_, state.blocks.pool());
    const auto own = state.blocks.figures();
    const std::lock_guard lock(state.mutex);
    state.failures_before = figures.failures;
    state.own_before = own;
    state.retries_before = state.retries;
  }

  void resetPeakStats(c10::DeviceIndex device) override {
    device_state& state = state_of(device);
    must(functions_.reset_peaks(state.blocks.pool()));
    state.blocks.reset_peaks();
  }

  // Blocks that lie one after another for one stream are a segment. Free memory is in none.
  SnapshotInfo snapshot(c10::MempoolId_t name = {0, 0}, bool = true) override {
    SnapshotInfo info{};
    for_each([&](c10::DeviceIndex device, device_state& state) {
      for (const auto& each : state.blocks.entries()) {
        if (name != c10::MempoolId_t{0, 0} && each.pool != name) {
          continue;
        }
        auto* segment = info.segments.empty() ? nullptr : &info.segments.back();
        if (segment == nullptr || segment->device != device || segment->stream != each.stream ||
            segment->owner_private_pool_id != each.pool || segment->address + segment->total_size != each.address) {
          segment = &info.segments.emplace_back();
          segment->device = device;
          segment->address = each.address;
          segment->stream = each.stream;
          segment->is_large = true;
          segment->is_expandable = true;
          segment->owner_private_pool_id = each.pool;
        }
        auto& block = segment->blocks.emplace_back();
        block.size = each.bytes;
        block.requested_size = each.requested;
        block.allocated = block.active = each.live;
        segment->total_size += each.bytes;
        if (each.live) {
          segment->requested_size += each.requested;
          segment->allocated_size += each.bytes;
          segment->active_size += each.bytes;
        }
      }
    });
    return info;
  }

  bool isHistoryEnabled() override { return false; }

  void recordHistory(bool enabled, c10::cuda::CUDACachingAllocator::CreateContextFn, std::size_t,
                     c10::cuda::CUDACachingAllocator::RecordContext, bool, const std::vector<std::string>&) override {
    TORCH_CHECK_NOT_IMPLEMENTED(!enabled, "warpheap: the history of memory is not recorded; memory_snapshot works");
  }

  void attachOutOfMemoryObserver(OutOfMemoryObserver observer) override {
    const std::lock_guard lock(mutex_);
    observers_.push_back(std::move(observer));
  }

  // --- Private pools --------------------------------------------------------------------------------------------

  void beginAllocateToPool(c10::DeviceIndex device, c10::MempoolId_t name,
                           std::function<bool(cudaStream_t)> filter) override {
    must(state_of(device).blocks.begin(
        name, [filter = std::move(filter)](void* stream) { return filter(static_cast<cudaStream_t>(stream)); }));
  }

  void endAllocateToPool(c10::DeviceIndex device, c10::MempoolId_t name) override {
    must(state_of(device).blocks.end(name));
  }

  void releasePool(c10::DeviceIndex device, c10::MempoolId_t name) override {
    TORCH_CHECK(state_of(device).blocks.remove_use(name), "warpheap: a private pool is released that nothing uses");
  }

  int getPoolUseCount(c10::DeviceIndex device, c10::MempoolId_t name) override {
    return static_cast<int>(state_of(device).blocks.uses(name));
  }

  void createOrIncrefPool(c10::DeviceIndex device, c10::MempoolId_t name,
                          std::shared_ptr<CUDAAllocator> allocator) override {
    TORCH_CHECK_NOT_IMPLEMENTED(allocator == nullptr,
                                "warpheap: it takes the place of PyTorch's allocator, so a MemPool has no other one");
    state_of(device).blocks.add_use(name);
  }

  // A MemPool that ends calls this with false.
  void setUseOnOOM(c10::DeviceIndex, c10::MempoolId_t, bool use) override {
    TORCH_CHECK_NOT_IMPLEMENTED(!use, "warpheap: memory of a private pool does not serve others when memory is short");
  }

  void setNoSplit(c10::DeviceIndex, c10::MempoolId_t) override {
    TORCH_CHECK_NOT_IMPLEMENTED(false, "warpheap: a private pool has no segments that could be kept whole");
  }

  bool checkPoolLiveAllocations(c10::DeviceIndex device, c10::MempoolId_t name,
                                const std::unordered_set<void*>& expected) override {
    return state_of(device).blocks.are_live(name, expected);
  }

  std::shared_ptr<AllocatorState> getCheckpointState(c10::DeviceIndex device, c10::MempoolId_t name) override {
    return std::make_shared<kept_checkpoint>(state_of(device).blocks, name);
  }

  CheckpointDelta setCheckpointPoolState(c10::DeviceIndex device, std::shared_ptr<AllocatorState> state) override {
    auto* kept = dynamic_cast<kept_checkpoint*>(state.get());
    device_state& own = state_of(device);
    TORCH_CHECK(kept != nullptr && &kept->blocks == &own.blocks, "warpheap: the checkpoint is of another allocator");
    auto done = own.blocks.restore(kept->taken);
    CheckpointDelta delta;
    delta.ptrs_freed = std::move(done.freed);
    for (void* block : done.live) {
      delta.dataptrs_allocd.emplace_back(block, block, raw_deleter(), c10::Device(c10::DeviceType::CUDA, device));
    }
    return delta;
  }

  // --- Devices --------------------------------------------------------------------------------------------------

  // A copy by devices' numbers works for mapped memory, whether or not the devices read each other's.
  cudaError_t memcpyAsync(void* to, int to_device, const void* from, int from_device, std::size_t bytes,
                          cudaStream_t stream, bool) override {
    return to_device == from_device ? cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream)
                                    : cudaMemcpyPeerAsync(to, to_device, from, from_device, bytes, stream);
  }

  std::string name() override { return "warpheap"; }

 private:
  void* take(std::size_t bytes, c10::DeviceIndex device, cudaStream_t stream) {
    if (bytes == 0) {
      return nullptr;
    }
    device_state& state = state_of(device);
    void* block = nullptr;
    auto status = state.blocks.allocate(bytes, stream, &block);
    if (pool_functions::lacks_memory(status) && collect(device, state)) {
      ++state.retries;
      status = state.blocks.allocate(bytes, stream, &block);
    }
    if (pool_functions::lacks_memory(status)) {
      fail_without_memory(bytes, device, state);
    }
    must(status);
    return block;
  }

  [[noreturn]] void fail_without_memory(std::size_t bytes, c10::DeviceIndex device, device_state& state) {
    const std::string why = functions_.error();
    const auto [free, total] = getMemoryInfo(device);
    const auto figures = figures_of(functions_, state.blocks.pool());
    std::vector<OutOfMemoryObserver> observers;
    {
      const std::lock_guard lock(mutex_);
      observers = observers_;
    }
    for (const auto& observer : observers) {
      observer(device, bytes, total, free);
    }
    TORCH_CHECK_WITH(
        OutOfMemoryError, false,
        sentence("CUDA out of memory. Tried to allocate ", bytes, " bytes on GPU ", static_cast<int>(device),
                 ", which has ", free, " of ", total, " bytes free. warpheap has taken ", figures.committed_bytes,
                 " bytes, of which ", figures.live_bytes, " are allocated: ", why)
            .c_str());
  }

  bool collect(c10::DeviceIndex device, device_state& state) {
    return state.blocks.collect([device] {
      const c10::cuda::CUDAGuard guard(device);
      c10::cuda::device_synchronize();
    });
  }

  void must(wh_pool_status status) const {
    TORCH_CHECK(status == WH_POOL_OK, sentence("warpheap: ", functions_.error()).c_str());
  }

  device_state& state_of(c10::DeviceIndex device) {
    TORCH_CHECK(device >= 0 && static_cast<std::size_t>(device) < states_.size(),
                sentence("warpheap: there is no GPU ", static_cast<int>(device)).c_str());
    auto& slot = states_[static_cast<std::size_t>(device)];
    if (device_state* known = slot.load(std::memory_order_acquire)) {
      return *known;
    }
    const std::lock_guard lock(mutex_);
    if (slot.load(std::memory_order_relaxed) == nullptr) {
      wh_pool* pool = nullptr;
      must(functions_.of_device(device, &pool));
      slot.store(new device_state(functions_, pool), std::memory_order_release);
    }
    return *slot.load(std::memory_order_relaxed);
  }

  device_state* owner(const void* block) {
    for (auto& slot : states_) {
      device_state* state = slot.load(std::memory_order_acquire);
      if (state != nullptr && functions_.owns(state->blocks.pool(), block) != 0) {
        return state;
      }
    }
    return nullptr;
  }

  template <class F>
  void for_each(F function) {
    for (std::size_t device = 0; device < states_.size(); ++device) {
      if (device_state* state = states_[device].load(std::memory_order_acquire)) {
        function(static_cast<c10::DeviceIndex>(device), *state);
      }
    }
  }

  const pool_functions& functions_;  // lives as long as the process, as what uses it does
  std::mutex mutex_;
  std::array<std::atomic<device_state*>, C10_COMPILE_TIME_MAX_GPUS> states_{};  // live as long as the process
  std::vector<OutOfMemoryObserver> observers_;
};

}  // namespace
}  // namespace warpheap_torch

/** Makes pools of the library at `library` PyTorch's allocator of CUDA memory. Returns null, or what went wrong. */
extern "C" __attribute__((visibility("default"))) const char* wh_torch_install(const char* library) {
  static std::string error;
  try {
    auto made = std::make_shared<warpheap_torch::pool_allocator>(library);
    made->init(c10::cuda::device_count());
    torch::cuda::CUDAPluggableAllocator::changeCurrentAllocator(made);
    // Tensors may end after static objects, as that in which PyTorch keeps the allocator.
    new std::shared_ptr<warpheap_torch::pool_allocator>(std::move(made));
    return nullptr;
  } catch (const std::exception& failure) {
    error = failure.what();
    return error.c_str();
  }
}
