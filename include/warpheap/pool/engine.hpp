// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>

namespace warpheap {

/// What a segment is. The segments of an engine are disjoint and cover what was given to it.
enum class segment_state : std::uint8_t {
  unused,  ///< not a segment
  free,    ///< memory that can be handed out
  live,    ///< handed out
  absent,  ///< addresses without memory
};

/// Names a segment of one engine for as long as it exists; splitting and merging end segments and make new ones.
using segment_handle = std::uint32_t;
/// The handle of no segment.
inline constexpr segment_handle no_segment = 0;
/// An engine refuses requests of more bytes, or with a larger alignment, so that its sums do not overflow.
inline constexpr std::uint64_t most_request = std::uint64_t{1} << 62;

/// A segment as it is now: addresses `[begin, begin + bytes)`.
struct segment_view {
  segment_handle handle;  ///< its name in the engine
  std::uint64_t begin;    ///< its first address
  std::uint64_t bytes;    ///< its size
  segment_state state;    ///< what it is
};

/// What a pool needs from the book that it keeps of its addresses.
///
/// An engine knows numbers only: it never reads or writes the memory, so the addresses can be a GPU's. All addresses,
/// sizes and alignments are bytes; all but what `allocate` asks for are multiples of the granule that the engine was
/// made with. Not thread-safe. A member that needs host memory for its book takes it before it changes anything, so
/// when it throws `std::bad_alloc` the engine is as before.
///
/// - `adopt(begin, bytes, state)`: takes addresses in, which it does not know yet, as a segment of that state. Unless
///   that is live, it may merge with segments of its state that it touches. Returns the segment that the addresses then
///   lie in.
/// - `allocate(bytes, alignment)`: a live segment of at least `bytes` whose begin is a multiple of `alignment`, a power
///   of two; `no_segment` exactly if no free segment can hold it.
/// - `allocate(bytes, alignment, most)`: as before, but the segment takes in what is free after it, up to `most` bytes
///   in all.
/// - `deallocate(handle)`: makes a live segment free and merges it with free neighbours; returns what it became.
/// - `change(handle, begin, bytes, state)`: gives a part of a segment another state: splits it off, and merges it with
///   neighbours of its new state, except if that is live. Returns the segment that the part then lies in.
/// - `drop(handle)`: forgets a segment and its addresses.
/// - `find(begin)`: the live segment that begins there, or `no_segment`.
/// - `at`, `before`, `after`: a segment, and the one that ends where it begins or begins where it ends, if known.
/// - `for_each(f)`, `for_each_free(bytes, f)`, `for_each_absent(f)`: call `f(segment_view)` for all segments; for free
///   ones of at least `bytes`; for absent ones; in no promised order. `f` must not change the engine.
/// - `clear()`: forgets all.
template <class E>
concept segment_engine = std::constructible_from<E, std::uint64_t> &&
                         requires(E engine, const E& constant, segment_handle handle, std::uint64_t number,
                                  segment_state state, void (*visit)(const segment_view&)) {
                           { engine.adopt(number, number, state) } -> std::same_as<segment_handle>;
                           { engine.allocate(number, number) } -> std::same_as<segment_handle>;
                           { engine.allocate(number, number, number) } -> std::same_as<segment_handle>;
                           { engine.deallocate(handle) } -> std::same_as<segment_handle>;
                           { engine.change(handle, number, number, state) } -> std::same_as<segment_handle>;
                           engine.drop(handle);
                           engine.clear();
                           { constant.find(number) } -> std::same_as<segment_handle>;
                           { constant.at(handle) } -> std::same_as<segment_view>;
                           { constant.before(handle) } -> std::same_as<segment_handle>;
                           { constant.after(handle) } -> std::same_as<segment_handle>;
                           { constant.granule() } -> std::same_as<std::uint64_t>;
                           { constant.bytes_in(state) } -> std::same_as<std::uint64_t>;
                           { constant.segments_in(state) } -> std::same_as<std::uint64_t>;
                           { constant.largest_free() } -> std::same_as<std::uint64_t>;
                           { constant.bookkeeping_bytes() } -> std::same_as<std::uint64_t>;
                           constant.for_each(visit);
                           constant.for_each_free(number, visit);
                           constant.for_each_absent(visit);
                         };

}  // namespace warpheap
