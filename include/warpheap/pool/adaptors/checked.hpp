// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>
#include <warpheap/platform.hpp>
#include <warpheap/pool/adaptors/source.hpp>
#include <warpheap/pool/detail/block_book.hpp>
#include <warpheap/pool/errors.hpp>

namespace warpheap {

/// How an adaptor reads and writes the memory of blocks.
struct memory_access {
  std::function<void(void* to, unsigned char value, std::uint64_t bytes)> fill;  ///< writes bytes, and returns then
  std::function<void(void* host, const void* block, std::uint64_t bytes)> read;  ///< copies bytes to host memory
};
/// For device, pinned and managed memory. Each call waits for all launches before, and for its own bytes: after a call
/// the block may go to another stream, which waits for no fill, and the source may unmap its memory.
inline memory_access device_access() {
  return {[](void* to, unsigned char value, std::uint64_t bytes) {
            const relaxed_capture_mode mode;
            device_fill_now(to, value, bytes);
          },
          [](void* host, const void* block, std::uint64_t bytes) {
            const relaxed_capture_mode mode;
            device_copy(host, block, bytes);
          }};
}
/// For memory that only the host uses.
inline memory_access host_access() {
  return {[](void* to, unsigned char value, std::uint64_t bytes) { std::memset(to, value, bytes); },
          [](void* host, const void* block, std::uint64_t bytes) { std::memcpy(host, block, bytes); }};
}

/// Finds writes beside blocks, and makes reads of what was never written show: puts a red zone before and after each
/// block, looks at both when it is taken back, and fills blocks with a pattern when they are handed out and another
/// when they are taken back. Frees that do not match are told by the source. To be used while a program is made: it
/// touches the memory and waits for the device.
template <block_source Source>
class checked_adaptor {
 public:
  static constexpr unsigned char fresh = 0xcd;     ///< what a block holds when it is handed out
  static constexpr unsigned char dead = 0xdd;      ///< what it holds when it was taken back
  static constexpr unsigned char red = 0xfd;       ///< what lies beside it
  static constexpr std::uint64_t red_bytes = 256;  ///< how much of that lies before and after, at least

  /// Over `source`, whose memory `access` reads and writes.
  explicit checked_adaptor(Source& source, memory_access access = device_access())
      : source_(source), access_(std::move(access)) {}

  /// Hands out a block of the source, which needs two red zones more. Throws what the source throws.
  void* allocate(std::uint64_t bytes, std::uint64_t alignment = 1) {
    const std::uint64_t zone = std::max(red_bytes, alignment);
    if (bytes > ~std::uint64_t{0} - 2 * zone || zone > std::uint64_t{1} << 62) {
      throw out_of_memory(
          bytes, "warpheap: no memory for a block of " + std::to_string(bytes) + " bytes with red zones beside it");
    }
    auto entry = book::make();
    auto* const all = static_cast<std::byte*>(source_.allocate(bytes + zone + red_bytes, alignment));
    std::byte* const block = all + zone;
    try {
      entry.mapped() = {all, bytes, zone, source_.block_bytes(all)};
      fill_zones(entry.mapped());
      if (bytes != 0) access_.fill(block, fresh, bytes);
    } catch (...) {
      source_.deallocate(all);
      throw;
    }
    const host_lock lock(mutex_);
    live_.insert(std::move(entry), block);
    return block;
  }

  /// Gives the block back to the source; null is ignored. Throws `unknown_block` if no block begins there, and
  /// `damaged_block` if a red zone was written, after the source took the block back. After any other exception, of the
  /// access or of the source, the block is still live and its contents are anything.
  void deallocate(void* block) {
    if (block == nullptr) return;
    auto entry = remove(block);
    if (!entry) {
      throw unknown_block(
          "warpheap: no live block begins at the pointer: it was taken back before, points into a block, or comes from "
          "elsewhere");
    }
    const extent is = entry.mapped();
    const auto restore = [&] {
      const host_lock lock(mutex_);
      live_.insert(std::move(entry), block);
    };
    std::optional<damaged_block> damage;
    try {
      if (const std::string text = find_damage(is); !text.empty()) damage.emplace(text);
      access_.fill(is.all, dead, is.zone + is.bytes + red_bytes);
    } catch (...) {
      restore();
      throw;
    }
    pool_detail::give_back(source_, is.all, [&](bool is_live) {
      if (!is_live) return;
      if (!damage) fill_zones(is);  // as they were, so that the next call finds no damage of ours
      restore();
    });
    if (damage) throw damaged_block(*damage);
  }

  /// Bytes that the block takes of the source, red zones included; 0 if no block begins there. A program may use those
  /// that it asked for.
  std::uint64_t block_bytes(const void* block) const {
    const host_lock lock(mutex_);
    const extent* const known = live_.find(block);
    return known == nullptr ? 0 : known->taken;
  }

 private:
  struct extent {
    std::byte* all = nullptr;
    std::uint64_t bytes = 0;  // that were asked for
    std::uint64_t zone = 0;   // bytes before the block
    std::uint64_t taken = 0;  // of the source
  };
  using book = pool_detail::block_book<extent>;

  typename book::entry remove(const void* block) {
    const host_lock lock(mutex_);
    return live_.remove(block);
  }
  void fill_zones(const extent& is) const {
    access_.fill(is.all, red, is.zone);
    access_.fill(is.all + is.zone + is.bytes, red, red_bytes);
  }

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
    const auto after = static_cast<std::uint64_t>(first_written(block + is.bytes, red_bytes));
    if (after != red_bytes) return which + "the byte " + std::to_string(after) + " after its end was written";
    return {};
  }

  Source& source_;
  memory_access access_;
  book live_;
  mutable host_mutex mutex_;
};

}  // namespace warpheap
