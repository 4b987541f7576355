// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

#include "executor/fences.hpp"

#include <algorithm>
#include <mutex>

namespace warpheap::executor {
namespace {

constexpr std::size_t hashes = 1 << 14;
constexpr std::uint32_t most_strands = 64;

std::size_t hash_of(const void* word) {
  return static_cast<std::size_t>(reinterpret_cast<std::uintptr_t>(word) * 0x9e3779b97f4a7c15u >> 40);
}

// What was published through the words of a hash. A writer counts itself in before it writes, and counts the version up
// before it counts itself out. So a lane that reads a new value finds a writer or a new version. Both counts are
// changed and read in one total order, by built-ins that ThreadSanitizer does not see.
struct publications {
  std::uint32_t writers;
  std::uint32_t version;
};

publications& through_words_of(std::size_t hash) {
  static publications all[hashes];
  return all[hash % hashes];
}

// A strand for a lane that has none.
fence_strand& next_strand() {
  static fence_strand strands[most_strands];
  static std::uint32_t handed_out;
  // Relaxed: the number alone matters.
  return strands[__atomic_fetch_add(&handed_out, 1, __ATOMIC_RELAXED) % most_strands];
}

}  // namespace

void fence_strand::acquire(void* clock) {
  const std::lock_guard guard(lock);
  if (strand == nullptr) strand = notes::create_strand();
  void* const own = notes::this_strand();
  notes::enter_strand(strand);
  notes::acquire(clock);
  notes::enter_strand(own);
}

void fence_strand::release(void* clock) {
  const std::lock_guard guard(lock);
  void* const own = notes::this_strand();
  notes::enter_strand(strand);
  notes::release(clock);
  notes::enter_strand(own);
}

void fence_notes::release() {
  if constexpr (!notes::thread_sanitizer) return;
  if (clock_ == nullptr) {
    clock_ = notes::create_clock();
    strand_ = &next_strand();
  }
  notes::release(clock_);
  strand_->acquire(clock_);
  fenced_ = true;
}

void fence_notes::begin_write(void* word, bool releases) {
  if constexpr (!notes::thread_sanitizer) return;
  if (!releases && !fenced_) return;
  __atomic_fetch_add(&through_words_of(hash_of(word)).writers, 1, __ATOMIC_SEQ_CST);
  if (!releases) strand_->release(word);
}

void fence_notes::end_write(void* word, bool releases) {
  if constexpr (!notes::thread_sanitizer) return;
  if (!releases && !fenced_) return;
  publications& through = through_words_of(hash_of(word));
  __atomic_fetch_add(&through.version, 1, __ATOMIC_SEQ_CST);
  __atomic_fetch_sub(&through.writers, 1, __ATOMIC_SEQ_CST);
}

void fence_notes::read(void* word) {
  if constexpr (!notes::thread_sanitizer) return;
  const std::size_t hash = hash_of(word);
  const publications& through = through_words_of(hash);
  const bool written = __atomic_load_n(&through.writers, __ATOMIC_SEQ_CST) != 0;
  const std::uint32_t version = __atomic_load_n(&through.version, __ATOMIC_SEQ_CST);
  seen_word& seen = seen_[hash % most_seen];
  if (!written && (version == 0 || (seen.word == word && seen.version == version))) return;
  seen = {written ? nullptr : word, version};
  void*& place = read_[reads_ % most_reads];
  if (reads_ >= most_reads) {
    // A word that is forgotten is noted again when it is read again.
    seen_word& forgotten = seen_[hash_of(place) % most_seen];
    if (forgotten.word == place && place != word) forgotten = {};
  }
  place = word;
  ++reads_;
}

void fence_notes::acquire() {
  const std::uint64_t kept = std::min<std::uint64_t>(reads_, most_reads);
  for (std::uint64_t i = 0; i < kept; ++i) notes::acquire(read_[i]);
  reads_ = 0;
}

void fence_notes::forget() {
  if (clock_ != nullptr) notes::destroy_clock(clock_);
  *this = fence_notes{};
}

}  // namespace warpheap::executor
