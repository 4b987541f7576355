// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/fdg/detail/pages.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/structures.hpp>
#include <warpheap/sync.hpp>

namespace warpheap::detail {

/// What an arena does: blocks from its current superblock, large blocks, and the release of all of them.
///
/// Invariant: the list of an arena has the first page of each superblock and large block that the arena took, each
/// once. The blocks of a superblock lie side by side from its begin up to what `current` says is taken; of a superblock
/// that is current no more, what was left then stays unused. While a lane seeks the next superblock, `current` does not
/// change otherwise; that lane waits for nobody, and passes no barrier until `current` is free again.
///
/// Places are counted in granules from the first page on.
template <class Layout>
class fdg_arenas {
 public:
  using header = typename Layout::header;
  static constexpr std::uint64_t none = ~std::uint64_t{0};  ///< no place
  static constexpr std::uint32_t no_page = page_source::none;

  WARPHEAP_FN explicit fdg_arenas(const arena& from) : pages_(from) {}
  WARPHEAP_FN const fdg_pages<Layout>& pages() const { return pages_; }

  /// Granules that are left in the superblock of `of`; those of a whole one while the next is sought. A hint.
  WARPHEAP_FN std::uint32_t room(header& of) const {
    return room_of({atomic_view{of.current}.load(memory_order::relaxed, thread_scope::device)}, Layout::page_granules);
  }

  /// A place of `granules` granules, at most a superblock's, for each lane of `group`, from the arena of header `of`.
  /// The lanes' requests are laid side by side by a prefix sum. If `grows`, a new superblock serves those that do not
  /// fit, and a lane gets `none` if at one moment of the call no page was free and what was left of the superblock was
  /// too little for it; else if the latter was so. Collective.
  WARPHEAP_FN std::uint64_t take(lane_mask group, header& of, std::uint32_t granules, bool grows) const;

  /// The first granule of a block of `count` pages for each lane of `group`, or `none`: the arena's of header `of`.
  /// Collective.
  WARPHEAP_COLD_FN std::uint64_t take_pages(lane_mask group, header& of, std::uint64_t count) const;

  /// The first page of a new arena, which has the header of that page; `no_page` if none was free. One lane.
  WARPHEAP_COLD_FN std::uint32_t open() const;

  /// Gives back all pages of the arena of header `of`, which nobody uses. Collective.
  WARPHEAP_COLD_FN void release(lane_mask group, header& of) const;

 private:
  WARPHEAP_FN static std::uint32_t room_of(fdg_current seen, std::uint32_t while_sought) {
    if (seen.is_sought()) return while_sought;
    return seen.exists() ? Layout::page_granules - seen.used() : 0;
  }
  enum class sought : std::uint32_t { found, exhausted, changed };
  WARPHEAP_COLD_FN sought seek(header& of, std::uint64_t seen) const;

  fdg_pages<Layout> pages_;
};

// Orders. The lane that got a page from the source acquired what its former owner did. The store to `current` releases
// that; a change of `current` that takes granules acquires it, and goes on with the sequence of that release. The
// group's `sync` passes it on to each lane. The change that starts to seek acquires, so that the store after it
// releases no less than the one before it did. Looks are relaxed: the change that follows decides.

template <class Layout>
WARPHEAP_FN std::uint64_t fdg_arenas<Layout>::take(lane_mask group, header& of, std::uint32_t granules,
                                                   bool grows) const {
  using enum memory_order;
  using enum thread_scope;
  const atomic_view current{of.current};
  std::uint64_t place = none;
  lane_mask waiting = group;
  lane_mask fitting = group;  // without those that are too large for what is left of the last superblock there is
  for (backoff wait;;) {
    std::uint64_t word = 0;
    if (is_leader(group)) word = current.load(relaxed, device);
    const fdg_current seen{shuffle(group, word, leader(group))};
    if (seen.is_sought()) {
      wait.pause();
      continue;
    }
    wait.end();
    const bool asks = (waiting & fitting & lane_bit()) != 0;
    const std::uint32_t upto = inclusive_scan(group, asks ? granules : 0u, plus{});
    const std::uint32_t left = room_of(seen, 0);
    const lane_mask fit = ballot(group, asks && upto <= left);
    bool done = false;
    if (fit != 0) {
      const std::uint32_t total = shuffle(group, upto, highest_bit(fit));
      std::uint64_t expected = seen.value;
      if (is_leader(group)) done = current.compare_exchange(expected, seen.with(total).value, acquire, device);
      if (!any(group, done)) continue;  // not a spin: another thread took granules or sought a superblock
      if ((fit & lane_bit()) != 0) {
        place = std::uint64_t{seen.page()} * Layout::page_granules + seen.used() + upto - granules;
      }
      waiting &= ~fit;
      if (waiting == 0) break;
      continue;
    }
    auto outcome = sought::exhausted;
    if (grows && is_leader(group)) outcome = cold_call([*this, at = &of, seen] { return seek(*at, seen.value); });
    outcome = static_cast<sought>(shuffle(group, static_cast<std::uint32_t>(outcome), leader(group)));
    if (outcome == sought::found) fitting = group;
    if (outcome != sought::exhausted) continue;
    // Nothing is to come, so what is left serves those that it is enough for.
    fitting = ballot(group, (waiting & lane_bit()) != 0 && granules <= left);
    if (fitting == 0) break;
  }
  sync(group);  // what the leader acquired, all lanes did
  return place;
}

// Seeks a superblock for an arena whose current one is `seen`. One lane; no barrier, since others wait.
template <class Layout>
WARPHEAP_COLD_FN auto fdg_arenas<Layout>::seek(header& of, std::uint64_t seen) const -> sought {
  using enum memory_order;
  using enum thread_scope;
  const atomic_view current{of.current};
  const fdg_current before{seen};
  if (!current.compare_exchange(seen, before.sought().value, acquire, device)) return sought::changed;
  const std::uint32_t page = pages_.source().take(0);
  if (page == no_page) {
    current.store(before.value, release, device);
    return sought::exhausted;
  }
  pages_.list(of).push(lane_bit(), page);
  current.store(fdg_current::make(page).value, release, device);
  return sought::found;
}

template <class Layout>
WARPHEAP_COLD_FN std::uint64_t fdg_arenas<Layout>::take_pages(lane_mask group, header& of, std::uint64_t count) const {
  const std::uint32_t order = page_source::order_for(count);
  if (order > page_source::largest_order) return none;  // lanes with another order have a call of their own
  const std::uint32_t page = pages_.source().take(group, order);
  const lane_mask got = ballot(group, page != no_page);
  if (page == no_page) return none;
  pages_.list(of).push(got, page);
  return std::uint64_t{page} * Layout::page_granules;
}

template <class Layout>
WARPHEAP_COLD_FN std::uint32_t fdg_arenas<Layout>::open() const {
  const std::uint32_t page = pages_.source().take(0);
  if (page == no_page) return no_page;
  header& of = pages_.header_of(page);
  // Relaxed: the page is the caller's, who passes the arena on.
  atomic_view{of.current}.store(fdg_current::make(page).value, memory_order::relaxed, thread_scope::device);
  atomic_view{of.list}.store(0, memory_order::relaxed, thread_scope::device);
  pages_.list(of).push(lane_bit(), page);
  return page;
}

template <class Layout>
WARPHEAP_COLD_FN void fdg_arenas<Layout>::release(lane_mask group, header& of) const {
  const page_source source = pages_.source();
  // The list is taken first, so the page that the header is for may go before others.
  pages_.list(of).walk(group, [this, source](lane_mask lanes, std::uint32_t page) {
    shadow_poison(pages_.address(std::uint64_t{page} * Layout::page_granules),
                  std::uint64_t{Layout::page_bytes} << source.order_of(page));
    sync(lanes);  // before others get what is hidden here
    source.give(lanes, page);
  });
}

}  // namespace warpheap::detail
