// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <support/masks.hpp>
#include <support/random.hpp>
#include <type_traits>
#include <vector>
#include <warpheap/structures.hpp>
#include <warpheap/sync.hpp>

namespace warpheap::test {

struct add_chunks_kernel {
  WARPHEAP_FN void operator()(bit_tree free_chunks, std::uint64_t count) const { free_chunks.add({0, count}); }
};

/// Device memory of some queues of a kind.
template <class Kind>
class queue_memory {
 public:
  // Small chunks make many segments.
  static constexpr std::uint32_t chunk_bytes = 2 * segment_words * sizeof(std::uint32_t);

  /// Room for `room` entries in all queues together.
  queue_memory(std::uint64_t queues, std::uint64_t room)
      : queue_memory(divide_up(room, chunk_bytes / sizeof(std::uint32_t) - segment_words), queues, true) {}
  /// As many chunks, none of which is free.
  explicit queue_memory(std::uint64_t chunks) : queue_memory(chunks, 1, false) {}

  Kind kind() const {
    return Kind{{chunk_segments{arena_.data(), static_cast<std::uint32_t>(highest_bit(chunk_bytes))}, free_chunks()}};
  }
  typename Kind::state* states() const { return states_.data(); }
  std::uint64_t chunks() const { return chunks_; }
  /// More entries than can be in all queues at once.
  std::uint64_t too_many() const { return chunks_ * chunk_bytes / sizeof(std::uint32_t); }
  /// Expects that no queue has kept storage.
  void expect_all_back() const { EXPECT_EQ(free(), chunks_); }
  std::uint64_t free() const {
    std::uint64_t count = 0;
    for (const std::uint64_t each : leaves_.to_host()) count += static_cast<std::uint64_t>(popcount(each));
    return count;
  }

 private:
  queue_memory(std::uint64_t chunks, std::uint64_t queues, bool all_free)
      : chunks_(chunks), states_(queues), arena_(chunks * chunk_bytes), levels_(1), leaves_(chunks / 64 + 1) {
    if (all_free) launch({1, 1}, add_chunks_kernel{}, free_chunks(), chunks);
  }
  bit_tree free_chunks() const {
    return bit_tree{levels_.data(), reinterpret_cast<std::byte*>(leaves_.data()), sizeof(std::uint64_t)};
  }

  std::uint64_t chunks_;
  device_array<typename Kind::state> states_;
  device_array<std::byte> arena_;
  device_array<bit_tree::levels> levels_;
  device_array<std::uint64_t> leaves_;
};

template <>
class queue_memory<static_ring> {
 public:
  /// Room for `room` entries, or a little more, in each queue.
  queue_memory(std::uint64_t queues, std::uint64_t room)
      : size_(size_for(room)), words_(queues * words_of_one()), states_(first_states(queues)) {}
  static_ring kind() const { return static_ring{flat_segments{words_.data()}}; }
  static_ring::state* states() const { return states_.data(); }
  std::uint64_t chunks() const { return 0; }
  std::uint64_t too_many() const { return states_.size() * ring_segments * segment_capacity(size_); }
  void expect_all_back() const {
    const std::vector<std::uint32_t> words = words_.to_host();
    for (std::uint64_t at = 0; at < words.size(); at += std::uint64_t{segment_words} << size_) {
      segment_header header{};
      std::memcpy(&header, &words[at], sizeof(header));
      EXPECT_EQ(header.in_use, 0u) << "segment at word " << at;
    }
  }

 private:
  static constexpr std::uint32_t ring_segments = 4;

  static std::uint32_t size_for(std::uint64_t room) {
    std::uint32_t size = 1;
    while (std::uint64_t{segment_capacity(size)} * ring_segments < room) ++size;
    return size;
  }
  std::uint64_t words_of_one() const { return std::uint64_t{ring_segments} * segment_words << size_; }
  std::vector<static_ring::state> first_states(std::uint64_t queues) const {
    std::vector<static_ring::state> all(queues);
    for (std::uint64_t i = 0; i < queues; ++i) {
      const auto id = static_cast<std::uint32_t>(i * words_of_one() / segment_words);
      all[i].ring = {segment_name{id, size_}.packed(), ring_segments};
    }
    return all;
  }

  std::uint32_t size_;
  device_array<std::uint32_t> words_;
  device_array<static_ring::state> states_;
};

/// What a value went through.
struct value_log {
  std::uint32_t note;     // plain, by its pusher
  std::uint32_t seen;     // how often it came out
  std::uint32_t refused;  // how often there was no room for it
};

/// Expects that each of the first `count` values came out or was refused, once. Returns how many were refused.
inline std::uint64_t expect_each_once(const device_array<value_log>& values) {
  std::uint64_t refused = 0;
  const std::vector<value_log> log = values.to_host();
  for (std::uint64_t i = 0; i < log.size(); ++i) {
    refused += log[i].refused;
    EXPECT_EQ(log[i].seen + log[i].refused, 1u) << "value " << i;
    if (::testing::Test::HasFailure()) break;
  }
  return refused;
}

/// What kernels do with queues.
template <class Kind>
struct queue_user {
  Kind kind;
  typename Kind::state* states;
  spin_lock* locks;  // one for each queue: only one thread at a time adopts
  value_log* values;

  WARPHEAP_FN segment_queue<Kind> queue(std::uint64_t which) const { return {states[which], kind}; }

  WARPHEAP_FN bool push(std::uint64_t which, lane_mask group, std::uint64_t value) const {
    values[value].note = static_cast<std::uint32_t>(mix(value));
    const bool pushed = queue(which).push(group, static_cast<std::uint32_t>(value));
    if (!pushed) atomic_view{values[value].refused}.fetch_add(1, memory_order::relaxed, thread_scope::device);
    return pushed;
  }
  WARPHEAP_FN void read(std::uint64_t which, adopted_segment from) const {
    require(from.count <= segment_capacity(from.segment.size), "more entries than there is room for");
    for (std::uint32_t i = 0; i < from.count; ++i) {
      const std::uint32_t value = kind.segments().entry(from.segment.id, i);
      require(values[value].note == static_cast<std::uint32_t>(mix(value)), "the pusher's note is not to be seen");
      const atomic_view seen{values[value].seen};
      require(seen.fetch_add(1, memory_order::relaxed, thread_scope::device) == 0, "a value came out twice");
    }
    kind.retire(states[which], from.segment.id);
  }
  /// Adopts a segment, with the lock held only for that, and reads it. False if the queue had no segment to adopt.
  WARPHEAP_FN bool take_one(std::uint64_t which) const {
    adopted_segment from{};
    locks[which].hold([&] { from = queue(which).adopt(); });
    if (from.count != 0) read(which, from);
    return from.count != 0;
  }
  /// Reads all that is there, with the lock held.
  WARPHEAP_FN void drain(std::uint64_t which) const {
    locks[which].hold([&] {
      for (;;) {  // not a spin: each turn reads a segment
        const adopted_segment from = queue(which).adopt();
        if (from.count == 0) break;
        read(which, from);
      }
    });
  }
};

template <class Kind>
struct drain_kernel {
  WARPHEAP_FN void operator()(queue_user<Kind> user) const {
    const std::uint64_t which = block_index();
    user.drain(which);
    require(!user.queue(which).has_entries(), "entries in an empty queue");
    const segment_queue<Kind> queue = user.queue(which);
    const bool keeps = queue.chunks() != 0;
    require(queue.size() == 0 && queue.trim() == keeps, "it counts what is not there");
    require(queue.chunks() == 0 && !queue.trim(), "a reserve that was given back");
  }
};

}  // namespace warpheap::test
