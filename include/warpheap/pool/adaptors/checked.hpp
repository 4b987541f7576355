// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>
#include <warpheap/platform.hpp>
#include <warpheap/pool/adaptors/source.hpp>
#include <warpheap/pool/errors.hpp>

namespace warpheap {

/// Bytes beside a block were written. The block is taken back all the same.
class damaged_block : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// How an adaptor reads and writes the memory of blocks.
struct memory_access {
  std::function<void(void* to, unsigned char value, std::uint64_t bytes)> fill;  ///< writes bytes
  std::function<void(void* host, const void* block, std::uint64_t bytes)> read;  ///< copies bytes to host memory
};
/// For device, pinned and managed memory. Reading waits for all launches before.
inline memory_access device_access() { return {device_fill, device_copy}; }
/// For memory that only the host uses.
inline memory_access host_access() {
  return {[](void* to, unsigned char value, std::uint64_t bytes) { std::memset(to, value, bytes); },
          [](void* host, const void* block, std::uint64_t bytes) { std::memcpy(host, block, bytes); }};
}

/// Finds writes beside blocks, and makes reads of what was never written show: puts a red zone before and behind each
/// block, looks at both when it is taken back, and fills blocks with a pattern when they are handed out and another when
/// they are taken back. Frees that do not match are told by the source. To be used while a program is made: it touches
/// the memory and waits for the device.
template <block_source Source>
class checked_adaptor {
 public:
  static constexpr unsigned char fresh = 0xcd;     ///< what a block holds when it is handed out
  static constexpr unsigned char dead = 0xdd;      ///< what it holds when it was taken back
  static constexpr unsigned char red = 0xfd;       ///< what lies beside it
  static constexpr std::uint64_t red_bytes = 256;  ///< how much of that lies before and behind, at least

  /// Over `source`, whose memory `access` reads and writes.
  explicit checked_adaptor(Source& source, memory_access access = device_access())
      : source_(source), access_(std::move(access)) {}

  /// As the source's; needs two red zones more.
  void* allocate(std::uint64_t bytes, std::uint64_t alignment = 1) {
    const std::uint64_t zone = std::max(red_bytes, alignment);
    if (bytes > ~std::uint64_t{0} - 2 * zone || zone > std::uint64_t{1} << 62) {
      throw out_of_memory(
          bytes, "warpheap: no memory for a block of " + std::to_string(bytes) + " bytes with red zones beside it");
    }
    const host_lock lock(mutex_);
    auto* const all = static_cast<std::byte*>(source_.allocate(bytes + zone + red_bytes, alignment));
    std::byte* const block = all + zone;
    try {
      access_.fill(all, red, zone);
      if (bytes != 0) access_.fill(block, fresh, bytes);
      access_.fill(block + bytes, red, red_bytes);
      live_[block] = {all, bytes, zone};
    } catch (...) {
      source_.deallocate(all);
      throw;
    }
    return block;
  }

  /// As the source's. Throws `damaged_block` if a red zone was written, after it took the block back.
  void deallocate(void* block) {
    if (block == nullptr) return;
    const host_lock lock(mutex_);
    const auto known = live_.find(block);
    if (known == live_.end()) {
      throw unknown_block(
          "warpheap: no live block begins at the pointer: it was taken back before, points into a block, or comes from "
          "elsewhere");
    }
    const extent is = known->second;
    const std::string damage = find_damage(is);
    access_.fill(is.all, dead, is.zone + is.bytes + red_bytes);
    source_.deallocate(is.all);
    live_.erase(known);
    if (!damage.empty()) throw damaged_block(damage);
  }

  /// Bytes that were asked for; 0 if no block begins there.
  std::uint64_t block_bytes(const void* block) const {
    const host_lock lock(mutex_);
    const auto known = live_.find(const_cast<void*>(block));
    return known == live_.end() ? 0 : known->second.bytes;
  }

 private:
  struct extent {
    std::byte* all;
    std::uint64_t bytes;
    std::uint64_t zone;  // bytes before the block
  };

  std::string find_damage(const extent& is) const {
    const std::byte* const block = is.all + is.zone;
    const auto first_written = [&](const std::byte* begin, std::uint64_t bytes) {
      std::vector<unsigned char> seen(bytes);
      access_.read(seen.data(), begin, bytes);
      return std::find_if(seen.begin(), seen.end(), [](unsigned char each) { return each != red; }) - seen.begin();
    };
    const std::string which = "warpheap: beside a block of " + std::to_string(is.bytes) + " bytes, ";
    const auto before = static_cast<std::uint64_t>(first_written(is.all, is.zone));
    if (before != is.zone) {
      return which + "the byte " + std::to_string(is.zone - before) + " before its begin was written";
    }
    const auto behind = static_cast<std::uint64_t>(first_written(block + is.bytes, red_bytes));
    if (behind != red_bytes) return which + "the byte " + std::to_string(behind) + " behind its end was written";
    return {};
  }

  Source& source_;
  memory_access access_;
  std::unordered_map<void*, extent> live_;
  mutable host_mutex mutex_;
};

}  // namespace warpheap
