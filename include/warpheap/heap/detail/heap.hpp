// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <warpheap/heap/heap.hpp>

namespace warpheap {
namespace detail {

struct initialise_heap {
  template <class A>
  WARPHEAP_FN void operator()(A allocator) const {
    allocator.initialise();
  }
};

struct grow_heap {
  template <class A>
  WARPHEAP_FN void operator()(A allocator, std::uint64_t bytes) const {
    allocator.grow(bytes);
  }
};

struct count_heap {
  template <class A>
  WARPHEAP_FN void operator()(A allocator, allocator_counts* counts) const {
    allocator.count(*counts);
  }
};

// A grid that keeps every multiprocessor busy and leaves no long tail of blocks.
inline grid_shape upkeep_grid() { return {describe_machine().multiprocessors * std::uint64_t{4}, 256}; }

// Pieces small enough that a heap takes about what it asked for, large enough that mapping a big one is quick.
inline range_options pieces_for(std::uint64_t bytes, bool plain) {
  constexpr std::uint64_t largest = std::uint64_t{256} << 20;
  return {.piece_bytes = std::min(largest, std::max<std::uint64_t>(next_power_of_two(bytes) / 32, 1)), .plain = plain};
}

}  // namespace detail

template <device_allocator A>
heap<A>::heap(std::uint64_t bytes, heap_options options)
    : allocator_([&] {
        if (bytes == 0) throw std::invalid_argument("warpheap: a heap needs a size of at least 1 byte");
        require_size(bytes, "a heap");
        require_size(options.reserve_bytes, "a reservation for a heap");
        device_ = device_context::current();
        if constexpr (A::capabilities.stack_bytes != 0) {
          if (options.raise_stack_limit) reserve_call_stack(A::capabilities.stack_bytes);
        }
        if constexpr (A::capabilities.uses_arena) {
          ranges here = take_ranges(bytes, options, 0, 1);
          const A made{here.arena};
          if constexpr (names_least_heap<A>) {
            if (bytes < made.least_bytes()) {
              throw heap_too_small("warpheap: a heap of " + std::to_string(bytes) + " bytes serves nothing: `" +
                                   A::name + "` needs " + std::to_string(made.least_bytes()) + " bytes at least");
            }
          }
          blocks_.swap(here.blocks);
          metadata_.swap(here.metadata);
          arena_ = here.arena;
          return made;
        } else {
          arena_.bytes = toolkit_heap_reserve(bytes);
          return A{arena_};
        }
      }()) {
  launch(detail::upkeep_grid(), detail::initialise_heap{}, allocator_);
  synchronise();
  hide_blocks();
}

// Reserves addresses for a heap of `heap_bytes` bytes. A refusal tells what to set.
template <device_allocator A>
device_range heap<A>::reserve(std::uint64_t bytes, std::uint64_t heap_bytes, range_options options) {
  const auto advice = [&] {
    return "warpheap: no " + std::to_string(bytes) + " bytes of addresses are to be had for a heap of " +
           std::to_string(heap_bytes) + " bytes: set heap_options::reserve_bytes to less, or make fewer heaps";
  };
  try {
    return device_range{bytes, options};
  } catch (const launch_failure& refusal) {
    if (options.plain) throw;
    throw launch_failure(advice() + " (" + refusal.what() + ")");
  } catch (const std::system_error& refusal) {
    if (options.plain) throw;
    throw std::system_error(refusal.code(), advice());
  }
}

// Takes the memory for a heap whose blocks begin `phase` bytes after a multiple of `alignment`, a power of two.
template <device_allocator A>
auto heap<A>::take_ranges(std::uint64_t bytes, heap_options options, std::uint64_t phase,
                          std::uint64_t alignment) -> ranges {
  options.plain = options.plain || !device_can_map();
  ranges made = reserve_ranges(bytes, options, phase, alignment);
  made.blocks.commit(static_cast<std::uint64_t>(made.arena.data - made.blocks.data()), bytes);
  made.metadata.commit(0, A::metadata_bytes(bytes));
  device_fill(made.metadata.data(), 0, A::metadata_bytes(bytes));
  return made;
}

// Addresses by default are a wish: where they are refused it takes a quarter of them, so that others find some too.
template <device_allocator A>
auto heap<A>::reserve_ranges(std::uint64_t bytes, heap_options options, std::uint64_t phase,
                             std::uint64_t alignment) -> ranges {
  const bool by_default = options.reserve_bytes == 0 && !options.plain;
  if (by_default) options.reserve_bytes = std::min(describe_machine().memory_bytes, address_limit() / 4);
  std::uint64_t reserved = options.plain ? bytes : std::max(bytes, options.reserve_bytes);
  while (true) {
    try {
      const std::uint64_t slack = alignment - 1;
      ranges made{.blocks = reserve(reserved + slack, bytes, detail::pieces_for(bytes, options.plain)),
                  .metadata = {},
                  .arena = {}};
      const std::uint64_t lead = (phase - reinterpret_cast<std::uint64_t>(made.blocks.data())) & slack;
      const std::uint64_t room = options.plain ? bytes : made.blocks.reserved_bytes() - lead;
      made.metadata =
          reserve(A::metadata_bytes(room), bytes, detail::pieces_for(A::metadata_bytes(bytes), options.plain));
      made.arena = {made.blocks.data() + lead, bytes, room, made.metadata.data()};
      return made;
    } catch (const std::runtime_error&) {
      if (!by_default || reserved == bytes) throw;
      reserved = std::max(bytes, reserved / 4);
    }
  }
}

template <device_allocator A>
heap<A>::~heap() {
  if (blocks_.data() == nullptr) return;
  const scoped_device own{device_, std::nothrow};
  if (!own.is_current()) return;  // the device was reset, or the process ends: the memory is gone
  detail::await_launches();
  reveal_blocks();
}

template <device_allocator A>
heap<A>& heap<A>::operator=(heap&& other) noexcept {
  std::swap(device_, other.device_);
  blocks_.swap(other.blocks_);
  metadata_.swap(other.metadata_);
  std::swap(arena_, other.arena_);
  std::swap(allocator_, other.allocator_);
  trimmed_.swap(other.trimmed_);
  return *this;
}

template <device_allocator A>
void heap<A>::reset()
  requires(A::capabilities.reset)
{
  const scoped_device own{device_};
  synchronise();
  std::optional<unit_bits> units;  // before the first change, since it can be refused
  if constexpr (A::capabilities.trim_bytes != 0) {
    if (!trimmed_.empty()) units.emplace(arena_.bytes);
  }
  device_fill(metadata_.data(), 0, A::metadata_bytes(arena_.bytes));
  // The handle stays as it is, because copies of it are about: a heap that grew begins as it did and grows again.
  launch(detail::upkeep_grid(), detail::initialise_heap{}, allocator_);
  if constexpr (A::capabilities.grow) launch(detail::upkeep_grid(), detail::grow_heap{}, allocator_, arena_.bytes);
  if constexpr (A::capabilities.trim_bytes != 0) {
    if (units.has_value()) withdraw_again(*units);
  }
  synchronise();
  hide_blocks();
}

template <device_allocator A>
void heap<A>::grow(std::uint64_t bytes)
  requires(A::capabilities.grow)
{
  if (bytes <= arena_.bytes) return;
  if (!blocks_.can_map() || bytes > arena_.reserved_bytes) {
    throw std::length_error(
        "warpheap: a heap of " + std::to_string(arena_.bytes) + " bytes cannot grow to " + std::to_string(bytes) +
        (blocks_.can_map() ? ": it reserved " + std::to_string(arena_.reserved_bytes) +
                                 " bytes of addresses; ask for more in heap_options::reserve_bytes"
                           : std::string{": its memory is plain, not mapped; make it larger from the start"}));
  }
  const scoped_device own{device_};
  synchronise();
  const std::uint64_t had = A::metadata_bytes(arena_.bytes);
  const std::uint64_t needs = A::metadata_bytes(bytes);
  metadata_.commit(0, needs);
  try {
    // Not what lies below: some of it may be trimmed.
    const std::uint64_t from = whole_units();
    blocks_.commit(static_cast<std::uint64_t>(arena_.data - blocks_.data()) + from, bytes - from);
  } catch (...) {
    metadata_.decommit(had, align_up(needs, metadata_.piece_bytes()) - had);
    throw;
  }
  device_fill(metadata_.data() + had, 0, needs - had);
  if constexpr (A::capabilities.owners_alone_use_arena())
    shadow_poison(arena_.data + arena_.bytes, bytes - arena_.bytes);
  arena_.bytes = bytes;
  launch(detail::upkeep_grid(), detail::grow_heap{}, allocator_, bytes);
  synchronise();
}

template <device_allocator A>
relocation heap<A>::relocate(std::uint64_t bytes, relocation_options options)
  requires(A::capabilities.relocate)
{
  constexpr std::uint64_t largest = std::uint64_t{1} << 62;  // sums with what is larger could overflow
  if (bytes < arena_.bytes || bytes > largest) {
    throw std::length_error("warpheap: a heap of " + std::to_string(arena_.bytes) +
                            " bytes cannot move to a place of " + std::to_string(bytes) +
                            " bytes; ask for its size() or more");
  }
  if (!is_power_of_two(options.alignment) || options.alignment > largest) {
    throw std::invalid_argument("warpheap: a heap cannot move by a multiple of " + std::to_string(options.alignment) +
                                " bytes; ask for a power of two");
  }
  const scoped_device own{device_};
  synchronise();
  const std::uint64_t alignment = std::max(options.alignment, relocation_options::least_alignment);
  ranges there = take_ranges(bytes, {.reserve_bytes = options.reserve_bytes, .plain = !blocks_.can_map()},
                             reinterpret_cast<std::uint64_t>(arena_.data) & (alignment - 1), alignment);
  std::optional<unit_bits> trimmed;  // the new place has memory for them
  if constexpr (A::capabilities.trim_bytes != 0) {
    if (!trimmed_.empty()) {
      trimmed.emplace(arena_.bytes);
      std::copy(trimmed_.begin(), trimmed_.end(), trimmed->here.begin());
    }
  }
  allocator_.relocate(arena_, there.arena);
  // All is shown for the copy. What is no block stays so at the new place, until it is handed out and freed again.
  reveal_blocks();
  copy_data(there.arena.data);
  const A moved{there.arena};
  if constexpr (A::capabilities.trim_bytes != 0) {
    if (trimmed.has_value()) put_back(moved, *trimmed);
  }
  if (bytes != arena_.bytes) {
    if constexpr (A::capabilities.owners_alone_use_arena()) {
      shadow_poison(there.arena.data + arena_.bytes, bytes - arena_.bytes);
    }
    launch(detail::upkeep_grid(), detail::grow_heap{}, moved, bytes);
  }
  synchronise();
  const relocation by{static_cast<std::ptrdiff_t>(reinterpret_cast<std::uint64_t>(there.arena.data) -
                                                  reinterpret_cast<std::uint64_t>(arena_.data))};
  blocks_.swap(there.blocks);
  metadata_.swap(there.metadata);
  arena_ = there.arena;
  allocator_ = moved;
  trimmed_.clear();
  return by;
}

template <device_allocator A>
heap_statistics heap<A>::statistics() const {
  heap_statistics result{.reserved_bytes = A::capabilities.uses_arena ? blocks_.reserved_bytes() : arena_.bytes,
                         .committed_bytes = A::capabilities.uses_arena ? blocks_.committed_bytes() : arena_.bytes,
                         .metadata_bytes = metadata_.committed_bytes(),
                         .live_bytes = std::nullopt};
  if constexpr (A::capabilities.counts_live) {
    const scoped_device own{device_};
    const device_array<allocator_counts> counts(1);
    launch(detail::upkeep_grid(), detail::count_heap{}, allocator_, counts.data());
    // While kernels use the heap its parts are counted at different moments: the sum may be below 0, or more than there
    // is.
    const std::uint64_t live = counts.at(0).live_bytes;
    constexpr std::uint64_t largest = ~std::uint64_t{0} / 2;
    result.live_bytes = live > largest ? 0 : std::min(live, arena_.bytes);
  }
  return result;
}

// Memory that no block covers is hidden from AddressSanitizer; a block is shown to it when it is handed out.
template <device_allocator A>
void heap<A>::hide_blocks() const {
  if constexpr (A::capabilities.owners_alone_use_arena()) shadow_poison(arena_.data, arena_.bytes);
}

template <device_allocator A>
void heap<A>::reveal_blocks() const {
  if constexpr (A::capabilities.owners_alone_use_arena()) {
    shadow_unpoison(arena_.data, arena_.bytes);
  }
}

}  // namespace warpheap
