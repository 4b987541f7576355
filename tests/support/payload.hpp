// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <support/random.hpp>
#include <warpheap/platform.hpp>

namespace warpheap::test {

/// Contents that tell whose they are: what block `address` of `bytes` bytes with `owner` must hold.
///
/// A block that was handed out twice, moved by a wrong distance or cut short fails the check of at least one owner.
class payload {
 public:
  WARPHEAP_FN payload(void* address, std::uint64_t bytes, std::uint64_t owner)
      : data_(static_cast<unsigned char*>(address)),
        bytes_(bytes),
        key_(mix(reinterpret_cast<std::uint64_t>(address)) ^ mix(bytes + 1) ^ mix(~owner)) {}

  /// Writes the head, the middle and the tail, or all of a short block.
  WARPHEAP_FN void write() const {
    for_each_part([this](std::uint64_t from, std::uint64_t to) {
      write(from, to);
      return true;
    });
  }
  /// True if what `write` wrote is there.
  WARPHEAP_FN bool intact() const {
    return for_each_part([this](std::uint64_t from, std::uint64_t to) { return intact(from, to); });
  }

  /// Writes every byte.
  WARPHEAP_FN void write_all() const { write(0, bytes_); }
  /// True if the first `bytes` bytes are as `write_all` wrote them.
  WARPHEAP_FN bool all_intact() const { return intact(0, bytes_); }

  /// The byte at `index`.
  WARPHEAP_FN unsigned char expected(std::uint64_t index) const {
    return static_cast<unsigned char>((key_ >> (index % 8 * 8)) + index / 8 * 37);
  }

 private:
  static constexpr std::uint64_t part_bytes = 64;

  WARPHEAP_FN void write(std::uint64_t from, std::uint64_t to) const {
    for (std::uint64_t i = from; i < to; ++i) data_[i] = expected(i);
  }
  WARPHEAP_FN bool intact(std::uint64_t from, std::uint64_t to) const {
    for (std::uint64_t i = from; i < to; ++i) {
      if (data_[i] != expected(i)) return false;
    }
    return true;
  }
  template <class Visitor>
  WARPHEAP_FN bool for_each_part(Visitor visit) const {
    if (bytes_ <= 3 * part_bytes) return visit(0, bytes_);
    const std::uint64_t middle = bytes_ / 2 - part_bytes / 2;
    return visit(0, part_bytes) && visit(middle, middle + part_bytes) && visit(bytes_ - part_bytes, bytes_);
  }

  unsigned char* data_;
  std::uint64_t bytes_;
  std::uint64_t key_;
};

}  // namespace warpheap::test
