// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <warpheap/sync.hpp>

#include "../measure/stopwatch.hpp"
#include "curves.hpp"

namespace warpheap::bench {

/// An element of a doubly linked list; links are numbers of elements.
struct element {
  srcu_node retired;
  std::uint32_t next;
  std::uint32_t before;
  std::uint64_t tag;
};

/// A list under read-copy-update. Element 0 is its head and carries no tag.
struct watched_list {
  srcu readers;
  spin_lock writers;
  std::uint64_t reclaimed;
};

/// Makes a ring of all elements, each with every `ratio`-th tag.
struct link_kernel {
  WARPHEAP_FN void operator()(element* elements, std::uint32_t count, std::uint64_t ratio) const {
    for (auto i = static_cast<std::uint32_t>(grid_thread_index()); i < count;
         i += static_cast<std::uint32_t>(grid_threads())) {
      elements[i] = {{nullptr}, (i + 1) % count, (i + count - 1) % count, i == 0 ? ~std::uint64_t{0} : (i - 1) * ratio};
    }
  }
};

/// Each thread looks for the element with its number, and takes it out if there is one.
struct remove_kernel {
  bool delegates;  ///< leave the waiting to another thread if one is about to wait

  WARPHEAP_FN void operator()(watched_list* list, element* elements, std::uint64_t threads) const {
    using enum memory_order;
    using enum thread_scope;
    const std::uint64_t tag = grid_thread_index();
    if (tag >= threads) return;
    const srcu::ticket in = list->readers.enter();
    const auto follow = [&](std::uint32_t from) { return atomic_view{elements[from].next}.load(acquire, device); };
    std::uint32_t at = follow(0);
    while (at != 0 && elements[at].tag != tag) at = follow(at);  // not a spin: each turn goes on along the list
    list->readers.leave(in);
    if (at == 0) return;
    // It is ours: nobody else has its tag, so it is still there.
    element& own = elements[at];
    list->writers.hold([&] {
      atomic_view{elements[own.before].next}.store(own.next, release, device);
      elements[own.next].before = own.before;
    });
    const auto reclaim = [list](srcu_node&) { atomic_view{list->reclaimed}.fetch_add(1, relaxed, device); };
    if (delegates) {
      list->readers.retire(own.retired, reclaim);
    } else {
      list->readers.retire_and_wait(own.retired, reclaim);
    }
  }
};

/// `threads` threads look through a list for a tag each and take out what they find, `threads` /
/// `ratio` elements (Gelado & Garland, PPoPP 2019, Figure 6). Throws if one is still there or was
/// not reclaimed.
inline course take_out(std::uint64_t threads, std::uint64_t ratio, bool delegates) {
  const std::uint64_t writers = threads / ratio;
  const device_array<watched_list> list(1);
  const device_array<element> elements(writers + 1);
  launch(grid_shape::covering(writers + 1), link_kernel{}, elements.data(), static_cast<std::uint32_t>(writers + 1),
         ratio);
  stopwatch timer;
  timer.start();
  launch(grid_shape::covering(threads), remove_kernel{delegates}, list.data(), elements.data(), threads);
  const double time = timer.stop();
  const std::uint64_t reclaimed = list.at(0).reclaimed;
  if (reclaimed != writers || elements.at(0).next != 0) {
    throw std::runtime_error("of " + std::to_string(writers) + " elements " + std::to_string(reclaimed) +
                             " were reclaimed" + (elements.at(0).next != 0 ? ", and some are still in the list" : ""));
  }
  return {time, threads, writers};
}

}  // namespace warpheap::bench
