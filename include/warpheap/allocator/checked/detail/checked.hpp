// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/allocator/checked/checked.hpp>
#include <warpheap/allocator/sums.hpp>

// Blocks on their way from `A` to an owner, into the quarantine, and back to `A`.
//
// Invariant: a block that `A` handed out is live, or in a slot of the quarantine, or in the hands of one thread: of its
// taker until malloc returns, of the thread that ended its life until it is in a slot, of the thread that took it out
// until `A` has it. Each step from one to the next is an atomic operation that one thread wins. No thread waits for
// another, but as `A` does.
//
// What a memory checker may see: of a live block what was asked for, and the trailer; of a freed one the trailer, which
// a second free looks at; and for a moment all of it, to the one thread that has it in hands.

namespace warpheap {

// Makes what `A` gave, or null, a live block of `bytes` bytes.
template <locates_blocks A, checked_options Options>
WARPHEAP_FN void* checked<A, Options>::begin(void* block, std::uint64_t bytes) const {
  if (block == nullptr) return nullptr;
  const detail::guarded_block made = at(block);
  std::byte* const after = static_cast<std::byte*>(block) + align_down(bytes, 8);
  const std::uint64_t guard = made.room() - align_down(bytes, 8);
  if constexpr (hides_blocks) shadow_unpoison(after, guard + detail::guarded_block::trailer_bytes);
  made.begin(bytes);
  if constexpr (hides_blocks) shadow_poison(after, guard);
  return block;
}

template <locates_blocks A, checked_options Options>
WARPHEAP_FN void* checked<A, Options>::malloc(std::uint64_t bytes) const {
  if (bytes > detail::guarded_block::most_asked) return nullptr;
  const std::uint64_t needed = detail::guarded_block::bytes_for(bytes);
  void* block = inner_.malloc(needed);
  if (block == nullptr) {
    empty_quarantine();
    block = inner_.malloc(needed);
  }
  return begin(block, bytes);
}

template <locates_blocks A, checked_options Options>
WARPHEAP_FN void* checked<A, Options>::aligned_malloc(std::uint64_t alignment, std::uint64_t bytes) const {
  if (bytes > detail::guarded_block::most_asked) return nullptr;
  const std::uint64_t needed = detail::guarded_block::bytes_for(bytes);
  void* block = inner_.aligned_malloc(alignment, needed);
  if (block == nullptr) {
    empty_quarantine();
    block = inner_.aligned_malloc(alignment, needed);
  }
  return begin(block, bytes);
}

// Gives `A` what is in quarantine. Other threads may do so at the same time: each block is taken out by one of them,
// which gives it to `A` before it looks for the next one. So a thread that comes to the end has seen each slot empty
// once. What was in a slot when it began is `A`'s again by then, but for at most one block in the hands of each other
// thread.
template <locates_blocks A, checked_options Options>
WARPHEAP_COLD_FN void checked<A, Options>::empty_quarantine() const {
  for (std::uint64_t i = 0; i < Options.quarantine; ++i) {
    if (own_->quarantine.is_empty()) return;
    void* const block = own_->quarantine.take(i + thread_index());  // threads begin apart
    if (block != nullptr) let_go(block);
  }
}

// What is in quarantine is no block, so it does not keep memory in the heap.
template <locates_blocks A, checked_options Options>
WARPHEAP_FN void checked<A, Options>::coalesce() const
  requires(A::capabilities.trim_bytes != 0)
{
  if (thread_index() == 0) empty_quarantine();
  sync_block();
  inner_.coalesce();
}

template <locates_blocks A, checked_options Options>
WARPHEAP_FN void checked<A, Options>::free(void* pointer) const {
  switch (inner_.locate(pointer)) {
    case block_location::block: return take_back(pointer);
    case block_location::inside: return own_->faults.note(fault_kind::interior_pointer, pointer, 0);
    case block_location::free: return own_->faults.note(fault_kind::double_free, pointer, 0);
    case block_location::outside: return own_->faults.note(fault_kind::foreign_pointer, pointer, 0);
  }
}

// Ends the life of a block, if nobody did, and puts it in quarantine.
template <locates_blocks A, checked_options Options>
WARPHEAP_COLD_FN void checked<A, Options>::take_back(void* block) const {
  using life = detail::guarded_block::life;
  const detail::guarded_block freed = at(block);
  const life stood = freed.end();
  std::uint64_t asked = freed.asked();
  if (stood == life::freed) return own_->faults.note(fault_kind::double_free, block, asked);
  if constexpr (hides_blocks) shadow_unpoison(block, freed.room());
  if (stood == life::damaged || !freed.guard_is_whole(asked)) {
    own_->faults.note(fault_kind::overrun, block, stood == life::damaged ? 0 : asked);
    if (stood == life::damaged) asked = freed.room();
    freed.set_asked(asked);
  }
  freed.poison(asked, Options.poison_bytes);
  if constexpr (hides_blocks) shadow_poison(block, freed.room());
  void* const leaving = own_->quarantine.put(block);
  if (leaving != nullptr) let_go(leaving);
}

// Gives `A` a block that was taken out of quarantine.
template <locates_blocks A, checked_options Options>
WARPHEAP_COLD_FN void checked<A, Options>::let_go(void* block) const {
  const detail::guarded_block left = at(block);
  if constexpr (hides_blocks) shadow_unpoison(block, left.room());
  const std::uint64_t asked = left.asked();
  if (!left.is_untouched(asked, Options.poison_bytes)) {
    own_->faults.note(fault_kind::use_after_free, block, asked <= left.room() ? asked : 0);
  }
  if constexpr (hides_blocks) shadow_poison(block, left.room() + detail::guarded_block::trailer_bytes);
  inner_.free(block);
  own_->quarantine.has_left();
}

template <locates_blocks A, checked_options Options>
WARPHEAP_FN std::uint64_t checked<A, Options>::usable_size(const void* pointer) const {
  using life = detail::guarded_block::life;
  if (inner_.locate(pointer) != block_location::block) return 0;
  const detail::guarded_block block = at(pointer);
  switch (block.state()) {
    case life::live: return block.asked();
    case life::freed: return 0;
    case life::damaged: break;
  }
  return block.room();
}

// `A` counts what is in quarantine as live, each block by its usable size. One thread takes it off, after its own part,
// because a design may have one thread write the whole figure.
template <locates_blocks A, checked_options Options>
WARPHEAP_FN void checked<A, Options>::count(allocator_counts& counts) const
  requires(A::capabilities.counts_live)
{
  inner_.count(counts);
  if (grid_thread_index() != 0) return;
  std::uint64_t freed = 0;
  for (std::uint64_t i = 0; i < Options.quarantine; ++i) {
    void* const block = own_->quarantine.slot[i];
    if (block != nullptr) freed += inner_.usable_size(block);
  }
  add_to_sum(counts.live_bytes, -freed);
}

template <locates_blocks A, checked_options Options>
std::optional<memory_fault> checked<A, Options>::first_fault() const {
  detail::fault_record record;
  device_copy(&record, &own_->faults, sizeof(record));
  if (record.state != detail::fault_record::written) return std::nullopt;
  return record.fault;
}

template <locates_blocks A, checked_options Options>
void checked<A, Options>::clear_fault() const {
  device_fill(&own_->faults, 0, sizeof(own_->faults));
}

}  // namespace warpheap
