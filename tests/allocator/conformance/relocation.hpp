// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <allocator/conformance/trial.hpp>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <support/payload.hpp>

namespace warpheap::test {

/// True if the block at `now` holds what `payload::write_all` wrote when it was at `before`.
WARPHEAP_FN inline bool followed(const void* now, const payload& before, std::uint64_t bytes) {
  bool same = true;
  for (std::uint64_t i = 0; i < bytes; ++i) {
    same = same && static_cast<const unsigned char*>(now)[i] == before.expected(i);
  }
  return same;
}

/// Writes all of each listed block.
struct mark_list_kernel {
  template <class A>
  WARPHEAP_FN void operator()(watched_heap<A>, block_list_view list, std::uint64_t bytes) const {
    for (std::uint64_t i = grid_thread_index(); i < list.size(); i += grid_threads()) {
      payload{list.blocks[i], bytes, 5}.write_all();
    }
  }
};

/// Follows listed blocks, which were marked, to where they moved, and watches them there.
struct follow_list_kernel {
  template <class A>
  WARPHEAP_FN void operator()(watched_heap<A> heap, block_list_view list, std::uint64_t bytes, relocation by) const {
    for (std::uint64_t i = grid_thread_index(); i < list.size(); i += grid_threads()) {
      const payload before{list.blocks[i], bytes, 5};
      list.blocks[i] = by.moved(list.blocks[i]);
      heap.log.expect(followed(list.blocks[i], before, bytes), problem::damaged, bytes, list.blocks[i]);
      heap.watch(list.blocks[i], bytes, A::capabilities.alignment);
    }
  }
};

/// A full heap of plain memory that moves to a larger place keeps its blocks, whole and live, at one distance; it
/// serves from the added memory, and takes the blocks back there.
template <class A>
void relocation_keeps_blocks_and_adds_room(findings& found) {
  if constexpr (!A::capabilities.relocate) {
    found.skip("relocate");
  } else {
    trial<A> t{found, fill_heap_bytes<A>(), {.plain = true}};
    t.share_owners();  // blocks are at more than one place
    const std::uint64_t start = t.heap().size();
    const std::uint64_t bytes = fill_sizes<A>(start).front();
    block_list list = list_for(t, bytes);
    const std::uint64_t first = t.fill(list, bytes);
    std::uint64_t times = 1;
    for (const std::uint64_t next : {1, 2, 4}) {
      t.run(t.fill_threads(), mark_list_kernel{}, list.view(), bytes);
      const heap_statistics before = t.heap().statistics();
      const relocation by = t.heap().relocate(next * start);
      found.expect(by.distance % static_cast<std::ptrdiff_t>(relocation_options::least_alignment) == 0,
                   "a heap moved by " + std::to_string(by.distance) + " B");
      found.expect(t.heap().size() == next * start, "the heap moved to a place of " + std::to_string(t.heap().size()) +
                                                        " B instead of " + std::to_string(next * start));
      found.expect(t.heap().statistics().live_bytes == before.live_bytes, "moving changed the live bytes");
      t.owners().clear();
      t.run(t.fill_threads(), follow_list_kernel{}, list.view(), bytes, by);
      const std::uint64_t added = t.fill(list, bytes);
      const std::uint64_t wanted = (next - times) * (first - first / 8);
      found.expect(added >= wanted && (next != times || added <= first / 8),
                   "moving a full heap of " + std::to_string(first) + " blocks of " + std::to_string(bytes) +
                       " B from " + std::to_string(times * start) + " B to " + std::to_string(next * start) +
                       " B added room for " + std::to_string(added) + " blocks");
      times = next;
    }
    try {
      t.heap().relocate(times * start - 1);
      found.add("a heap moved to a smaller place");
    } catch (const std::length_error& error) {
      found.expect(std::string{error.what()}.find("size()") != std::string::npos,
                   std::string{"the error of a smaller place does not say what to ask for: "} + error.what());
    }
    const std::uint64_t full = list.size();
    if constexpr (trial<A>::can_give_back) {
      t.give_back(list, bytes);
      if constexpr (A::capabilities.counts_live) {
        found.expect(t.heap().statistics().live_bytes == 0u, "blocks that moved were freed and are still live");
      }
      const std::uint64_t again = t.fill(list, bytes);
      found.expect(again == full, "a heap that moved and was emptied held " + std::to_string(again) +
                                      " blocks and not " + std::to_string(full));
    }
  }
}

}  // namespace warpheap::test
