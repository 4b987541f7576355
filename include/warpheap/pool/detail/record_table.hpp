// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <new>
#include <type_traits>
#include <warpheap/platform.hpp>
#include <warpheap/pool/engine.hpp>

namespace warpheap::pool_detail {

// Records of segments, found by handle, in one array. It grows by doubling, so references to records last only until
// the next `reserve`. Handle 0 is a record too, for a structure that needs a sentinel.
template <class Record>
class record_table {
  static_assert(std::is_trivially_copyable_v<Record> && std::is_trivially_destructible_v<Record>);

 public:
  record_table() { reserve(1); }
  record_table(const record_table&) = delete;
  record_table& operator=(const record_table&) = delete;

  Record& operator[](segment_handle handle) { return records_[handle]; }
  const Record& operator[](segment_handle handle) const { return records_[handle]; }

  // Makes the next `count` calls of `take` succeed. Throws std::bad_alloc and changes nothing.
  void reserve(std::uint32_t count) {
    if (capacity_ < std::uint64_t{top_} + count) grow();
  }

  segment_handle take() {
    segment_handle taken = free_;
    if (taken != no_segment) {
      free_ = records_[taken].link();
    } else {
      taken = top_++;
    }
    records_[taken] = Record{};
    return taken;
  }

  void give_back(segment_handle handle) {
    Record& record = records_[handle];
    record.state = segment_state::unused;
    record.link() = free_;
    free_ = handle;
  }

  // Handles below this one may be in use; those whose state is `unused` are not.
  segment_handle end() const { return top_; }
  std::uint64_t touched_bytes() const { return top_ * sizeof(Record); }

  void clear() {
    top_ = 1;
    free_ = no_segment;
    records_[0] = Record{};
  }

 private:
  void grow() {
    const std::uint64_t larger = capacity_ == 0 ? 64 : 2 * capacity_;
    constexpr std::uint64_t handles = std::uint64_t{1} << 32;
    if (larger > handles) throw std::bad_alloc();
    memory_.grow(larger * sizeof(Record));
    records_ = reinterpret_cast<Record*>(memory_.data());
    if (capacity_ == 0) records_[0] = Record{};
    capacity_ = larger;
  }

  Record* records_ = nullptr;
  std::uint64_t capacity_ = 0;
  segment_handle top_ = 1;
  segment_handle free_ = no_segment;
  growing_memory memory_;
};

}  // namespace warpheap::pool_detail
