// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <warpheap/platform.hpp>
#include <warpheap/pool/engine.hpp>

namespace warpheap::pool_detail {

// Finds a live segment by where it begins: a hash table of chains, which run through the records themselves. A cell is
// the handle of a chain's first record, and there are at least two cells for each live segment, so finding one reads a
// cell, its record, and seldom another.
//
// `Records` is indexed by handle; a record's `next` is the map's as long as the record is in it.
template <class Records>
class block_map {
 public:
  block_map(Records& records, int granule_bits) : records_(records), granule_bits_(granule_bits) { take(first_cells); }

  // Makes the next `count` calls of `insert` succeed. Throws std::bad_alloc and changes nothing.
  void reserve(std::uint64_t count) {
    if (used_ + count > most_) grow(used_ + count);
  }

  void insert(segment_handle handle) {
    put(handle);
    ++used_;
  }

  segment_handle find(std::uint64_t begin) const {
    segment_handle at = cells_[home(begin)];
    while (at != no_segment && records_[at].begin != begin) at = records_[at].next;
    return at;
  }

  void erase(segment_handle handle) {
    segment_handle* link = &cells_[home(records_[handle].begin)];
    while (*link != handle) link = &records_[*link].next;
    *link = records_[handle].next;
    --used_;
  }

  void clear() {
    take(first_cells);
    used_ = 0;
  }

  std::uint64_t bytes() const { return (mask_ + 1) * sizeof(segment_handle); }

 private:
  static constexpr std::uint64_t first_cells = 128;
  static constexpr int line_bits = 4;  // cells of a cache line

  // Neighbouring granules share a cache line of cells, so that small blocks which lie side by side are found together.
  // Where in the line depends on the line's number too: blocks that all begin at multiples of a large power of two are
  // the same granule of their lines, and would use a sixteenth of the cells.
  std::uint64_t home(std::uint64_t begin) const {
    const std::uint64_t granule = begin >> granule_bits_;
    const std::uint64_t mixed = (granule >> line_bits) * std::uint64_t{0x9e3779b97f4a7c15u};
    const std::uint64_t within = (granule + (mixed >> 8)) & ((1u << line_bits) - 1);
    return (mixed >> shift_ << line_bits) | within;
  }

  void put(segment_handle handle) {
    segment_handle& cell = cells_[home(records_[handle].begin)];
    records_[handle].next = cell;
    cell = handle;
  }
  void take(std::uint64_t cells) {
    growing_memory fresh;
    fresh.grow(cells * sizeof(segment_handle));
    memory_.swap(fresh);
    cells_ = reinterpret_cast<segment_handle*>(memory_.data());
    mask_ = cells - 1;
    most_ = cells / 2;
    shift_ = 64 - (highest_bit(cells) - line_bits);
  }
  void grow(std::uint64_t segments) {
    std::uint64_t cells = mask_ + 1;
    while (segments > cells / 2) cells *= 2;
    take(cells);
    for (segment_handle handle = 1; handle < records_.end(); ++handle) {  // in the order of memory
      if (records_[handle].state == segment_state::live) put(handle);
    }
  }

  Records& records_;
  segment_handle* cells_ = nullptr;
  std::uint64_t mask_ = 0;
  std::uint64_t most_ = 0;
  std::uint64_t used_ = 0;
  int shift_ = 0;
  int granule_bits_;
  growing_memory memory_;
};

}  // namespace warpheap::pool_detail
