// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

#include "executor/block_storage.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <warpheap/platform/bits.hpp>
#include <warpheap/platform/host/error.hpp>

#include "executor/notes.hpp"

namespace warpheap::executor {
namespace {

std::size_t whole_pages(std::size_t bytes) {
  return static_cast<std::size_t>(align_up(bytes, static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE))));
}

void* map_pages(void* at, std::size_t bytes, int flags) {
  void* const pages = ::mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
  target::system_must(pages != MAP_FAILED, "taking memory for the storage of a block");
  return pages;
}

}  // namespace

block_storage::block_storage(std::size_t bytes) : bytes_(bytes) {
  if (bytes_ == 0) return;
  const std::size_t mapped = whole_pages(bytes_);
  data_ = map_pages(nullptr, mapped, 0);
  notes::poison(static_cast<std::byte*>(data_) + bytes_, mapped - bytes_);
}

block_storage::~block_storage() {
  if (data_ == nullptr) return;
  const std::size_t mapped = whole_pages(bytes_);
  notes::unpoison(data_, mapped);
  ::munmap(data_, mapped);
}

void block_storage::clear() {
  if (data_ == nullptr) return;
  if constexpr (notes::thread_sanitizer) {
    // Fresh pages: a memset would race with the block that had them before.
    map_pages(data_, whole_pages(bytes_), MAP_FIXED);
  } else {
    std::memset(data_, 0, bytes_);
  }
}

}  // namespace warpheap::executor
