// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <new>
#include <utility>
#include <warpheap/pool/adaptors/source.hpp>

namespace warpheap {

/// Calls back when memory is out, so that the program can make room, and tries again as long as it is told to.
template <block_source Source>
class retry_adaptor {
 public:
  /// Gets the bytes that were asked for and how often it was called for this request before; returns whether to try
  /// again. It may use the source, and must not wait for another thread's request.
  using callback = std::function<bool(std::uint64_t bytes, std::uint64_t tries)>;

  /// Over `source`, calling `make_room` when it has no memory.
  retry_adaptor(Source& source, callback make_room) : source_(source), make_room_(std::move(make_room)) {}

  /// As the source's. What it throws is passed on when the callback returns false.
  void* allocate(std::uint64_t bytes, std::uint64_t alignment = 1) {
    for (std::uint64_t tries = 0;; ++tries) {
      try {
        return source_.allocate(bytes, alignment);
      } catch (const std::bad_alloc&) {
        if (!make_room_(bytes, tries)) throw;
      }
    }
  }
  /// As the source's.
  void deallocate(void* block) { source_.deallocate(block); }
  /// As the source's.
  std::uint64_t block_bytes(const void* block) const { return source_.block_bytes(const_cast<void*>(block)); }

 private:
  Source& source_;
  callback make_room_;
};

}  // namespace warpheap
