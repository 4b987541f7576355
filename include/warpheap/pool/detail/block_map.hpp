// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <warpheap/floor.hpp>
#include <warpheap/pool/engine.hpp>

namespace warpheap::pool_detail {

// Finds the handle of a live segment by where it begins: an open-addressed table with linear probing, at most three
// quarters full. A slot holds the low half of the granule's number beside the handle, so that a search, and the move
// of slots when one is erased, seldom need the record itself.
class block_map {
 public:
  explicit block_map(int granule_bits) : granule_bits_(granule_bits) { take(first_slots); }

  // Makes the next `count` calls of `insert` succeed. Throws std::bad_alloc and changes nothing.
  void reserve(std::uint64_t count) {
    while ((used_ + count) * 4 > (mask_ + 1) * 3) grow();
  }

  void insert(std::uint64_t begin, segment_handle handle) {
    put(key_of(begin), handle);
    ++used_;
  }

  // `is_it(handle)` tells whether the segment begins at `begin`: of two that are 2^32 granules apart only it knows.
  template <class IsIt>
  segment_handle find(std::uint64_t begin, IsIt is_it) const {
    const std::uint32_t key = key_of(begin);
    for (std::uint64_t at = home(key);; at = (at + 1) & mask_) {
      const slot& seen = slots_[at];
      if (seen.handle == no_segment) return no_segment;
      if (seen.key == key && is_it(seen.handle)) return seen.handle;
    }
  }

  void erase(std::uint64_t begin, segment_handle handle) {
    std::uint64_t hole = home(key_of(begin));
    while (slots_[hole].handle != handle) hole = (hole + 1) & mask_;
    // Slots behind move up as long as that brings them no further than home, so no search ends too early.
    for (std::uint64_t at = (hole + 1) & mask_; slots_[at].handle != no_segment; at = (at + 1) & mask_) {
      if (((at - home(slots_[at].key)) & mask_) < ((at - hole) & mask_)) continue;
      slots_[hole] = slots_[at];
      hole = at;
    }
    slots_[hole] = slot{};
    --used_;
  }

  void clear() {
    take(first_slots);
    used_ = 0;
  }

  std::uint64_t bytes() const { return (mask_ + 1) * sizeof(slot); }

 private:
  struct slot {
    std::uint32_t key = 0;
    segment_handle handle = no_segment;
  };
  static constexpr std::uint64_t first_slots = 64;

  struct freer {
    void operator()(slot* slots) const { std::free(slots); }
  };
  using slot_array = std::unique_ptr<slot[], freer>;
  // Bytes of zero are an empty slot, and memory that is zero already need not be written.
  static slot_array empty_slots(std::uint64_t count) {
    slot_array made(static_cast<slot*>(std::calloc(count, sizeof(slot))));
    if (made == nullptr) throw std::bad_alloc();
    return made;
  }

  std::uint32_t key_of(std::uint64_t begin) const { return static_cast<std::uint32_t>(begin >> granule_bits_); }
  // Eight neighbouring granules share a cache line, so that small blocks which lie side by side are found together.
  std::uint64_t home(std::uint32_t key) const {
    const std::uint64_t line = (key >> 3) * std::uint64_t{0x9e3779b97f4a7c15u} >> shift_;
    return ((line << 3) | (key & 7)) & mask_;
  }

  void put(std::uint32_t key, segment_handle handle) {
    std::uint64_t at = home(key);
    while (slots_[at].handle != no_segment) at = (at + 1) & mask_;
    slots_[at] = {key, handle};
  }
  void take(std::uint64_t slots) {
    slots_ = empty_slots(slots);
    mask_ = slots - 1;
    shift_ = 64 - (highest_bit(slots) - 3);
  }
  void grow() {
    const std::uint64_t before = mask_ + 1;
    slot_array old = empty_slots(2 * before);
    old.swap(slots_);
    mask_ = 2 * before - 1;
    --shift_;
    for (std::uint64_t i = 0; i < before; ++i) {
      if (old[i].handle != no_segment) put(old[i].key, old[i].handle);
    }
  }

  slot_array slots_;
  std::uint64_t mask_ = 0;
  std::uint64_t used_ = 0;
  int shift_ = 0;
  int granule_bits_;
};

}  // namespace warpheap::pool_detail
