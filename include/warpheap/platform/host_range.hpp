// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <warpheap/platform/bits.hpp>
#include <warpheap/platform/size_limit.hpp>

namespace warpheap {

/// A range of host addresses, reserved once, of which parts have memory: the host's twin of `device_range`,
/// on both backends. Kernels cannot use it. Not thread-safe.
///
/// Members promise what those of `device_range` do, in units of the system's page. They keep no list of what is
/// committed; the caller knows.
class host_range {
 public:
  host_range() = default;
  /// Reserves `bytes`, rounded up to pages. Throws `std::system_error` when the system refuses, and `std::length_error`
  /// for more than `most_bytes`.
  explicit host_range(std::uint64_t bytes) : reserved_(align_up(require_size(bytes, "a host range"), page_bytes())) {
    if (reserved_ == 0) return;
    void* const mapped = ::mmap(nullptr, reserved_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) fail("warpheap: reserving host addresses");
    data_ = static_cast<std::byte*>(mapped);
  }
  ~host_range() {
    if (data_ != nullptr) ::munmap(data_, reserved_);
  }
  host_range(host_range&& other) noexcept { swap(other); }
  host_range& operator=(host_range&& other) noexcept {
    swap(other);
    return *this;
  }
  /// Exchanges the two ranges.
  void swap(host_range& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(reserved_, other.reserved_);
  }

  /// Gives memory to the pages that touch `[offset, offset + bytes)`; those that have it keep it, with their
  /// contents. Throws `std::out_of_range` past the range and `std::system_error` when the system refuses.
  void commit(std::uint64_t offset, std::uint64_t bytes) {
    require_inside(offset, bytes);
    const std::uint64_t begin = align_down(offset, page_bytes());
    if (bytes != 0 && ::mprotect(data_ + begin, offset + bytes - begin, PROT_READ | PROT_WRITE) != 0) {
      fail("warpheap: committing host memory");
    }
  }
  /// Gives back the memory of the pages that lie within `[offset, offset + bytes)`.
  void decommit(std::uint64_t offset, std::uint64_t bytes) {
    require_inside(offset, bytes);
    const std::uint64_t begin = align_up(offset, page_bytes());
    const std::uint64_t end = align_down(offset + bytes, page_bytes());
    if (begin >= end) return;
    // A fresh mapping over the old one drops the pages and makes any later access fault.
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
    if (::mmap(data_ + begin, end - begin, PROT_NONE, flags, -1, 0) == MAP_FAILED) {
      fail("warpheap: giving host memory back");
    }
  }

  std::byte* data() const { return data_; }                   ///< start of the range, aligned to a page
  std::uint64_t reserved_bytes() const { return reserved_; }  ///< size of the range
  /// The unit of commit and decommit.
  static std::uint64_t page_bytes() { return static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)); }

 private:
  [[noreturn]] static void fail(const char* doing) { throw std::system_error(errno, std::generic_category(), doing); }
  void require_inside(std::uint64_t offset, std::uint64_t bytes) const {
    if (offset > reserved_ || bytes > reserved_ - offset) {
      throw std::out_of_range("warpheap: the part lies outside the reserved host range: reserve more when it is made");
    }
  }

  std::byte* data_ = nullptr;
  std::uint64_t reserved_ = 0;
};

}  // namespace warpheap
