// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>
#include <warpheap/platform/bits.hpp>
#include <warpheap/platform/size_limit.hpp>

namespace warpheap {

/// Host memory for a table that grows: its bytes begin as zero and are kept when it does, but may move. Not
/// thread-safe.
///
/// A large table asks the system for large pages: one that is read here and there misses the processor's address cache
/// with nearly each access otherwise, which costs more than the memory does. Pages nobody has written take no memory.
class growing_memory {
 public:
  growing_memory() = default;
  growing_memory(growing_memory&& other) noexcept { swap(other); }
  growing_memory& operator=(growing_memory&& other) noexcept {
    swap(other);
    return *this;
  }
  ~growing_memory() { release(data_, bytes_); }
  /// Exchanges the two.
  void swap(growing_memory& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
  }

  /// Makes it at least `bytes` large. Throws `std::bad_alloc` and changes nothing when the system refuses.
  void grow(std::uint64_t bytes) {
    if (bytes <= bytes_) return;
    if (bytes > most_bytes) throw std::bad_alloc();
    if (bytes >= least_mapped) bytes = align_up(bytes, large_page);
    std::byte* const grown = take(bytes);
    if (is_mapped(bytes_)) {
      move_pages(grown);
    } else if (bytes_ != 0) {
      std::memcpy(grown, data_, bytes_);
      std::free(data_);
    }
    data_ = grown;
    bytes_ = bytes;
  }

  std::byte* data() const { return data_; }       ///< its begin; null as long as it is empty
  std::uint64_t bytes() const { return bytes_; }  ///< its size

 private:
  static constexpr std::uint64_t large_page = std::uint64_t{2} << 20;
  // From this size on the part of a large page that is not needed does not count.
  static constexpr std::uint64_t least_mapped = std::uint64_t{8} << 20;
  static bool is_mapped(std::uint64_t bytes) { return bytes >= least_mapped; }

  static std::byte* take(std::uint64_t bytes) {
    if (!is_mapped(bytes)) {
      void* const made = std::calloc(bytes, 1);
      if (made == nullptr) throw std::bad_alloc();
      return static_cast<std::byte*>(made);
    }
    void* const mapped =
        ::mmap(nullptr, bytes + large_page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) throw std::bad_alloc();
    // Only what lies on borders of large pages can have them, and keeps them when it is moved.
    const auto begin = reinterpret_cast<std::uintptr_t>(mapped);
    const std::uintptr_t aligned = align_up(begin, large_page);
    if (aligned != begin) ::munmap(mapped, aligned - begin);
    if (begin + large_page != aligned) ::munmap(reinterpret_cast<void*>(aligned + bytes), begin + large_page - aligned);
    auto* const made = reinterpret_cast<std::byte*>(aligned);
#if defined(MADV_HUGEPAGE)
    ::madvise(made, bytes, MADV_HUGEPAGE);  // a wish: a system that has none is slower, no more
#endif
    return made;
  }
  static void release(std::byte* data, std::uint64_t bytes) noexcept {
    if (is_mapped(bytes)) {
      ::munmap(data, bytes);
    } else {
      std::free(data);
    }
  }
  void move_pages(std::byte* to) noexcept {
#if defined(MREMAP_FIXED)
    if (::mremap(data_, bytes_, bytes_, MREMAP_MAYMOVE | MREMAP_FIXED, to) != MAP_FAILED) return;
#endif
    std::memcpy(to, data_, bytes_);
    ::munmap(data_, bytes_);
  }

  std::byte* data_ = nullptr;
  std::uint64_t bytes_ = 0;
};

}  // namespace warpheap
