// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <string>
#include <warpheap/platform/host/detail/failure_point.hpp>
#include <warpheap/platform/host/error.hpp>
#include <warpheap/platform/machine.hpp>
#include <warpheap/platform/memory_place.hpp>
#include <warpheap/platform/schedule.hpp>

namespace warpheap::target {

// Addresses have pages as long as they may be used, so there is nothing to keep.
struct mapping {};

inline std::uint64_t mapping_granularity(memory_place) { return static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)); }

inline std::uint64_t address_limit() {
  constexpr std::uint64_t all = std::uint64_t{1} << 47;
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur > all) return all;
  return limit.rlim_cur;
}

// At a multiple of what a GPU's are multiples of, so that a design which aligns the start of its arena loses as little
// here as there, and the same each time.
inline void* reserve_addresses(std::uint64_t bytes, std::uint64_t) {
  constexpr std::uint64_t alignment = std::uint64_t{2} << 20;
  if (is_to_fail(device_call::reserve)) system_refuses(ENOMEM, "reserving addresses");
  void* const mapped =
      ::mmap(nullptr, bytes + alignment, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  system_must(mapped != MAP_FAILED, "reserving addresses");
  auto* const begin = static_cast<char*>(mapped);
  const std::uint64_t above = -reinterpret_cast<std::uint64_t>(begin) % alignment;
  if (above != 0) ::munmap(begin, above);
  ::munmap(begin + above + bytes, alignment - above);
  return begin + above;
}

inline void release_addresses(void* address, std::uint64_t bytes) noexcept { ::munmap(address, bytes); }

// Memory that is committed in all ranges of the process. The system grants more than it has and ends the process when
// the memory is used, so the limit of a device is kept here: it has as much memory as the computer.
inline std::atomic<std::uint64_t>& committed_memory() {
  static constinit std::atomic<std::uint64_t> bytes{0};
  return bytes;
}

inline mapping map(void* address, std::uint64_t bytes, memory_place) {
  if (is_to_fail(device_call::commit)) system_refuses(ENOMEM, "committing memory");
  const std::uint64_t before = committed_memory().fetch_add(bytes, std::memory_order_relaxed);
  const std::uint64_t limit = executor::memory_bytes();
  const bool fits = bytes <= limit && before <= limit - bytes;
  if (!fits || ::mprotect(address, bytes, PROT_READ | PROT_WRITE) != 0) {
    const int code = fits ? errno : ENOMEM;
    committed_memory().fetch_sub(bytes, std::memory_order_relaxed);
    system_refuses(code, "committing " + std::to_string(bytes) + " bytes of memory beside " + std::to_string(before) +
                             " committed ones, of " + std::to_string(limit));
  }
  return {};
}

inline void unmap(void* address, std::uint64_t bytes, mapping&) noexcept {
  committed_memory().fetch_sub(bytes, std::memory_order_relaxed);
  // A fresh mapping over the old one drops the pages and makes any later access fault.
  ::mmap(address, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

// The host is the only device, and reaches its own memory.
inline void require_peer(int, int peer) {
  if (peer == 0) return;
  throw launch_failure("warpheap: there is no device " + std::to_string(peer) + ": the host backend has device 0");
}
inline void grant_peer(void*, std::uint64_t, int) {}
inline void revoke_peer(void*, std::uint64_t, int) noexcept {}
inline void grant_peer_all(int, int) {}

inline constexpr std::align_val_t allocation_alignment{256};

inline void* device_allocate(std::uint64_t bytes) {
  const bool fits = bytes <= executor::memory_bytes() && !is_to_fail(device_call::allocate);
  void* const memory = fits ? ::operator new(bytes, allocation_alignment, std::nothrow) : nullptr;
  if (memory == nullptr) system_refuses(ENOMEM, "allocating " + std::to_string(bytes) + " bytes of memory");
  return memory;
}
inline void device_release(void* memory) noexcept { ::operator delete(memory, allocation_alignment); }

inline void device_fill(void* destination, unsigned char value, std::uint64_t bytes) {
  std::memset(destination, value, bytes);
}
inline void device_fill_now(void* destination, unsigned char value, std::uint64_t bytes) {
  device_fill(destination, value, bytes);
}
inline void device_copy(void* destination, const void* source, std::uint64_t bytes) {
  // An empty copy may come with null pointers, which memcpy does not take.
  if (bytes != 0) std::memcpy(destination, source, bytes);
}

// Copies the `Word`s from `done` on, as far as they go; returns the bytes that are copied then. ThreadSanitizer is kept
// out: the caller allows for what a race can give.
template <class Word>
[[gnu::noinline, gnu::no_sanitize("thread")]] std::uint64_t snapshot_words(std::byte* to, const std::byte* from,
                                                                           std::uint64_t done, std::uint64_t bytes) {
  for (; bytes - done >= sizeof(Word); done += sizeof(Word)) {
    const Word word = __atomic_load_n(reinterpret_cast<const Word*>(from + done), __ATOMIC_RELAXED);
    std::memcpy(to + done, &word, sizeof(Word));
  }
  return done;
}

inline void device_snapshot(void* destination, const void* source, std::uint64_t bytes) {
  auto* const to = static_cast<std::byte*>(destination);
  const auto* const from = static_cast<const std::byte*>(source);
  const bool aligned = reinterpret_cast<std::uint64_t>(from) % sizeof(std::uint64_t) == 0;
  const std::uint64_t whole = aligned ? snapshot_words<std::uint64_t>(to, from, 0, bytes) : 0;
  snapshot_words<unsigned char>(to, from, whole, bytes);
}

}  // namespace warpheap::target
