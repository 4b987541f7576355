// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <warpheap/platform.hpp>

namespace warpheap {

/// Working memory of one algorithm, in device memory. Its contents mean nothing between calls.
struct work_memory {
  void* data;           ///< aligned to 256 bytes
  std::uint64_t bytes;  ///< what the algorithm asked for
};

/// The place of an array of `T` in scratch memory that a `scratch_plan` lays out.
template <class T>
struct scratch_array {
  std::uint64_t offset = 0;  ///< bytes from the begin of the memory
  std::uint64_t count = 0;   ///< elements
};

/// Lays out arrays side by side, before the memory for them is taken. Each begins at a multiple of 256 bytes.
class scratch_plan {
 public:
  /// Room for `count` elements. Throws `std::length_error` for more than `most_bytes` in all.
  template <class T>
  scratch_array<T> add(std::uint64_t count) {
    const scratch_array<T> made{bytes_, count};
    bytes_ += align_up(require_size(count, sizeof(T), "scratch memory"), 256);
    require_size(bytes_, "scratch memory");
    return made;
  }
  /// Bytes of all arrays.
  std::uint64_t bytes() const { return bytes_; }

 private:
  std::uint64_t bytes_ = 0;
};

/// Device memory that calls use one after another for what they need in passing. It grows by at least half of its size,
/// so that a sequence of growing calls takes memory a few times only, and keeps what it has. Host side only.
class device_scratch {
 public:
  device_scratch() = default;
  device_scratch(device_scratch&& other) noexcept { swap(other); }
  device_scratch& operator=(device_scratch&& other) noexcept {
    swap(other);
    return *this;
  }
  ~device_scratch() { release(); }

  /// Makes room for the arrays of `plan`; their contents are lost if the memory grows. Throws what `device_allocate`
  /// throws; the memory is then as before. Growth waits for the launches before.
  void fit(const scratch_plan& plan) {
    if (plan.bytes() <= bytes_) return;
    const device_context context = device_context::current();
    const std::uint64_t bytes = std::max(plan.bytes(), bytes_ + bytes_ / 2);
    void* const grown = device_allocate(bytes);
    release();
    context_ = context;
    data_ = static_cast<std::byte*>(grown);
    bytes_ = bytes;
  }
  /// Gives all memory back.
  void release() noexcept {
    if (data_ == nullptr) return;
    const scoped_device own{context_, std::nothrow};
    if (own.is_current()) device_release(data_);  // else the memory went with the device
    data_ = nullptr;
    bytes_ = 0;
  }

  /// The first element of an array of the last plan; null for an array of no elements.
  template <class T>
  T* at(scratch_array<T> array) const {
    return array.count == 0 ? nullptr : reinterpret_cast<T*>(data_ + array.offset);
  }
  /// The bytes of an array as memory to work in.
  work_memory work(scratch_array<std::byte> array) const { return {data_ + array.offset, array.count}; }
  /// Bytes taken from the device.
  std::uint64_t bytes() const { return bytes_; }

 private:
  void swap(device_scratch& other) noexcept {
    std::swap(context_, other.context_);
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
  }

  device_context context_;
  std::byte* data_ = nullptr;
  std::uint64_t bytes_ = 0;
};

}  // namespace warpheap
