// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>
#include <warpheap/platform/memory_space.hpp>

namespace warpheap {

/// An array in device memory that host code owns. Kernels take `data()`. Host side only.
template <class T>
class device_array {
  static_assert(std::is_trivially_copyable_v<T>, "device_array: elements are copied to the device bit by bit");

 public:
  /// An array of `size` elements whose bytes are zero.
  explicit device_array(std::uint64_t size) : size_(size), data_(static_cast<T*>(device_allocate(bytes()))) { clear(); }
  /// An array with the elements of `values`.
  explicit device_array(const std::vector<T>& values) : device_array(values.size()) {
    device_copy(data_, values.data(), size_ * sizeof(T));
  }
  ~device_array() { device_release(data_); }
  device_array(device_array&& other) noexcept
      : size_(std::exchange(other.size_, 0)), data_(std::exchange(other.data_, nullptr)) {}
  device_array& operator=(device_array&& other) noexcept {
    std::swap(size_, other.size_);
    std::swap(data_, other.data_);
    return *this;
  }

  T* data() const { return data_; }                 ///< the first element, in device memory
  std::uint64_t size() const { return size_; }      ///< number of elements
  void clear() { device_fill(data_, 0, bytes()); }  ///< makes all bytes zero

  /// A copy of the elements; waits for all launches.
  std::vector<T> to_host() const {
    std::vector<T> values(size_);
    device_copy(values.data(), data_, size_ * sizeof(T));
    return values;
  }
  /// A copy of one element; waits for all launches.
  T at(std::uint64_t index) const {
    T value;
    device_copy(&value, data_ + index, sizeof(T));
    return value;
  }

 private:
  std::uint64_t bytes() const { return (size_ == 0 ? 1 : size_) * sizeof(T); }

  std::uint64_t size_;
  T* data_;
};

}  // namespace warpheap
