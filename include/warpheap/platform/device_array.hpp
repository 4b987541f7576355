// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>
#include <warpheap/platform/memory_space.hpp>

namespace warpheap {

/// An array in device memory that host code owns. Kernels take `data()`. The array is of the device that was current
/// when it was made, and its members use that one, whichever is current. Host side only.
template <class T>
class device_array {
  static_assert(std::is_trivially_copyable_v<T>, "device_array: elements are copied to the device bit by bit");

 public:
  /// An array of `size` elements whose bytes are zero. Throws what `device_allocate` throws, and `std::length_error`
  /// for more than `most_bytes`.
  explicit device_array(std::uint64_t size)
      : context_(device_context::current()), size_(size), data_(static_cast<T*>(zeros(bytes()))) {}
  /// An array with the elements of `values`.
  explicit device_array(const std::vector<T>& values) : device_array(values.size()) {
    device_copy(data_, values.data(), size_ * sizeof(T));
  }
  ~device_array() {
    if (data_ == nullptr) return;
    const scoped_device own{context_, std::nothrow};
    if (own.is_current()) device_release(data_);  // else the memory went with the device
  }
  device_array(device_array&& other) noexcept
      : context_(other.context_), size_(std::exchange(other.size_, 0)), data_(std::exchange(other.data_, nullptr)) {}
  device_array& operator=(device_array&& other) noexcept {
    std::swap(context_, other.context_);
    std::swap(size_, other.size_);
    std::swap(data_, other.data_);
    return *this;
  }

  T* data() const { return data_; }             ///< the first element, in device memory
  std::uint64_t size() const { return size_; }  ///< number of elements
  /// Makes all bytes zero.
  void clear() {
    const scoped_device own{context_};
    device_fill(data_, 0, bytes());
  }

  /// A copy of the elements; waits for all launches.
  std::vector<T> to_host() const {
    std::vector<T> values(size_);
    const scoped_device own{context_};
    device_copy(values.data(), data_, size_ * sizeof(T));
    return values;
  }
  /// A copy of one element; waits for all launches.
  T at(std::uint64_t index) const {
    T value;
    const scoped_device own{context_};
    device_copy(&value, data_ + index, sizeof(T));
    return value;
  }

 private:
  std::uint64_t bytes() const { return require_size(size_ == 0 ? 1 : size_, sizeof(T), "a device_array"); }
  static void* zeros(std::uint64_t bytes) {
    void* const memory = device_allocate(bytes);
    try {
      device_fill(memory, 0, bytes);
    } catch (...) {
      device_release(memory);
      throw;
    }
    return memory;
  }

  device_context context_;
  std::uint64_t size_;
  T* data_;
};

}  // namespace warpheap
