// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <allocator/conformance/growth.hpp>
#include <allocator/conformance/held_blocks.hpp>
#include <allocator/conformance/relocation.hpp>
#include <allocator/conformance/trial.hpp>
#include <cstdint>
#include <string>

namespace warpheap::test {

/// A heap that pieces of memory can be given back of, on a GPU too.
inline std::uint64_t trim_heap_bytes() { return this_backend == backend::host ? 1_MiB : 64_MiB; }

/// Fills the heap, writes to all of it and empties it again; returns how many blocks it had.
template <class A>
std::uint64_t use_all(trial<A>& t, std::uint64_t bytes) {
  block_list list = list_for(t, bytes);
  std::uint64_t count = t.fill(list, bytes);
  if constexpr (!A::capabilities.refuses_only_when_full) {
    // It may have refused too soon; what the heap holds is known when a fill gets nothing more.
    for (std::uint64_t more = t.fill(list, bytes); more != 0; more = t.fill(list, bytes)) count += more;
  }
  t.run(t.fill_threads(), listed_contents_kernel{false}, list.view(), bytes);
  t.run(t.fill_threads(), listed_contents_kernel{true}, list.view(), bytes);
  t.give_back(list, bytes);
  return count;
}

/// Trims a heap that holds a few blocks; what is left serves, and `restore` brings back the rest.
template <class A>
void expect_trim(findings& found, trial<A>& t, std::uint64_t bytes, const std::string& when) {
  const std::uint64_t before = t.heap().statistics().committed_bytes;
  const std::uint64_t full = use_all(t, bytes);
  const std::uint64_t given_back = t.heap().trim();
  found.expect(given_back >= before / 2, when + ": an empty half of a heap of " + std::to_string(before) +
                                             " B gave back " + std::to_string(given_back) + " B");
  found.expect(before - t.heap().statistics().committed_bytes == given_back,
               when + ": the heap says that it gave back " + std::to_string(given_back) + " B and has " +
                   std::to_string(before - t.heap().statistics().committed_bytes) + " B less");
  found.expect(t.heap().trim() == 0, when + ": what was given back is given back again");
  const std::uint64_t some = use_all(t, bytes);
  found.expect(some * bytes <= before - given_back, when + ": blocks lie where no memory is");
  t.heap().restore();
  found.expect(t.heap().statistics().committed_bytes == before,
               when + ": restored, the heap has other memory than before");
  const std::uint64_t again = use_all(t, bytes);
  found.expect(again == full, when + ": the heap held " + std::to_string(full) + " blocks of " + std::to_string(bytes) +
                                  " B before it was trimmed and " + std::to_string(again) + " when it was restored");
}

/// Memory without blocks goes back to the machine and comes again; blocks that are held stay whole.
template <class A>
void trimming_gives_back_what_no_block_is_in(findings& found) {
  if constexpr (A::capabilities.trim_bytes == 0) {
    found.skip("trim_bytes");
  } else {
    trial<A> t{found, trim_heap_bytes(), {.reserve_bytes = 2 * trim_heap_bytes()}};
    if (!device_can_map()) return found.skip("memory that can be mapped");
    const std::uint64_t bytes = fill_sizes<A>(t.heap().size()).front();
    block_list all = list_for(t, bytes);
    t.fill(all, bytes);
    found.expect(t.heap().trim() == 0, "a full heap gave back memory");
    t.give_back(all, bytes);

    constexpr std::uint64_t count = trial<A>::threads_per_block;
    const device_array<held_block> held(count);
    t.run(count, take_kernel{}, held.data(), 1, 7, bytes);
    expect_trim(found, t, bytes, "with blocks");
    t.heap().trim();
    t.heap().grow(2 * t.heap().size());
    t.run(count, verify_kernel{}, held.data(), 1, 0);
    use_all(t, bytes);
    t.heap().restore();
    expect_trim(found, t, bytes, "larger");
    t.run(count, verify_kernel{}, held.data(), 1, 0);
    t.run(count, give_kernel{}, held.data(), 1, 0);

    t.heap().trim();
    t.reset();
    use_all(t, bytes);
    t.heap().restore();
    expect_trim(found, t, bytes, "after a reset");
  }
}

/// Takes `count` blocks of `bytes` and adds them to the list.
struct take_listed_kernel {
  template <class A>
  WARPHEAP_FN void operator()(watched_heap<A> heap, block_list_view list, std::uint64_t count,
                              std::uint64_t bytes) const {
    if (grid_thread_index() >= count) return;
    void* const block = heap.must_malloc(bytes);
    if (block != nullptr) list.push(block);
  }
};

/// Trims, grows, moves, restores and resets a heap of `bytes`, one after the other, to sizes that are no multiples of
/// anything. After each step blocks are where they were, or moved, and all that the heap hands out can be written to.
template <class A>
void operations_follow_each_other(findings& found, std::uint64_t bytes) {
  constexpr std::uint64_t each = refuses_in_linear_time<A>() ? 768 : 96;
  constexpr std::uint64_t count = 32;
  trial<A> t{found, bytes, {.reserve_bytes = 8 * bytes}};
  t.share_owners();
  const std::string heap = "a heap that began with " + std::to_string(bytes) + " B ";
  block_list held{count};
  const auto check = [&](const std::string& when, const relocation& by) {
    t.owners().clear();
    t.run(count, follow_list_kernel{}, held.view(), each, by);
    t.run(count, mark_list_kernel{}, held.view(), each);
    found.expect(use_all(t, each) != 0, heap + when + " serves nothing");
    use_all(t, 12'000);
  };
  const auto trim = [&] {
    if constexpr (A::capabilities.trim_bytes != 0) t.heap().trim();
  };
  const auto grow = [&](std::uint64_t more) {
    t.heap().grow(t.heap().size() + more);
    check("and grew to " + std::to_string(t.heap().size()) + " B", {0});
  };
  const auto move = [&](std::uint64_t more) {
    if constexpr (A::capabilities.relocate) {
      const relocation by = t.heap().relocate(t.heap().size() + more, {.reserve_bytes = 8 * bytes});
      check("and moved to a place of " + std::to_string(t.heap().size()) + " B", by);
    }
  };
  t.run(count, take_listed_kernel{}, held.view(), count, each);
  t.run(count, mark_list_kernel{}, held.view(), each);
  trim();
  check("and was trimmed", {0});
  grow(20'500);
  trim();
  move(0);
  trim();
  move(9'000);
  trim();
  grow(100);
  trim();
  grow(33'000);
  if constexpr (A::capabilities.trim_bytes != 0) t.heap().restore();
  check("and was restored", {0});
  const std::uint64_t all = use_all(t, each);
  trial<A> fresh{found, t.heap().size()};
  block_list same{count};
  fresh.run(count, take_listed_kernel{}, same.view(), count, each);
  const std::uint64_t expected = use_all(fresh, each);
  found.expect(all + expected / 8 >= expected, heap + "serves " + std::to_string(all) +
                                                   " blocks at the end, and a new one " + std::to_string(expected));
  if constexpr (A::capabilities.reset) {
    trim();
    t.reset();
    use_all(t, each);
  }
}
template <class A>
void operations_follow_each_other(findings& found) {
  if constexpr (!A::capabilities.grow || !A::capabilities.individual_free) {
    found.skip("grow and individual_free");
  } else {
    if (!device_can_map()) return found.skip("memory that can be mapped");
    // On a GPU memory comes in pieces of 2 MiB, of which each of these heaps has four at least.
    constexpr std::uint64_t times = this_backend == backend::host ? 1 : 64;
    const bool small = this_backend == backend::cuda && scale_in_force() == work_scale::small;
    for (const std::uint64_t bytes : {136_KiB, 200'000ul, 1_MiB + 4_KiB}) {
      if (small && bytes > 1_MiB) break;  // its blocks are many for a memory checker
      if (found.empty()) operations_follow_each_other<A>(found, times * bytes);
    }
  }
}

/// Of plain memory nothing can be given back.
template <class A>
void plain_memory_stays(findings& found) {
  if constexpr (A::capabilities.trim_bytes == 0) {
    found.skip("trim_bytes");
  } else {
    trial<A> t{found, trim_heap_bytes(), {.plain = true}};
    found.expect(t.heap().trim() == 0, "a heap of plain memory gave back some");
    t.heap().restore();
    found.expect(use_all(t, fill_sizes<A>(t.heap().size()).back()) > 0, "a heap of plain memory serves nothing");
  }
}

}  // namespace warpheap::test
