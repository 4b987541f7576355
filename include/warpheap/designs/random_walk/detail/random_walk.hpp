// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/random_walk/random_walk.hpp>

// Orders. A line's word is all that a block's owners share.
//
// - An exchange that takes pages acquires: the new owner sees what the former one did to the block. It releases too: a
//   search that finds the pages taken then knows of the blocks that their owner gave back before, and of a run that the
//   owner has begun.
// - The operation that gives pages back releases what the owner did to the block.
// - `returns` is added to with release after that, so a search that has seen the sum sees the pages free.
// - Looks at words are relaxed. A search that found nothing passes an acquire fence before it reads the counters again.

namespace warpheap {

template <std::uint32_t Cells, std::uint32_t RandomSteps>
WARPHEAP_FN void basic_random_walk<Cells, RandomSteps>::set_size(std::uint64_t bytes) const {
  if (grid_thread_index() != 0) return;
  control_->space = probe_space{static_cast<std::uint32_t>(bytes / line_word::line_bytes)};
  // Lines that are added count as returned: what was refused before may be served now. A launch is between.
  atomic_view{control_->counters[0].value.returns}.fetch_add(1, memory_order::relaxed, thread_scope::device);
}

// A number that differs from call to call and from thread to thread.
template <std::uint32_t Cells, std::uint32_t RandomSteps>
WARPHEAP_FN std::uint64_t basic_random_walk<Cells, RandomSteps>::random_seed() const {
  const std::uint64_t thread = mix(grid_thread_index());
  if constexpr (this_backend == backend::cuda) return thread + cycle_count();
  // The host's clock would make a schedule that is replayed take other ways.
  return thread + atomic_view{counters().mine().walks}.fetch_add(1, memory_order::relaxed, thread_scope::device);
}

// What to search for; false if no heap of this size and place can serve it.
template <std::uint32_t Cells, std::uint32_t RandomSteps>
WARPHEAP_FN bool basic_random_walk<Cells, RandomSteps>::understand(std::uint64_t alignment, std::uint64_t bytes,
                                                                   request& wanted) const {
  if (bytes > capabilities.largest_bytes) return false;
  const auto pages = static_cast<std::uint32_t>(divide_up(bytes == 0 ? 1 : bytes, line_word::page_bytes));
  const auto lines = static_cast<std::uint32_t>(divide_up(pages, line_word::pages));
  if (alignment <= line_word::line_bytes) {
    // A block within a line begins at a multiple of its size, which is made a multiple of the alignment.
    const std::uint64_t aligned = alignment <= line_word::page_bytes ? 1 : alignment / line_word::page_bytes;
    const std::uint32_t rounded = lines == 1 ? static_cast<std::uint32_t>(align_up(pages, aligned)) : pages;
    wanted = {rounded, lines, lines, 0, true};
    return true;
  }
  const std::uint32_t count = control_->space.count();
  const auto begin = reinterpret_cast<std::uint64_t>(data_);
  const std::uint64_t phase = (align_up(begin, alignment) - begin) / line_word::line_bytes;
  const std::uint64_t stride = align_up(lines, alignment / line_word::line_bytes);
  if (phase >= count) return false;
  wanted = {pages, lines, static_cast<std::uint32_t>(stride < count ? stride : count),
            static_cast<std::uint32_t>(phase), false};
  return true;
}

// Takes up to `most` blocks of `size` pages in one line, and returns the pages that they begin with. None if at one
// moment the line had no place.
template <std::uint32_t Cells, std::uint32_t RandomSteps>
WARPHEAP_FN std::uint32_t basic_random_walk<Cells, RandomSteps>::take_in_line(std::uint32_t index, std::uint32_t size,
                                                                              std::uint32_t most) const {
  std::uint64_t seen = look(index);
  for (;;) {  // not a spin: a failed exchange means that another thread changed the line
    std::uint32_t picked = line_word::places(seen, size);
    if (picked == 0) return 0;
    if (static_cast<std::uint32_t>(popcount(picked)) > most) {
      picked &= low_bits(nth_set_bit(picked, static_cast<int>(most)));
    }
    const std::uint64_t taken = line_word::make(line_word::extent(picked, size), picked);
    if (line(index).compare_exchange(seen, seen | taken, memory_order::acq_rel, thread_scope::device)) return picked;
  }
}

// Takes blocks for the lanes of `waiting` in as many lines as `group` has lanes, from `first` on, each lane in one.
// Lanes that got one leave `waiting`. True if each line had no place at one moment. Collective.
template <std::uint32_t Cells, std::uint32_t RandomSteps>
WARPHEAP_FN bool basic_random_walk<Cells, RandomSteps>::take_in_lines(lane_mask group, lane_mask& waiting,
                                                                      std::uint32_t first, std::uint32_t size,
                                                                      found_place& place) const {
  const std::uint32_t count = control_->space.count();
  const auto rank = static_cast<std::uint32_t>(group_rank(group));
  std::uint32_t mine = first + rank;
  if (mine >= count) mine -= count;
  std::uint32_t offer = 0;
  if (rank < count) offer = static_cast<std::uint32_t>(popcount(line_word::places(look(mine), size)));
  const auto wanted = static_cast<std::uint32_t>(popcount(waiting));
  const std::uint32_t before = exclusive_scan(group, offer, std::uint32_t{0}, plus{});
  std::uint32_t got = 0;
  bool was_full = offer == 0;
  if (offer != 0 && before < wanted) {
    // Lower lanes give first, so that blocks of a warp lie together. None takes more than it offered, or a block would
    // be left over.
    got = take_in_line(mine, size, wanted - before < offer ? wanted - before : offer);
    was_full = got == 0;
  }
  const dealt block = deal(group, waiting, static_cast<std::uint32_t>(popcount(got)));
  const int source = block.served() ? block.source : lane_index();
  const std::uint32_t begins = shuffle(group, got, source);
  const std::uint32_t where = shuffle(group, mine, source);
  if (block.served()) {
    place = {where, static_cast<std::uint32_t>(nth_set_bit(begins, static_cast<int>(block.index))), true};
  }
  waiting = ballot(group, (waiting & lane_bit()) != 0 && !block.served());
  return all(group, was_full);
}

// The sums of all counters, before a search. Acquires.
template <std::uint32_t Cells, std::uint32_t RandomSteps>
WARPHEAP_FN typename basic_random_walk<Cells, RandomSteps>::quiescence basic_random_walk<Cells, RandomSteps>::observe()
    const {
  quiescence seen{true, 0, 0};
  WARPHEAP_ROLLED
  for (std::uint32_t i = 0; i < Cells; ++i) {
    const cell& some = control_->counters[i].value;
    const auto runs = some.runs.quiescence();
    seen.quiet = seen.quiet && runs.quiet;
    seen.begun += runs.begun;
    seen.returns += atomic_view{const_cast<cell&>(some).returns}.load(memory_order::acquire, thread_scope::device);
  }
  return seen;
}

// True if a search proved before that there is no place, and nothing came back since.
template <std::uint32_t Cells, std::uint32_t RandomSteps>
WARPHEAP_FN bool basic_random_walk<Cells, RandomSteps>::was_refused(const request& wanted,
                                                                    const quiescence& now) const {
  if (!wanted.noted) return false;
  const std::uint64_t note =
      atomic_view{control_->refusals[wanted.index()]}.load(memory_order::relaxed, thread_scope::device);
  return note / line_word::pages == now.returns + 1 && note % line_word::pages <= wanted.above_least();
}

// After a search of all lines that found nothing and an acquire fence: true if it cannot have missed a place, which is
// noted. `before` was observed before the search.
template <std::uint32_t Cells, std::uint32_t RandomSteps>
WARPHEAP_FN bool basic_random_walk<Cells, RandomSteps>::refuses(const request& wanted, const quiescence& before) const {
  const quiescence after = observe();
  if (!before.quiet || after.begun != before.begun || after.returns != before.returns) return false;
  if (wanted.noted) {
    // Relaxed: the note says something of a moment that `returns` names, whoever reads it.
    const std::uint64_t note = (before.returns + 1) * line_word::pages + wanted.above_least();
    atomic_view{control_->refusals[wanted.index()]}.store(note, memory_order::relaxed, thread_scope::device);
  }
  return true;
}

// Blocks within a line for all lanes of `group`, which want the same. Collective.
template <std::uint32_t Cells, std::uint32_t RandomSteps>
WARPHEAP_FN void* basic_random_walk<Cells, RandomSteps>::malloc_in_line(lane_mask group, const request& wanted) const {
  std::uint64_t seed = is_leader(group) ? random_seed() : 0;
  seed = shuffle(group, seed, leader(group));
  probe walk = probe::scattered(control_->space, seed);
  lane_mask waiting = group;
  found_place place{};
  std::uint32_t first = 0;
  for (std::uint32_t step = 0; step < RandomSteps && waiting != 0 && walk.next(first); ++step) {
    take_in_lines(group, waiting, first, wanted.pages, place);
  }
  if (waiting != 0) {
    const found_place searched = search_lines(group, waiting, wanted, first);
    if (!place.served) place = searched;
  }
  sync(group);  // what the lane that took a block acquired, its owner sees
  return place.served ? address(place.line, place.page) : nullptr;
}

// Reads all lines, from `start` on, until the lanes of `waiting` have a block or it is certain that no place is free.
// Collective.
template <std::uint32_t Cells, std::uint32_t RandomSteps>
WARPHEAP_COLD_FN typename basic_random_walk<Cells, RandomSteps>::found_place
basic_random_walk<Cells, RandomSteps>::search_lines(lane_mask group, lane_mask waiting, request wanted,
                                                    std::uint32_t start) const {
  const std::uint32_t count = control_->space.count();
  const auto lanes = static_cast<std::uint32_t>(group_size(group));
  const auto at = [=](std::uint32_t step) { return start + step < count ? start + step : start + step - count; };
  found_place place{};
  for (backoff wait;; wait.pause(), wait.end()) {  // a search is work, however long
    quiescence before{};
    bool refused = false;
    if (is_leader(group)) {
      before = observe();
      refused = was_refused(wanted, before);
    }
    if (any(group, refused)) return place;
    std::uint32_t step = 0;
    // Each turn of both loops is the same in all lanes.
    while (step < count && waiting != 0) {  // not a spin: each turn goes on, or serves a lane, or another thread did
      bool some = false;
      for (std::uint32_t i = 0; i < read_ahead; ++i) {
        const std::uint32_t mine = step + i * lanes + static_cast<std::uint32_t>(group_rank(group));
        if (mine < count) some |= line_word::places(look(at(mine)), wanted.pages) != 0;
      }
      const std::uint32_t end = step + read_ahead * lanes;
      if (!any(group, some)) step = end;
      while (step < end && step < count && waiting != 0) {  // not a spin: as above
        if (take_in_lines(group, waiting, at(step), wanted.pages, place)) step += lanes;
      }
    }
    if (waiting == 0) return place;
    fence(memory_order::acquire, thread_scope::device);  // each lane's own looks
    sync(group);
    if (any(group, is_leader(group) && refuses(wanted, before))) return place;
  }
}

// What line `nth` of a block that has lines of its own is.
template <std::uint32_t Cells, std::uint32_t RandomSteps>
WARPHEAP_FN std::uint64_t basic_random_walk<Cells, RandomSteps>::word_of(std::uint32_t nth, const request& wanted) {
  const std::uint32_t left = wanted.pages - nth * line_word::pages;
  return line_word::make(line_word::run(0, left < line_word::pages ? left : line_word::pages), nth == 0 ? 1 : 0);
}

// Takes the lines of a block from line `first` on, or nothing. One lane.
template <std::uint32_t Cells, std::uint32_t RandomSteps>
WARPHEAP_FN bool basic_random_walk<Cells, RandomSteps>::take_run(std::uint32_t first, const request& wanted) const {
  using enum memory_order;
  using enum thread_scope;
  // A look first, so that what is plainly not free disturbs nobody.
  WARPHEAP_ROLLED
  for (std::uint32_t nth = 0; nth < wanted.lines; ++nth) {
    if ((look(first + nth) & line_word::taken(word_of(nth, wanted))) != 0) return false;
  }
  cell& mine = counters().mine();
  if (wanted.lines > 1) mine.runs.begin();
  bool taken = true;
  WARPHEAP_ROLLED
  for (std::uint32_t nth = 0; nth < wanted.lines && taken; ++nth) {
    const std::uint64_t word = word_of(nth, wanted);
    std::uint64_t seen = look(first + nth);
    bool done = false;
    while (!done && (seen & line_word::taken(word)) == 0) {  // not a spin: another thread changed the line
      done = line(first + nth).compare_exchange(seen, seen | word, acq_rel, device);
    }
    if (done) continue;
    taken = false;
    // Releases as a return does: the next owner sees what the former one did.
    while (nth-- > 0) line(first + nth).fetch_and(~word_of(nth, wanted), release, device);
    break;
  }
  if (wanted.lines > 1) mine.runs.end();
  return taken;
}

// A block that has lines of its own. One lane; it waits only for lanes that are within `take_run`, which wait for
// nobody.
template <std::uint32_t Cells, std::uint32_t RandomSteps>
WARPHEAP_COLD_FN void* basic_random_walk<Cells, RandomSteps>::malloc_run(request wanted) const {
  const std::uint32_t count = control_->space.count();
  if (wanted.lines > count || wanted.phase > count - wanted.lines) return nullptr;
  const std::uint32_t places = (count - wanted.phase - wanted.lines) / wanted.stride + 1;
  const auto line_of = [=](std::uint32_t place) { return wanted.phase + place * wanted.stride; };
  const std::uint64_t seed = random_seed();
  std::uint32_t place = 0;
  for (std::uint32_t step = 0; step < RandomSteps; ++step) {
    place = split(std::uint64_t{split(mix(seed + step)).high} * places).high;
    if (take_run(line_of(place), wanted)) return address(line_of(place), 0);
  }
  for (backoff wait;; wait.pause(), wait.end()) {  // a search is work, however long
    const quiescence before = observe();
    if (was_refused(wanted, before)) return nullptr;
    std::uint32_t next = place;
    for (std::uint32_t step = 0; step < places;) {
      bool some = false;
      std::uint32_t ahead = next;
      for (std::uint32_t i = 0; i < read_ahead; ++i) {
        some |= (look(line_of(ahead)) & line_word::taken(word_of(0, wanted))) == 0;
        if (++ahead == places) ahead = 0;
      }
      for (std::uint32_t i = 0; i < read_ahead && step < places; ++i, ++step) {
        if (some && take_run(line_of(next), wanted)) return address(line_of(next), 0);
        if (++next == places) next = 0;
      }
    }
    fence(memory_order::acquire, thread_scope::device);
    if (refuses(wanted, before)) return nullptr;
  }
}

template <std::uint32_t Cells, std::uint32_t RandomSteps>
WARPHEAP_FN void* basic_random_walk<Cells, RandomSteps>::aligned_malloc(std::uint64_t alignment,
                                                                        std::uint64_t bytes) const {
  request wanted{};
  if (!understand(alignment, bytes, wanted)) return nullptr;
  if (wanted.lines > 1 || !wanted.noted) return malloc_run(wanted);
  // The control is aligned, so the sum names both the heap and the size.
  const lane_mask group = match(active_group(), reinterpret_cast<std::uint64_t>(control_) + wanted.pages);
  return malloc_in_line(group, wanted);
}

template <std::uint32_t Cells, std::uint32_t RandomSteps>
WARPHEAP_FN void basic_random_walk<Cells, RandomSteps>::free(void* block) const {
  const auto offset = static_cast<std::uint64_t>(static_cast<std::byte*>(block) - data_);
  const auto index = static_cast<std::uint32_t>(offset / line_word::line_bytes);
  const auto page = static_cast<std::uint32_t>(offset % line_word::line_bytes / line_word::page_bytes);
  const std::uint64_t word = look(index);  // the block's own bits stand still while it lives
  const std::uint32_t begin = line_word::run(page, 1);
  invariant((line_word::begins(word) & begin) != 0, "random_walk: a pointer is freed that no block begins at");
  const std::uint32_t pages = line_word::length(word, page);
  if (page + pages == line_word::pages && index + 1 < control_->space.count() && line_word::goes_on(look(index + 1))) {
    return free_run(index);
  }
  const lane_mask group = match(active_group(), reinterpret_cast<std::uint64_t>(control_));
  const lane_mask peers = match(group, index);
  const std::uint32_t taken = reduce(peers, line_word::run(page, pages), bit_or{});
  const std::uint32_t begins = reduce(peers, begin, bit_or{});
  sync(group);  // what each lane did to its block, before its leader gives it back
  if (is_leader(peers))
    line(index).fetch_and(~line_word::make(taken, begins), memory_order::release, thread_scope::device);
  sync(group);
  if (is_leader(group))
    atomic_view{counters().mine().returns}.fetch_add(1, memory_order::release, thread_scope::device);
  sync(group);  // no lane returns before that is counted
}

// Gives back a block of several lines, the last one first. One lane.
template <std::uint32_t Cells, std::uint32_t RandomSteps>
WARPHEAP_COLD_FN void basic_random_walk<Cells, RandomSteps>::free_run(std::uint32_t index) const {
  using enum memory_order;
  using enum thread_scope;
  const std::uint32_t count = control_->space.count();
  std::uint32_t last = index + 1;
  std::uint32_t pages = line_word::length(look(last), 0);
  while (pages == line_word::pages && last + 1 < count && line_word::goes_on(look(last + 1))) {
    pages = line_word::length(look(++last), 0);
  }
  for (; last > index; --last) {
    line(last).fetch_and(~line_word::make(line_word::run(0, pages), 0), release, device);
    pages = line_word::pages;
  }
  line(index).fetch_and(~line_word::make(line_word::run(0, pages), 1), release, device);
  atomic_view{counters().mine().returns}.fetch_add(1, release, device);
}

template <std::uint32_t Cells, std::uint32_t RandomSteps>
WARPHEAP_FN std::uint64_t basic_random_walk<Cells, RandomSteps>::usable_size(const void* block) const {
  const auto offset = static_cast<std::uint64_t>(static_cast<const std::byte*>(block) - data_);
  auto index = static_cast<std::uint32_t>(offset / line_word::line_bytes);
  auto page = static_cast<std::uint32_t>(offset % line_word::line_bytes / line_word::page_bytes);
  std::uint64_t pages = 0;
  for (bool more = true; more; ++index) {  // not a spin: a line of the block each turn
    const std::uint32_t here = line_word::length(look(index), page);
    pages += here;
    more =
        page + here == line_word::pages && index + 1 < control_->space.count() && line_word::goes_on(look(index + 1));
    page = 0;
  }
  return pages * line_word::page_bytes;
}

template <std::uint32_t Cells, std::uint32_t RandomSteps>
WARPHEAP_FN block_location basic_random_walk<Cells, RandomSteps>::locate(const void* pointer) const {
  const auto offset = reinterpret_cast<std::uint64_t>(pointer) - reinterpret_cast<std::uint64_t>(data_);
  const std::uint64_t bytes = std::uint64_t{control_->space.count()} * line_word::line_bytes;
  if (offset >= bytes) return block_location::outside;  // also what lies before
  const std::uint64_t word = look(static_cast<std::uint32_t>(offset / line_word::line_bytes));
  const std::uint32_t page =
      line_word::run(static_cast<std::uint32_t>(offset % line_word::line_bytes / line_word::page_bytes), 1);
  if ((line_word::taken(word) & page) == 0) return block_location::free;
  const bool begins = (line_word::begins(word) & page) != 0 && offset % line_word::page_bytes == 0;
  return begins ? block_location::block : block_location::inside;
}

template <std::uint32_t Cells, std::uint32_t RandomSteps>
WARPHEAP_FN void basic_random_walk<Cells, RandomSteps>::tally(random_walk_statistics& sums) const {
  random_walk_statistics mine{};
  for (std::uint64_t i = grid_thread_index(); i < control_->space.count(); i += grid_threads()) {
    const std::uint64_t word = look(static_cast<std::uint32_t>(i));
    const auto pages = static_cast<std::uint32_t>(popcount(line_word::taken(word)));
    ++mine.lines;
    if (pages == 0) ++mine.free_lines;
    if (pages == line_word::pages) ++mine.full_lines;
    mine.blocks += static_cast<std::uint64_t>(popcount(line_word::begins(word)));
    mine.pages += pages;
  }
  const auto add = [](std::uint64_t& sum, std::uint64_t more) {
    atomic_view{sum}.fetch_add(more, memory_order::relaxed, thread_scope::device);
  };
  add(sums.lines, mine.lines);
  add(sums.free_lines, mine.free_lines);
  add(sums.full_lines, mine.full_lines);
  add(sums.blocks, mine.blocks);
  add(sums.pages, mine.pages);
}

template <std::uint32_t Cells, std::uint32_t RandomSteps>
WARPHEAP_FN void basic_random_walk<Cells, RandomSteps>::count(allocator_counts& counts) const {
  std::uint64_t pages = 0;
  for (std::uint64_t i = grid_thread_index(); i < control_->space.count(); i += grid_threads()) {
    pages += static_cast<std::uint64_t>(popcount(line_word::taken(look(static_cast<std::uint32_t>(i)))));
  }
  atomic_view{counts.live_bytes}.fetch_add(pages * line_word::page_bytes, memory_order::relaxed, thread_scope::device);
}

}  // namespace warpheap
