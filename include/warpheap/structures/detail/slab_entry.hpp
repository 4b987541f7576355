// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/structures/slab_entry.hpp>

namespace warpheap {

WARPHEAP_FN constexpr std::uint64_t slab_entry::pack(contents entry) {
  // Zero bytes are an unowned entry: the class is stored 2 higher, modulo 256.
  return ((entry.size_class + 2) & 0xff) | std::uint64_t{entry.capacity} << capacity_shift |
         std::uint64_t{entry.free} << free_shift | std::uint64_t{entry.generation & 0xffff} << generation_shift;
}

WARPHEAP_FN constexpr slab_entry::contents slab_entry::unpack(std::uint64_t word) {
  return {static_cast<std::uint32_t>(word - 2) & 0xff, static_cast<std::uint32_t>(word >> capacity_shift) & most_blocks,
          static_cast<std::uint32_t>(word >> free_shift) & most_blocks,
          static_cast<std::uint32_t>(word >> generation_shift)};
}

WARPHEAP_FN inline slab_step slab_entry::try_take(std::uint32_t size_class, std::uint32_t count) {
  std::uint64_t seen = view().load(memory_order::relaxed, thread_scope::device);  // the exchange below acquires
  for (;;) {  // not a spin: a failed exchange means that another thread changed the word
    const contents entry = unpack(seen);
    const bool fits = entry.size_class == size_class;
    const std::uint32_t took = !fits ? 0 : count < entry.free ? count : entry.free;
    if (took == 0) return {entry.free, entry.free, 0};
    // Acquires what the slab's owner prepared, from `assign` or through the takes and gives since.
    if (view().compare_exchange(seen, seen - took * one_free, memory_order::acquire, thread_scope::device)) {
      return {entry.free, entry.free - took, entry.capacity};
    }
  }
}

WARPHEAP_FN inline slab_step slab_entry::give(std::uint32_t count) {
  // The giver holds permits, so the entry is assigned and keeps its class; the sum stays within its bits. Releases what
  // was done to the blocks, and acquires what other givers released, for who retires the slab next.
  const contents before = unpack(view().fetch_add(count * one_free, memory_order::acq_rel, thread_scope::device));
  invariant(before.is_assigned() && before.free + count <= before.capacity,
            "slab_entry: more permits given than taken");
  return {before.free, before.free + count, before.capacity};
}

WARPHEAP_FN inline bool slab_entry::try_reserve() {
  std::uint64_t seen = view().load(memory_order::relaxed, thread_scope::device);  // the exchange below acquires
  for (;;) {  // not a spin: a failed exchange means that another thread changed the word
    contents entry = unpack(seen);
    if (entry.size_class != unowned) return false;
    entry.size_class = reserved;
    // Acquires what the owner before left, from its `vacate`.
    if (view().compare_exchange(seen, pack(entry), memory_order::acquire, thread_scope::device)) return true;
  }
}

WARPHEAP_FN inline void slab_entry::assign(std::uint32_t size_class, std::uint32_t capacity, std::uint32_t taken) {
  const contents entry = look();
  invariant(!entry.is_assigned(), "slab_entry: a slab is assigned that has a class");
  // Releases what the owner prepared. Nobody else changes the word, so no exchange is needed.
  view().store(pack({size_class, capacity, capacity - taken, entry.generation}), memory_order::release,
               thread_scope::device);
}

template <class Fits>
WARPHEAP_FN bool slab_entry::retire_if(Fits fits) {
  std::uint64_t seen = view().load(memory_order::relaxed, thread_scope::device);  // the exchange below acquires
  for (;;) {  // not a spin: a failed exchange means that another thread changed the word
    const contents entry = unpack(seen);
    if (!entry.is_assigned() || entry.free != entry.capacity || !fits(entry)) return false;
    const contents next{reserved, 0, 0, entry.generation + 1};
    // Acquires what all givers released: each give is part of the release sequence that this reads from.
    if (view().compare_exchange(seen, pack(next), memory_order::acquire, thread_scope::device)) return true;
  }
}

WARPHEAP_FN inline bool slab_entry::try_retire() {
  return retire_if([](const contents&) { return true; });
}

WARPHEAP_FN inline bool slab_entry::try_retire(std::uint32_t size_class, std::uint32_t generation) {
  return retire_if([=](const contents& entry) {
    return entry.size_class == size_class && entry.generation == (generation & 0xffff);
  });
}

WARPHEAP_FN inline void slab_entry::vacate() {
  contents entry = look();
  invariant(entry.size_class == reserved, "slab_entry: a slab is vacated that is not reserved");
  entry.size_class = unowned;
  // Releases what the owner did to the slab; `try_reserve` acquires it.
  view().store(pack(entry), memory_order::release, thread_scope::device);
}

}  // namespace warpheap
