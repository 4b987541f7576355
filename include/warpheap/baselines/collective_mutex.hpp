// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/device.hpp>
#include <warpheap/sync.hpp>

namespace warpheap {

/// A lock that a group of threads holds together: one of them takes it, all are in the critical section at once and
/// share the work there, and each leaves when it is done. When the last has left, the next group can enter.
///
/// Inside, the group meets by `sync` and shuffles as it needs; other groups are out. Lanes of one warp can be in
/// different groups; each waits for the holders' leaves only. So a holder must not wait for a thread that may be
/// waiting here, nor for one that has not started. Zero bytes are a free lock.
///
/// Where lanes of one warp are in different groups, a holder goes on beside waiting lanes only by the hardware's
/// independent thread scheduling, since the paper's `acquire` returns with the lock held. A design of this library must
/// not rest on that (`spin_lock::hold` does not), so none uses this lock: it is kept to compare with.
///
/// Invariant: the word is the number of threads that are in and have not left. It rises from 0 only, by the number of
/// threads of one group.
///
/// Memory order: what the threads of a group did before they left happens before what those of the next do inside. It
/// does not order the threads of one group; that is for their own `sync`.
///
/// Gelado & Garland, Throughput-oriented GPU memory allocation, PPoPP 2019, section 4.2.2. The paper's unlock is a
/// barrier and then a store of one thread; here the leaves are counted, so that no thread waits to get out
/// (docs/design/collective_mutex.md).
class collective_mutex {
 public:
  /// Waits until nobody is in, and lets all lanes of `group` in. Collective.
  WARPHEAP_FN void acquire(lane_mask group) {
    if (is_leader(group)) enter(static_cast<std::uint32_t>(group_size(group)));
    sync(group);  // what the leader acquired, all did
  }

  /// Waits until nobody is in, and lets in the lanes that call together on this mutex; returns that group.
  WARPHEAP_FN lane_mask acquire_together() {
    const lane_mask group = warp_request::of(active_group(), this).lanes;
    acquire(group);
    return group;
  }

  /// Waits until nobody is in, and lets in all threads of the block. Each of them calls it at the same place; none may
  /// have exited.
  WARPHEAP_FN void acquire_block() {
    if (thread_index() == 0) enter(block_threads());
    sync_block();
  }

  /// Lets all lanes of `group` in if nobody is; true if it did. Waits for nobody outside the group. Collective.
  WARPHEAP_FN bool try_acquire(lane_mask group) {
    bool entered = false;
    if (is_leader(group)) entered = try_enter(static_cast<std::uint32_t>(group_size(group)));
    sync(group);
    return shuffle(group, entered ? 1u : 0u, leader(group)) != 0;
  }

  /// Leaves. Each thread for itself, from wherever it is.
  WARPHEAP_FN void leave() { leave_as(1); }
  /// All lanes of `group`, a part of those that entered, leave by one addition. Collective.
  WARPHEAP_FN void leave(lane_mask group) {
    sync(group);  // the leader releases what all did
    if (is_leader(group)) leave_as(static_cast<std::uint32_t>(group_size(group)));
  }

  /// Threads that are in. A hint while others enter and leave.
  WARPHEAP_FN std::uint32_t inside() const {
    return atomic_view{const_cast<std::uint32_t&>(inside_)}.load(memory_order::relaxed, thread_scope::device);
  }

 private:
  WARPHEAP_FN bool try_enter(std::uint32_t threads) {
    using enum memory_order;
    using enum thread_scope;
    std::uint32_t nobody = 0;
    // Read before it is changed, so that waiting groups do not slow down the threads that leave. All leaves are
    // read-modify-writes, so the swap acquires each of them by the last.
    return inside() == 0 && atomic_view{inside_}.compare_exchange(nobody, threads, acquire, device);
  }
  WARPHEAP_FN void enter(std::uint32_t threads) {
    for (backoff wait; !try_enter(threads);) wait.pause();
  }
  WARPHEAP_FN void leave_as(std::uint32_t threads) {
    const std::uint32_t before = atomic_view{inside_}.fetch_sub(threads, memory_order::release, thread_scope::device);
    invariant(before >= threads, "collective_mutex: left without being in");
    (void)before;
  }

  std::uint32_t inside_;
};

}  // namespace warpheap
