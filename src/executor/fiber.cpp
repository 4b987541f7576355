// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

#include "executor/fiber.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <mutex>
#include <new>
#include <system_error>

#include "executor/notes.hpp"

namespace warpheap::executor {
namespace {

// Sanitizers put red zones into frames, and print their reports on the stack of the lane that they caught.
constexpr std::size_t stack_bytes = (notes::address_sanitizer || notes::thread_sanitizer ? 256 : 64) << 10;

// Stacks begin at different offsets in their pages. Else the frames of all lanes would fall into the same few sets of
// the processor's first cache, and each switch would miss it.
std::size_t next_offset() {
  constexpr std::uint64_t offsets = 16;
  constexpr std::size_t step = 4096 / offsets;
  static published made;
  return static_cast<std::size_t>(made.take_next() % offsets) * step;
}

fiber& make_fiber() {
  const auto guard = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t bytes = guard + stack_bytes;
  void* mapping =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (mapping == MAP_FAILED || ::mprotect(mapping, guard, PROT_NONE) != 0) {
    const int code = errno;
    if (mapping != MAP_FAILED) ::munmap(mapping, bytes);
    throw std::system_error(code, std::generic_category(),
                            "no stack for one more lane: make schedule::resident_lanes or the block smaller");
  }
  const std::size_t used = sizeof(fiber) + next_offset();
  auto* made = new (static_cast<std::byte*>(mapping) + bytes - used) fiber;
  made->mapping = mapping;
  made->mapping_bytes = bytes;
  made->state.bottom = static_cast<std::byte*>(mapping) + guard;
  made->state.bytes = stack_bytes - used;
  made->state.strand = notes::create_strand();
  return *made;
}

}  // namespace

static_assert(stack_bytes % alignof(fiber) == 0 && sizeof(fiber) % alignof(fiber) == 0);

void fiber::start(void (*function)(void*), void* argument) {
  prepare(state, const_cast<void*>(state.bottom), state.bytes, function, argument);
}

fiber* fiber_pool::pop(std::uint64_t launch) {
  const std::lock_guard guard(lock_);
  fiber* found = first_;
  if constexpr (notes::thread_sanitizer) {
    if (found != nullptr && found->last_launch == launch && fibers_ < most_strands) found = nullptr;
  }
  if (found == nullptr) return nullptr;
  first_ = found->next;
  if (first_ == nullptr) last_ = nullptr;
  return found;
}

fiber& fiber_pool::take(std::uint64_t launch) {
  fiber* found = pop(launch);
  if (found == nullptr) {
    found = &make_fiber();
    const std::lock_guard guard(lock_);
    ++fibers_;
  }
  found->last_launch = launch;
  found->fences.begin_lane();
  return *found;
}

void fiber_pool::give(fiber& idle) {
  // The last frame of the lane never returned.
  notes::unpoison(const_cast<void*>(idle.state.bottom), idle.state.bytes);
  const std::lock_guard guard(lock_);
  if (first_ == nullptr) {
    idle.next = nullptr;
    first_ = last_ = &idle;
  } else if (notes::thread_sanitizer) {
    idle.next = nullptr;
    last_->next = &idle;
    last_ = &idle;
  } else {
    idle.next = first_;  // its stack is still in the cache
    first_ = &idle;
  }
}

void fiber_pool::discard(fiber& abandoned) {
  notes::destroy_strand(abandoned.state.strand);
  abandoned.fences.forget();
  notes::unpoison(const_cast<void*>(abandoned.state.bottom), abandoned.state.bytes);
  ::munmap(abandoned.mapping, abandoned.mapping_bytes);
  const std::lock_guard guard(lock_);
  --fibers_;
}

fiber_pool& fibers() {
  static auto* const pool = new fiber_pool;
  return *pool;
}

}  // namespace warpheap::executor
