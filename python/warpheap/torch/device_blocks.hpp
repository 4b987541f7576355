// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "block_figures.hpp"
#include "pool_functions.hpp"

namespace warpheap_torch {

/** Name of a private pool, as PyTorch numbers them; {0, 0} is the common memory. */
using pool_name = std::pair<unsigned long long, unsigned long long>;

/** Blocks of a pool as PyTorch knows them: who has which, and what private pools and their checkpoints keep.
 *
 * A checkpoint keeps the places of the blocks that live when it is taken. Such a block is not given back to the pool as
 * long as the checkpoint is there: it is *held*, and the same private pool may hand it out again. So a checkpoint can
 * be restored at any time.
 *
 * This file knows nothing of PyTorch, so that it can be tested without a GPU. All functions can be called by any
 * thread; none holds the lock while it calls the pool. */
class device_blocks {
 public:
  /** A block as a snapshot lists it. */
  struct entry {
    std::uintptr_t address;
    std::size_t bytes;      ///< size of the block, rounding included
    std::size_t requested;  ///< bytes that were asked for
    void* stream;
    pool_name pool;
    bool live;  ///< false: held for a checkpoint
  };

  /** What was live when a checkpoint was taken. */
  struct checkpoint {
    pool_name pool;
    std::vector<std::pair<void*, std::size_t>> live;  ///< blocks, and the bytes that were asked for
  };

  /** What restoring a checkpoint did; an address may be in both lists. */
  struct difference {
    std::vector<void*> freed;
    std::vector<void*> live;
  };

  /** `pool` and `functions` live as long as this. */
  device_blocks(const pool_functions& functions, wh_pool* pool) : functions_(functions), pool_(pool) {}

  [[nodiscard]] wh_pool* pool() const { return pool_; }

  /** Sets `*block` to a block of at least `bytes` bytes, more than 0, for work on `stream`. */
  wh_pool_status allocate(std::size_t bytes, void* stream, void** block) {
    const pool_name name = pool_of(stream);
    if (name != common) {
      if (void* again = take_held(name, bytes, stream)) {
        *block = again;
        return WH_POOL_OK;
      }
    }
    const wh_pool_status status = functions_.allocate(pool_, bytes, 0, stream, block);
    if (status != WH_POOL_OK) {
      return status;
    }
    const std::lock_guard lock(mutex_);
    blocks_[*block] = {bytes, rounded(bytes), stream, name};
    if (name != common) {
      private_pools_[name].blocks.insert(*block);
    }
    figures_.add(bytes, rounded(bytes));
    return WH_POOL_OK;
  }

  /** True if this is a block that was handed out and not taken back. */
  bool has(void* block) {
    const std::lock_guard lock(mutex_);
    const auto found = blocks_.find(block);
    return found != blocks_.end() && found->second.live;
  }

  /** Bytes that were asked for in a live block; 0 for any other address. */
  std::size_t requested(void* block) {
    const std::lock_guard lock(mutex_);
    const auto found = blocks_.find(block);
    return found != blocks_.end() && found->second.live ? found->second.requested : 0;
  }

  /** Takes back a live block, after the work that its stream was given so far. */
  wh_pool_status deallocate(void* block) {
    void* stream = nullptr;
    {
      const std::lock_guard lock(mutex_);
      const auto found = blocks_.find(block);
      if (found == blocks_.end() || !found->second.live) {
        return WH_POOL_INVALID_ARGUMENT;
      }
      stream = found->second.stream;
      if (!end_use(found)) {
        return WH_POOL_OK;
      }
    }
    return functions_.deallocate(pool_, block, stream);
  }

  /** Notes that work of `stream` uses a block; a block that is not live, and its own stream, are ignored. */
  wh_pool_status note_use(void* block, void* stream) {
    {
      const std::lock_guard lock(mutex_);
      const auto found = blocks_.find(block);
      if (found == blocks_.end() || !found->second.live || found->second.stream == stream) {
        return WH_POOL_OK;
      }
      found->second.noted = true;
    }
    return functions_.note_use(pool_, block, stream);
  }

  /** Blocks for streams of which `belongs` is true come from the private pool `name` from now on. */
  wh_pool_status begin(pool_name name, std::function<bool(void*)> belongs) {
    auto route = std::make_shared<route_to_pool>(route_to_pool{name, std::move(belongs)});
    const wh_pool_status status = functions_.begin_capture(
        pool_, name.first, name.second, nullptr,
        [](void* param, void* stream) { return static_cast<route_to_pool*>(param)->belongs(stream) ? 1 : 0; },
        route.get());
    if (status == WH_POOL_OK) {
      const std::lock_guard lock(mutex_);
      routes_.push_back(std::move(route));
      routes_open_ = routes_.size();
      ++private_pools_[name].uses;
      ++private_pools_[name].begun;
    }
    return status;
  }

  /** Ends what `begin` began. */
  wh_pool_status end(pool_name name) {
    const wh_pool_status status = functions_.end_capture(pool_, name.first, name.second);
    if (status == WH_POOL_OK) {
      const std::lock_guard lock(mutex_);
      std::erase_if(routes_, [&](const auto& route) { return route->name == name; });
      routes_open_ = routes_.size();
    }
    return status;
  }

  /** Counts one more use of a private pool, and makes it if it is unknown. */
  void add_use(pool_name name) {
    const std::lock_guard lock(mutex_);
    ++private_pools_[name].uses;
  }

  /** Counts one use less. Without uses the memory of the private pool waits for `collect`. False for an unknown one. */
  bool remove_use(pool_name name) {
    const std::lock_guard lock(mutex_);
    const auto found = private_pools_.find(name);
    if (found == private_pools_.end() || found->second.uses == 0) {
      return false;
    }
    --found->second.uses;
    return true;
  }

  /** Number of uses of a private pool; 0 for an unknown one. */
  std::size_t uses(pool_name name) {
    const std::lock_guard lock(mutex_);
    const auto found = private_pools_.find(name);
    return found == private_pools_.end() ? 0 : found->second.uses;
  }

  /** Gives the memory of private pools without uses to all streams. `wait` waits for all work of the device: graphs may
   * still run, and PyTorch does not say on which stream. Does nothing while a private pool is being allocated to, when
   * a stream may be captured and waiting is an error. True if there was a pool to give. */
  bool collect(const std::function<void()>& wait) {
    std::vector<std::pair<pool_name, std::size_t>> unused;
    {
      const std::lock_guard lock(mutex_);
      if (!routes_.empty()) {
        return false;
      }
      for (const auto& [name, each] : private_pools_) {
        if (each.uses == 0 && each.begun != 0) {
          unused.emplace_back(name, each.begun);
        }
      }
    }
    if (unused.empty()) {
      return false;
    }
    wait();
    for (const auto& [name, begun] : unused) {
      std::size_t released = 0;
      while (released < begun && functions_.release_capture(pool_, name.first, name.second, nullptr) == WH_POOL_OK) {
        ++released;
      }
      const std::lock_guard lock(mutex_);
      auto& each = private_pools_[name];
      each.begun -= released;
      if (each.begun == 0 && each.uses == 0 && each.blocks.empty()) {
        private_pools_.erase(name);
      }
    }
    return true;
  }

  /** True while a private pool is being allocated to. */
  [[nodiscard]] bool is_routed() const { return routes_open_ != 0; }

  /** True if the live blocks of a private pool are exactly these. */
  bool are_live(pool_name name, const std::unordered_set<void*>& expected) {
    const std::lock_guard lock(mutex_);
    const auto live = live_blocks(name);
    return live.size() == expected.size() &&
           std::all_of(live.begin(), live.end(), [&](void* block) { return expected.count(block) != 0; });
  }

  /** Keeps what is live in a private pool, until `forget`. */
  checkpoint take_checkpoint(pool_name name) {
    const std::lock_guard lock(mutex_);
    checkpoint taken{name, {}};
    for (void* block : live_blocks(name)) {
      auto& each = blocks_.at(block);
      ++each.checkpoints;
      taken.live.emplace_back(block, each.requested);
    }
    return taken;
  }

  /** Makes exactly the blocks of a checkpoint live in its private pool. */
  difference restore(const checkpoint& taken) {
    difference done;
    std::vector<std::pair<void*, void*>> given_back;
    {
      const std::lock_guard lock(mutex_);
      done.freed = live_blocks(taken.pool);
      for (void* block : done.freed) {
        const auto found = blocks_.find(block);
        void* stream = found->second.stream;
        if (end_use(found)) {
          given_back.emplace_back(block, stream);
        }
      }
      for (const auto& [block, bytes] : taken.live) {
        auto& each = blocks_.at(block);
        begin_use(block, each, bytes);
        done.live.push_back(block);
      }
    }
    for (const auto& [block, stream] : given_back) {
      functions_.deallocate(pool_, block, stream);
    }
    return done;
  }

  /** Ends a checkpoint; blocks that it alone held go back to the pool. */
  void forget(const checkpoint& taken) {
    std::vector<std::pair<void*, void*>> given_back;
    {
      const std::lock_guard lock(mutex_);
      for (const auto& [block, bytes] : taken.live) {
        const auto found = blocks_.find(block);
        if (--found->second.checkpoints == 0 && !found->second.live) {
          given_back.emplace_back(block, found->second.stream);
          remove_held(block, found->second);
          private_pools_[found->second.pool].blocks.erase(block);
          blocks_.erase(found);
        }
      }
    }
    for (const auto& [block, stream] : given_back) {
      functions_.deallocate(pool_, block, stream);
    }
  }

  /** All blocks, in the order of their addresses. */
  std::vector<entry> entries() {
    std::vector<entry> found;
    {
      const std::lock_guard lock(mutex_);
      found.reserve(blocks_.size());
      for (const auto& [address, each] : blocks_) {
        found.push_back(
            {reinterpret_cast<std::uintptr_t>(address), each.bytes, each.requested, each.stream, each.pool, each.live});
      }
    }
    std::sort(found.begin(), found.end(), [](const entry& a, const entry& b) { return a.address < b.address; });
    return found;
  }

  block_figures figures() {
    const std::lock_guard lock(mutex_);
    return figures_;
  }

  /** Makes each peak what its sum is now. */
  void reset_peaks() {
    const std::lock_guard lock(mutex_);
    figures_.reset_peaks();
  }

 private:
  static constexpr pool_name common{0, 0};

  struct block {
    std::size_t requested = 0;
    std::size_t bytes = 0;
    void* stream = nullptr;
    pool_name pool;
    std::size_t checkpoints = 0;  // that keep it
    bool live = true;
    bool noted = false;  // other streams use it, so that only the pool knows when it is free
  };
  using block_map = std::unordered_map<void*, block>;

  struct private_pool {
    std::size_t uses = 0;
    std::size_t begun = 0;  // captures of the pool that are to be released
    std::unordered_set<void*> blocks;
    std::multimap<std::size_t, void*> held;  // by size
  };

  struct route_to_pool {
    pool_name name;
    std::function<bool(void*)> belongs;
  };

  static std::size_t rounded(std::size_t bytes) { return (bytes + 255) / 256 * 256; }

  pool_name pool_of(void* stream) {
    if (routes_open_ == 0) {
      return common;
    }
    const std::lock_guard lock(mutex_);
    for (const auto& route : routes_) {
      if (route->belongs(stream)) {
        return route->name;
      }
    }
    return common;
  }

  // A block for more than half of itself: what is larger stays for what needs it.
  void* take_held(pool_name name, std::size_t bytes, void* stream) {
    const std::lock_guard lock(mutex_);
    auto& held = private_pools_[name].held;
    for (auto at = held.lower_bound(bytes); at != held.end() && at->first < 2 * rounded(bytes); ++at) {
      void* found = at->second;
      auto& each = blocks_.at(found);
      if (each.stream == stream && !each.noted) {
        begin_use(found, each, bytes);
        return found;
      }
    }
    return nullptr;
  }

  std::vector<void*> live_blocks(pool_name name) {
    std::vector<void*> live;
    const auto found = private_pools_.find(name);
    if (found != private_pools_.end()) {
      for (void* block : found->second.blocks) {
        if (blocks_.at(block).live) {
          live.push_back(block);
        }
      }
    }
    return live;
  }

  void begin_use(void* block, struct block& each, std::size_t bytes) {
    remove_held(block, each);
    each.live = true;
    each.requested = bytes;
    figures_.add(bytes, each.bytes);
  }

  // True if the block is to be given back; else a checkpoint holds it.
  bool end_use(block_map::iterator found) {
    auto& each = found->second;
    figures_.take(each.requested, each.bytes);
    if (each.checkpoints != 0) {
      each.live = false;
      private_pools_[each.pool].held.emplace(each.bytes, found->first);
      figures_.hold(each.bytes);
      return false;
    }
    if (each.pool != common) {
      private_pools_[each.pool].blocks.erase(found->first);
    }
    blocks_.erase(found);
    return true;
  }

  void remove_held(void* block, const struct block& each) {
    auto& held = private_pools_[each.pool].held;
    const auto [first, last] = held.equal_range(each.bytes);
    held.erase(std::find_if(first, last, [&](const auto& one) { return one.second == block; }));
    figures_.let_go(each.bytes);
  }

  const pool_functions& functions_;
  wh_pool* pool_;
  std::mutex mutex_;
  block_map blocks_;
  std::map<pool_name, private_pool> private_pools_;
  std::vector<std::shared_ptr<route_to_pool>> routes_;
  std::atomic<std::size_t> routes_open_{0};  // without the lock: most calls find no route
  block_figures figures_;
};

}  // namespace warpheap_torch
