// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

namespace warpheap {

/// A pool has no memory for a request. The pool is as before and goes on; `what()` says what it has and what helps.
class out_of_memory : public std::bad_alloc {
 public:
  /// For a request of `bytes` bytes; `message` is what `what` returns.
  out_of_memory(std::uint64_t bytes, std::string message) : bytes_(bytes), message_(std::move(message)) {}
  /// What the pool has, and what helps.
  const char* what() const noexcept override { return message_.c_str(); }
  /// Bytes that were asked for.
  std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  std::uint64_t bytes_;
  std::string message_;
};

/// A pointer at which no block of the pool begins: freed twice, never handed out by it, or not the begin of its block.
/// Nothing has changed.
class unknown_block : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

/// Bytes beside a block were written. The block is taken back all the same.
class damaged_block : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace warpheap
