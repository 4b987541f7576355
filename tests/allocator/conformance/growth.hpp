// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <allocator/conformance/held_blocks.hpp>
#include <allocator/conformance/trial.hpp>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace warpheap::test {

/// Writes the contents of listed blocks, or checks them.
struct listed_contents_kernel {
  bool check;

  template <class A>
  WARPHEAP_FN void operator()(watched_heap<A> heap, block_list_view list, std::uint64_t bytes) const {
    for (std::uint64_t i = grid_thread_index(); i < list.size(); i += grid_threads()) {
      const payload contents{list.blocks[i], bytes, 4};
      if (check) {
        heap.log.expect(contents.intact(), problem::damaged, bytes, list.blocks[i]);
      } else {
        contents.write();
      }
    }
  }
};

template <class A, class Change>
void expect_length_error(findings& found, warpheap::heap<A>& heap, const char* word, Change change) {
  const std::uint64_t before = heap.size();
  try {
    change();
    found.add("growing too far gave no error");
  } catch (const std::length_error& error) {
    found.expect(std::string{error.what()}.find(word) != std::string::npos,
                 std::string{"the error of growing too far does not say '"} + word + "': " + error.what());
  }
  found.expect(heap.size() == before, "a refused growth changed the size");
}

/// A full heap that grows keeps its blocks, in place and whole, and serves from the new memory, through old handles
/// too.
template <class A>
void growth_keeps_blocks_and_adds_room(findings& found) {
  if constexpr (!A::capabilities.grow) {
    found.skip("grow");
  } else {
    trial<A> t{found, fill_heap_bytes<A>(), {.reserve_bytes = 4 * fill_heap_bytes<A>()}};
    const std::uint64_t start = t.heap().size();
    if (!device_can_map()) return found.skip("memory that can be mapped");
    const watched_heap<A> old = t.watched();
    const std::uint64_t bytes = fill_sizes<A>(start).front();
    block_list list = list_for(t, bytes);
    const std::uint64_t first = t.fill(list, bytes);
    t.run(t.fill_threads(), listed_contents_kernel{false}, list.view(), bytes);
    for (std::uint64_t times = 2; times <= 4; ++times) {
      t.heap().grow(times * start);
      t.heap().grow(start);  // less than now changes nothing
      found.expect(t.heap().size() == times * start, "the heap grew to " + std::to_string(t.heap().size()) +
                                                         " B instead of " + std::to_string(times * start));
      const std::uint64_t before = list.size();
      t.run_unwatched(t.fill_threads(), fill_kernel{}, old, list.view(), bytes);
      const std::uint64_t added = list.size() - before;
      found.expect(added >= first - first / 8, "growth by " + std::to_string(start) + " B added room for " +
                                                   std::to_string(added) + " blocks of " + std::to_string(bytes) +
                                                   " B; the heap held " + std::to_string(first) + " before");
      const block_list_view from_before{list.view().blocks, list.view().count, before};
      t.run(t.fill_threads(), listed_contents_kernel{true}, from_before, bytes);
      t.run(t.fill_threads(), listed_contents_kernel{false}, list.view(), bytes);
    }
    const std::uint64_t reserved = t.heap().statistics().reserved_bytes;
    expect_length_error(found, t.heap(), "reserve_bytes", [&] { t.heap().grow(reserved + 1); });
    t.run(t.fill_threads(), listed_contents_kernel{true}, list.view(), bytes);
  }
}

/// Memory that is not mapped cannot grow, and says so; the heap serves all the same.
template <class A>
void plain_memory_cannot_grow(findings& found) {
  if constexpr (!A::capabilities.grow) {
    found.skip("grow");
  } else {
    // Plain memory begins anywhere, and a design may lose its first chunk to alignment.
    trial<A> t{found, 2 * fill_heap_bytes<A>(), {.plain = true}};
    expect_length_error(found, t.heap(), "plain", [&] { t.heap().grow(2 * t.heap().size()); });
    const std::uint64_t bytes = fill_sizes<A>(t.heap().size()).front();
    block_list list = list_for(t, bytes);
    found.expect(t.fill(list, bytes) > 0, "a heap of plain memory serves nothing");
  }
}

}  // namespace warpheap::test
