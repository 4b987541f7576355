// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>
#include <warpheap/designs/kma/size_classes.hpp>
#include <warpheap/platform/device.hpp>

namespace warpheap {

/// An array list of the upper layer of KMA: a sequence of values that grows on the device, with memory from the layer
/// below.
///
/// Values lie in *segments*, which are blocks of the heap. The first has 64 bytes, and each other one about twice as
/// many as the one before: what the classes of `kma` have, so that a segment of up to 4,080 bytes wastes nothing of its
/// block. Values never move, so an index and an address stay valid as long as the list has them.
///
/// A view: the owner provides a `state`, zero bytes of device memory for an empty list. Copies of the view are the same
/// list. Trivially copyable. `Memory` has `void* malloc(std::uint64_t bytes)` and `free(void*)`, as a `heap_ref<kma>`.
///
/// Invariant: indexes below `size` are of pushes that were served, each of one. Every segment with such an index has
/// memory. A segment word is 0, `pending`, or the address of the segment's block, which only `clear` changes. At most
/// one thread has a segment pending: it asks the heap, waits for no thread of the list, and then sets the word to the
/// address, or to 0 if the heap refused.
///
/// Any lanes may push, converged or not, also to different lists. Lanes of a warp that push to one list together are
/// served by one change of the size.
///
/// Memory order: a push writes its value after it has its index. So the thread that pushed a value may read it, and
/// others after they have synchronised with that thread, as by the end of its kernel.
template <class T, class Memory>
class kma_array_list {
  static_assert(std::is_trivially_copyable_v<T>, "kma_array_list: values are copied as bytes");
  static_assert(sizeof(T) <= 64 && alignof(T) <= 16, "kma_array_list: a value fits in the first segment");

 public:
  static constexpr std::uint32_t most_segments = 28;        ///< segments of the longest list; the last has 8 GiB
  static constexpr std::uint64_t none = ~std::uint64_t{0};  ///< no index

  /// What a list keeps outside of the heap.
  struct alignas(128) state {
    std::uint64_t size;                     ///< values
    std::uint64_t segments[most_segments];  ///< words of the segments
  };

  /// The list at `of`, with memory from `memory`.
  WARPHEAP_FN kma_array_list(state* of, const Memory& memory) : state_(of), memory_(memory) {}

  /// Appends `value` and returns its index. Returns `none`, and changes nothing, if at one moment of the call the heap
  /// had no block for the segment that the value needs. Values of lanes that push together have indexes in the order of
  /// the lanes. May wait for a thread that has a segment pending.
  WARPHEAP_FN std::uint64_t push(const T& value) const {
    const lane_mask group = active_group();
    const lane_mask peers = match(group, reinterpret_cast<std::uint64_t>(state_));
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    if (is_leader(peers)) end = claim(static_cast<std::uint64_t>(group_size(peers)), begin);
    sync(group);  // passes on what the leaders acquired: the addresses of segments
    begin = shuffle(group, begin, leader(peers));
    end = shuffle(group, end, leader(peers));
    const std::uint64_t index = begin + static_cast<std::uint64_t>(group_rank(peers));
    if (index >= end) return none;
    (*this)[index] = value;
    return index;
  }

  /// Takes memory for the first `count` values. False if the heap had not enough; what it had is kept for later pushes.
  /// Any lanes. May wait for a thread that has a segment pending.
  WARPHEAP_FN bool reserve(std::uint64_t count) const { return reach(0, count) == count; }

  /// The value at `index`, which is below `size()`.
  WARPHEAP_FN T& operator[](std::uint64_t index) const {
    const spot at = spot_of(index);
    // Relaxed: the caller has an index of this segment, so it has synchronised with the thread that set the address.
    const std::uint64_t address =
        atomic_view{state_->segments[at.segment]}.load(memory_order::relaxed, thread_scope::device);
    return reinterpret_cast<T*>(address)[at.place];
  }

  /// Values of the list. While other threads push, it may count values that are not written yet.
  WARPHEAP_FN std::uint64_t size() const {
    return atomic_view{state_->size}.load(memory_order::relaxed, thread_scope::device);
  }

  /// Gives all segments back; the list is empty. One lane, while no other thread uses the list.
  WARPHEAP_FN void clear() const {
    state_->size = 0;
    for (std::uint64_t& word : state_->segments) {
      if (word != 0) memory_.free(reinterpret_cast<void*>(word));
      word = 0;
    }
  }

  /// Bytes of segment `k`: the classes of `kma` from 64 bytes on, then powers of two.
  WARPHEAP_FN static constexpr std::uint64_t segment_bytes(std::uint32_t k) {
    constexpr std::uint32_t first_class = 2;
    static_assert(kma_classes::bytes(first_class) == 64);
    return k + first_class < kma_classes::count ? kma_classes::bytes(k + first_class) : std::uint64_t{64} << k;
  }

 private:
  static constexpr std::uint64_t pending = 1;  // in a segment word: a thread asks the heap

  // Where a value lies.
  struct spot {
    std::uint32_t segment;
    std::uint64_t place;  // index within the segment
  };
  WARPHEAP_FN static constexpr std::uint64_t capacity(std::uint32_t k) { return segment_bytes(k) / sizeof(T); }
  WARPHEAP_FN static spot spot_of(std::uint64_t index) {
    std::uint32_t k = 0;
    while (k < most_segments && index >= capacity(k)) index -= capacity(k++);
    return {k, index};
  }

  // Takes up to `count` indexes: those from `begin` to below the result. One lane.
  WARPHEAP_FN std::uint64_t claim(std::uint64_t count, std::uint64_t& begin) const {
    const atomic_view size{state_->size};
    begin = size.load(memory_order::relaxed, thread_scope::device);
    for (;;) {  // not a spin: another turn means that another push has taken indexes
      const std::uint64_t end = reach(begin, begin + count);
      // Relaxed: `reach` has acquired the addresses, and a value is written after its index is taken.
      if (end == begin || size.compare_exchange(begin, end, memory_order::relaxed, thread_scope::device)) return end;
    }
  }

  // Sees to it that the segments of all indexes from `begin` to below `end` have memory. Returns the end of those that
  // have. One lane.
  WARPHEAP_FN std::uint64_t reach(std::uint64_t begin, std::uint64_t end) const {
    const spot first = spot_of(begin);
    std::uint64_t have = begin - first.place;  // the begin of a segment
    for (std::uint32_t k = first.segment; have < end; ++k) {
      if (k == most_segments || !provide(k)) return have > begin ? have : begin;
      have += capacity(k);
    }
    return end;
  }

  // True if segment `k` has memory: it had, or gets it here. One lane.
  //
  // The lanes that came together end each turn by a ballot. So a lane that has a segment pending asks the heap and sets
  // the word before any of them pauses, and before any of them leaves and waits at a reconvergence barrier. Lanes in
  // the ballot have no segment pending, so the heap's collectives meet only lanes that ask, too.
  WARPHEAP_FN bool provide(std::uint32_t k) const {
    const atomic_view word{state_->segments[k]};
    // Most segments have memory, and a push that finds one needs no ballot. Acquires the block, as below.
    if (word.load(memory_order::acquire, thread_scope::device) > pending) return true;
    lane_mask together = active_group();
    for (backoff wait;; wait.pause()) {  // for the thread that has the segment pending
      // Acquires the block from the thread that asked for it.
      std::uint64_t seen = word.load(memory_order::acquire, thread_scope::device);
      bool has = seen > pending;
      bool done = has;
      // Relaxed: only the store below passes anything on.
      if (seen == 0 && word.compare_exchange(seen, pending, memory_order::relaxed, thread_scope::device)) {
        wait.end();
        stop_point("kma_array_list.provide.pending");
        const auto address = reinterpret_cast<std::uint64_t>(memory_.malloc(segment_bytes(k)));
        word.store(address, memory_order::release, thread_scope::device);
        done = true;
        has = address != 0;
      }
      together = ballot(together, !done);
      if (done) return has;
    }
  }

  state* state_;
  Memory memory_;
};

}  // namespace warpheap
