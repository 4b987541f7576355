// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <new>
#include <warpheap/floor.hpp>
#include <warpheap/pool/engine.hpp>

namespace warpheap::pool_detail {

// Records of segments, found by handle. They never move, and a chunk is as large as all before it, so that a few
// pointers reach all of them. Handle 0 is a record too, for whoever needs a sentinel.
template <class Record>
class record_table {
 public:
  record_table() { reserve(1); }

  Record& operator[](segment_handle handle) { return *find(handle); }
  const Record& operator[](segment_handle handle) const { return *find(handle); }

  // Makes the next `count` calls of `take` succeed. Throws std::bad_alloc and changes nothing.
  void reserve(std::uint32_t count) {
    if (spare_ >= count) return;
    const std::uint64_t wanted = std::uint64_t{top_} + (count - spare_);
    while (capacity_ < wanted) {
      if (capacity_ >= std::uint64_t{1} << 31) throw std::bad_alloc();
      const std::uint64_t more = capacity_ == 0 ? first_chunk : capacity_;
      // Records are not initialised: untouched pages of a large chunk cost no memory.
      chunks_[chunk_of(static_cast<segment_handle>(capacity_))] = std::make_unique_for_overwrite<Record[]>(more);
      capacity_ += more;
    }
  }

  segment_handle take() {
    segment_handle taken = free_;
    if (taken != no_segment) {
      free_ = (*this)[taken].link();
      --spare_;
    } else {
      taken = top_++;
    }
    (*this)[taken] = Record{};
    return taken;
  }

  void give_back(segment_handle handle) {
    Record& record = (*this)[handle];
    record = Record{};
    record.link() = free_;
    free_ = handle;
    ++spare_;
  }

  // Handles below this one may be in use; those whose state is `unused` are not.
  segment_handle end() const { return top_; }
  std::uint64_t touched_bytes() const { return top_ * sizeof(Record); }

  void clear() {
    top_ = 1;
    free_ = no_segment;
    spare_ = 0;
    (*this)[0] = Record{};
  }

 private:
  static constexpr int first_chunk_bits = 6;
  static constexpr std::uint64_t first_chunk = std::uint64_t{1} << first_chunk_bits;

  static int chunk_of(segment_handle handle) {
    return handle < first_chunk ? 0 : highest_bit(handle) - first_chunk_bits + 1;
  }
  Record* find(segment_handle handle) const {
    const int chunk = chunk_of(handle);
    const segment_handle begin = chunk == 0 ? 0 : segment_handle{1} << (chunk + first_chunk_bits - 1);
    return &chunks_[chunk][handle - begin];
  }

  std::unique_ptr<Record[]> chunks_[32 - first_chunk_bits + 1];
  std::uint64_t capacity_ = 0;
  std::uint32_t top_ = 1;
  segment_handle free_ = no_segment;
  std::uint32_t spare_ = 0;  // records in the list of free ones
};

}  // namespace warpheap::pool_detail
