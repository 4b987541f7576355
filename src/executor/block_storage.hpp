// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <utility>

namespace warpheap::executor {

/// The storage that the lanes of a block share, in pages of its own.
class block_storage {
 public:
  block_storage() = default;
  /// Throws std::system_error when the system has no more memory.
  explicit block_storage(std::size_t bytes);
  ~block_storage();
  block_storage(block_storage&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  block_storage& operator=(block_storage&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }

  /// Makes all bytes zero for the next block. For ThreadSanitizer they are new memory, which no earlier lane touched.
  void clear();
  void* data() const { return data_; }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace warpheap::executor
