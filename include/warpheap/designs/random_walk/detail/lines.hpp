// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/allocator/device.hpp>
#include <warpheap/designs/random_walk/detail/quiescence.hpp>
#include <warpheap/platform/device.hpp>

namespace warpheap::detail {

/// The lines of a heap: their words, their addresses, and blocks that are taken there and given back.
///
/// The lowest part of `random_walk` that holds addresses. Each part above has the part below as its only member, so a
/// kernel carries them once, and a part can call only what lies below it.
///
/// Invariant: `line_word` says what a word tells. A page that is taken is its taker's until the taker gives it back.
/// A run of lines that fails holds its first lines for a moment, within `begin_run` and `end_run`.
///
/// Memory order: an exchange that takes pages acquires, so the new owner sees what the former one did. It releases,
/// too: a search that finds the pages taken knows of the returns of their owner, and of a run that the owner has begun.
/// What gives pages back releases. Looks are relaxed.
template <class Layout>
class walk_lines {
 public:
  using control_type = typename Layout::control;
  using quiescence_type = walk_quiescence<Layout>;

  WARPHEAP_FN explicit walk_lines(const arena& from)
      : data_(from.data), control_(reinterpret_cast<control_type*>(from.metadata)), initial_bytes_(from.bytes) {}

  WARPHEAP_FN control_type& control() const { return *control_; }
  WARPHEAP_FN quiescence_type changes() const { return quiescence_type{*control_}; }
  /// Key by which lanes that use the same heap find each other. Its low 7 bits are 0.
  WARPHEAP_FN std::uint64_t key() const { return reinterpret_cast<std::uint64_t>(control_); }
  /// Bytes that the arena has before it grows.
  WARPHEAP_FN std::uint64_t initial_bytes() const { return initial_bytes_; }

  WARPHEAP_FN std::uint32_t count() const { return control_->space.count(); }  ///< number of lines
  WARPHEAP_FN std::uint64_t begin() const { return reinterpret_cast<std::uint64_t>(data_); }
  WARPHEAP_FN void* address(walk_place at) const {
    return data_ + std::uint64_t{at.line} * line_word::line_bytes + at.page * line_word::page_bytes;
  }
  /// The line and the page of a byte of the heap.
  WARPHEAP_FN walk_place place_of(const void* byte) const {
    const std::uint64_t offset = reinterpret_cast<std::uint64_t>(byte) - begin();
    return {static_cast<std::uint32_t>(offset / line_word::line_bytes),
            static_cast<std::uint32_t>(offset % line_word::line_bytes / line_word::page_bytes), true};
  }
  /// The word of a line at one moment. A guess: exchanges decide. The bits of a block stand still while it lives.
  WARPHEAP_FN std::uint64_t look(std::uint32_t index) const {
    return word(index).load(memory_order::relaxed, thread_scope::device);
  }

  /// Takes up to `most` blocks of `size` pages in one line, and returns the pages that they begin with. None if at one
  /// moment the line had no place. One lane.
  WARPHEAP_FN std::uint32_t take(std::uint32_t index, std::uint32_t size, std::uint32_t most) const {
    std::uint64_t seen = look(index);
    for (;;) {  // not a spin: a failed exchange means that another thread changed the line
      std::uint32_t picked = line_word::places(seen, size);
      if (picked == 0) return 0;
      if (static_cast<std::uint32_t>(popcount(picked)) > most) {
        picked &= low_bits(nth_set_bit(picked, static_cast<int>(most)));
      }
      const std::uint64_t taken = line_word::make(line_word::extent(picked, size), picked);
      if (word(index).compare_exchange(seen, seen | taken, memory_order::acq_rel, thread_scope::device)) return picked;
    }
  }
  /// Gives back pages of one line, as `line_word::make` has them. One lane.
  WARPHEAP_FN void give(std::uint32_t index, std::uint64_t pages) const {
    word(index).fetch_and(~pages, memory_order::release, thread_scope::device);
  }

  /// Takes the lines of a block from line `first` on, or nothing. Waits for nobody, and meets no other lane. One lane.
  WARPHEAP_COLD_FN bool take_run(std::uint32_t first, walk_request wanted) const {
    // A look first, so that what is plainly not free disturbs nobody.
    WARPHEAP_ROLLED
    for (std::uint32_t nth = 0; nth < wanted.lines; ++nth) {
      if ((look(first + nth) & line_word::taken(wanted.word_of(nth))) != 0) return false;
    }
    if (wanted.lines > 1) changes().begin_run();
    std::uint32_t had = 0;
    while (had < wanted.lines && take_exactly(first + had, wanted.word_of(had))) ++had;  // not a spin: a line a turn
    const bool whole = had == wanted.lines;
    // Putting back releases as giving does: the next owner sees what the former one did.
    while (!whole && had != 0) {  // not a spin: a line a turn
      --had;
      give(first + had, wanted.word_of(had));
    }
    if (wanted.lines > 1) changes().end_run();
    return whole;
  }
  /// Gives back a block of several lines that begins with line `first`, the last line first. So a line that begins with
  /// a page of such a block always follows a line of it. One lane.
  WARPHEAP_COLD_FN void give_run(std::uint32_t first) const {
    std::uint32_t last = first;
    std::uint32_t pages = line_word::length(look(last), 0);
    while (goes_on_after(last, pages)) pages = line_word::length(look(++last), 0);  // not a spin: a line a turn
    for (; last > first; --last) {
      give(last, line_word::make(line_word::run(0, pages), 0));
      pages = line_word::pages;
    }
    give(first, line_word::make(line_word::run(0, pages), 1));
  }

  /// True if a block that has the pages of line `index` below page `end` goes on in the next line.
  WARPHEAP_FN bool goes_on_after(std::uint32_t index, std::uint32_t end) const {
    return end == line_word::pages && index + 1 < count() && line_word::goes_on(look(index + 1));
  }

 private:
  WARPHEAP_FN atomic_view<std::uint64_t> word(std::uint32_t index) const {
    return atomic_view{reinterpret_cast<std::uint64_t*>(control_ + 1)[index]};
  }
  // Takes these pages of one line, or nothing.
  WARPHEAP_FN bool take_exactly(std::uint32_t index, std::uint64_t pages) const {
    std::uint64_t seen = look(index);
    while ((seen & line_word::taken(pages)) == 0) {  // not a spin: another thread changed the line
      if (word(index).compare_exchange(seen, seen | pages, memory_order::acq_rel, thread_scope::device)) return true;
    }
    return false;
  }

  // Kernels get these fields by value, so no byte of them is padding.
  std::byte* data_;
  control_type* control_;
  std::uint64_t initial_bytes_;
};

}  // namespace warpheap::detail
