// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/structures/segment_kinds.hpp>

namespace warpheap {

WARPHEAP_FN inline std::uint32_t static_ring::open(lane_mask group, state& of) const {
  using enum memory_order;
  using enum thread_scope;
  std::uint32_t opened = 0;
  if (is_leader(group)) {
    const segment_name fresh = name_of(of, of.opened);
    const atomic_view in_use{flat.header(fresh.id).in_use};
    // Acquires the reads of the threads that used it a round ago.
    if (in_use.load(acquire, device) == 0) {
      in_use.store(1, relaxed, device);
      opened = fresh.packed();
    }
  }
  return shuffle(group, opened, leader(group));
}

// Takes chunks for a segment as large as the hint says, or smaller; 0 if there is no chunk. Chunks come from the end of
// the heap, away from the blocks. Collective.
WARPHEAP_FN inline std::uint32_t virtual_queue::make_segment(lane_mask group, virtual_queue_state& of) const {
  using enum memory_order;
  using enum thread_scope;
  const std::uint32_t wish = shuffle(group, atomic_view{of.size_hint}.load(relaxed, device), leader(group));
  const std::uint32_t wanted = 1u << wish;
  std::uint32_t id = 0, got = 0, parts = 0;
  segment_header* header = nullptr;
  bool dense = true;
  while (got < wanted && parts < segment_header::most_parts) {
    const std::uint32_t needs = wanted - got;
    std::uint32_t leaves = needs < 128 ? 1 : needs / 64;
    if (leaves > segment_header::most_parts - parts) leaves = segment_header::most_parts - parts;
    std::uint32_t leaf = 0;
    const std::uint64_t mask = free_chunks.take_high(group, leaves, needs < 64 ? needs : 64, leaf);
    const auto mine = static_cast<std::uint32_t>(popcount(mask));
    const lane_mask takers = ballot(group, mine != 0);
    if (takers == 0) break;
    const std::uint32_t before = got + exclusive_scan(group, mine, 0u, plus{});
    if (got == 0) {
      // The leader of the lanes that took something took the first chunk.
      const std::uint32_t first =
          mask != 0 ? leaf * bit_tree::leaf_bits + static_cast<std::uint32_t>(highest_bit(mask)) : 0;
      id = shuffle(group, first, lowest_bit(takers));
      header = &chunks.header(id);
    }
    // Dense if each lane's chunks follow each other and those of the lane before, downwards.
    const auto highest = static_cast<std::uint32_t>(mask != 0 ? highest_bit(mask) : 0);
    const bool follows = mask == 0 || (leaf * bit_tree::leaf_bits + highest == id - before &&
                                       mask == detail::bit_range(highest + 1 - mine, mine));
    dense = all(group, follows) && dense;
    sync(group);  // what each acquired holds for all
    if (mine != 0) {
      const std::uint32_t part = parts + static_cast<std::uint32_t>(popcount(lanes_below(takers)));
      header->leaf[part] = leaf;
      header->mask[part] = mask;
    }
    // All lanes write the list, one leaf after the other; the highest chunk of each comes first.
    for (lane_mask rest = takers; rest != 0; rest &= rest - 1) {
      const int from = lowest_bit(rest);
      const std::uint64_t theirs = shuffle(group, mask, from);
      const std::uint32_t at = shuffle(group, before, from);
      const std::uint32_t base = shuffle(group, leaf, from) * bit_tree::leaf_bits;
      for (auto bit = static_cast<std::uint32_t>(group_rank(group)); bit < 64;
           bit += static_cast<std::uint32_t>(group_size(group))) {
        if ((theirs >> bit & 1) != 0)
          header->chunk[at + static_cast<std::uint32_t>(popcount(theirs >> bit)) - 1] = base + bit;
      }
    }
    got += reduce(group, mine, plus{});
    parts += static_cast<std::uint32_t>(popcount(takers));
  }
  sync(group);
  if (got == 0) return 0;
  const auto size = static_cast<std::uint32_t>(highest_bit(got));
  if (is_leader(group)) {
    // A segment uses a power of two of chunks. What is over stays with it, so that no thread that looks for chunks
    // meanwhile misses them; it is found in a sweep.
    header->chunks = got;
    header->parts = parts;
    // Grow quickly: pushing threads wait for each new segment.
    if (size == wish) atomic_view{of.size_hint}.store(size + 2 < largest ? size + 2 : largest, relaxed, device);
  }
  sync(group);
  return packed_name(dense ? id | chunk_segments::dense : id, size);
}

// The name of a segment for the opener, from the reserve or of free chunks; 0 if there is neither. Collective.
WARPHEAP_FN inline std::uint32_t virtual_queue::fresh_segment(lane_mask group, virtual_queue_state& of) const {
  std::uint32_t fresh = 0;
  if (is_leader(group)) fresh = take_reserve(of);
  fresh = shuffle(group, fresh, leader(group));
  if (fresh == 0) fresh = make_segment(group, of);
  if (fresh != 0 && is_leader(group)) chunks.header(segment_name::unpack(fresh).id).next = 0;
  return fresh;
}

// Takes the name out of a slot of the reserve; 0 if the slot is empty. Acquires the accesses of its readers. One lane.
WARPHEAP_FN inline std::uint32_t virtual_queue::take_out(std::uint32_t& reserved) {
  using enum memory_order;
  using enum thread_scope;
  const atomic_view kept{reserved};
  return kept.load(relaxed, device) == 0 ? 0 : kept.exchange(0, acquire, device);
}

// A segment of the reserve that is as large as the next one should be, or 0. One lane.
WARPHEAP_FN inline std::uint32_t virtual_queue::take_reserve(virtual_queue_state& of) const {
  for (std::uint32_t& slot : of.reserve) {
    const std::uint32_t name = take_out(slot);
    if (name == 0) continue;
    const std::uint32_t wish = atomic_view{of.size_hint}.load(memory_order::relaxed, thread_scope::device);
    if (segment_name::unpack(name).size >= chunk_size() + wish) return name;
    give_back(segment_name::unpack(name).id);  // too small by now
  }
  return 0;
}

WARPHEAP_FN inline bool virtual_queue::trim(virtual_queue_state& of) const {
  bool any_kept = false;
  for (std::uint32_t& slot : of.reserve) {
    const std::uint32_t name = take_out(slot);
    if (name == 0) continue;
    give_back(segment_name::unpack(name).id);
    any_kept = true;
  }
  return any_kept;
}

WARPHEAP_FN inline void virtual_queue::retire(virtual_queue_state& of, std::uint32_t id) const {
  using enum memory_order;
  using enum thread_scope;
  const auto size = static_cast<std::uint32_t>(highest_bit(chunks.header(id).chunks));
  // As large as the next one should be: kept. Releases the accesses of its readers.
  if (size >= atomic_view{of.size_hint}.load(relaxed, device)) {
    for (std::uint32_t& slot : of.reserve) {
      const atomic_view kept{slot};
      std::uint32_t none = 0;
      if (kept.load(relaxed, device) == 0 && kept.compare_exchange(none, packed_name(id, size), release, device))
        return;
    }
  }
  give_back(id);
}

WARPHEAP_FN inline void virtual_queue::give_back(std::uint32_t id) const {
  const segment_header& header = chunks.header(id);
  // The part with the header goes last: from then on it is somebody else's.
  for (std::uint32_t part = header.parts; part-- > 0;) {
    free_chunks.add(header.leaf[part], header.mask[part]);
  }
}

WARPHEAP_FN inline std::uint32_t virtual_array::open(lane_mask group, state& of) const {
  using enum memory_order;
  using enum thread_scope;
  const std::uint32_t adopted = atomic_view{of.adopted}.load(acquire, device);
  if (any(group, is_leader(group) && of.opened - adopted >= ring_segments)) return 0;
  const std::uint32_t fresh = fresh_segment(group, of);
  if (fresh != 0 && is_leader(group)) of.ring[of.opened % ring_segments] = fresh;
  return fresh;
}

WARPHEAP_FN inline segment_name virtual_array::take_oldest(state& of, std::uint32_t number) const {
  return segment_name::unpack(of.ring[number % ring_segments]);
}

// `front` is written by the adopter, which moves it to the next segment, and by the opener when there is no segment
// before the new one, which is when the adopter has sealed the last: never both at once.
WARPHEAP_FN inline std::uint32_t virtual_list::open(lane_mask group, state& of) const {
  const std::uint32_t fresh = fresh_segment(group, of);
  if (fresh == 0 || !is_leader(group)) return fresh;
  // The adopter reads either only when it sees the count of opened segments, which the opener releases.
  if (of.last != 0) {
    chunks.header(segment_name::unpack(of.last).id).next = fresh;
  } else {
    of.front = fresh;
  }
  return fresh;
}

WARPHEAP_FN inline segment_name virtual_list::take_oldest(state& of, std::uint32_t) const {
  const segment_name oldest = segment_name::unpack(of.front);
  // Nothing follows a segment that was sealed while it was open: the next opener writes `front`.
  if (const std::uint32_t next = chunks.header(oldest.id).next; next != 0) of.front = next;
  return oldest;
}

}  // namespace warpheap
