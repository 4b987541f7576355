// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

#include "executor/fences.hpp"

#include <algorithm>

namespace warpheap::executor {
namespace {

std::size_t hash_of(const void* word) {
  return static_cast<std::size_t>(reinterpret_cast<std::uintptr_t>(word) * 0x9e3779b97f4a7c15u >> 40);
}

// How often something was published through the words of a hash.
std::uint32_t& versions_of(std::size_t hash) {
  static std::uint32_t versions[1 << 14];
  return versions[hash % (1 << 14)];
}

}  // namespace

void fence_notes::release() {
  if constexpr (!notes::thread_sanitizer) return;
  if (clock_ == nullptr) {
    clock_ = notes::create_clock();
    strand_ = notes::create_strand();
  }
  notes::release(clock_);
  void* const own = notes::this_strand();
  notes::enter_strand(strand_);
  notes::acquire(clock_);
  notes::enter_strand(own);
  fenced_ = true;
}

void fence_notes::write(void* word, bool releases) {
  if constexpr (!notes::thread_sanitizer) return;
  if (!releases && !fenced_) return;
  // The word gets the time before its version changes, and its version changes before its value does. So a lane that
  // reads the new value finds a new version, and acquires the time.
  if (releases) {
    notes::release(word);
  } else {
    publish(word);
  }
  __atomic_fetch_add(&versions_of(hash_of(word)), 1, __ATOMIC_SEQ_CST);
}

void fence_notes::read(void* word) {
  if constexpr (!notes::thread_sanitizer) return;
  const std::size_t hash = hash_of(word);
  const std::uint32_t version = __atomic_load_n(&versions_of(hash), __ATOMIC_SEQ_CST);
  seen_word& seen = seen_[hash % most_seen];
  if (version == 0 || (seen.word == word && seen.version == version)) return;
  seen = {word, version};
  read_[reads_++ % most_reads] = word;
}

void fence_notes::publish(void* word) {
  void* const own = notes::this_strand();
  notes::enter_strand(strand_);
  notes::release(word);
  notes::enter_strand(own);
}

void fence_notes::acquire() {
  const std::uint64_t kept = std::min<std::uint64_t>(reads_, most_reads);
  for (std::uint64_t i = 0; i < kept; ++i) notes::acquire(read_[i]);
  reads_ = 0;
}

void fence_notes::forget() {
  if (clock_ != nullptr) {
    notes::destroy_strand(strand_);
    notes::destroy_clock(clock_);
  }
  *this = fence_notes{};
}

}  // namespace warpheap::executor
