// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/device.hpp>
#include <warpheap/structures/per_multiprocessor.hpp>

namespace warpheap {

/// What a chunk header says, in 32 bits: the state of the chunk, and where the next chunk begins.
///
/// A header is in one of three states. `free`: any thread may lock the chunk. `allocated`: the chunk is a block, or the
/// end of the ring. Neither bit: a thread has locked the chunk, or the header is absorbed, that is, no chunk begins
/// there any more. Zero is an absorbed header.
struct ring_word {
  static constexpr std::uint32_t free = std::uint32_t{1} << 31;       ///< the chunk may be locked
  static constexpr std::uint32_t allocated = std::uint32_t{1} << 30;  ///< the chunk is a block, or the end
  static constexpr std::uint32_t most_units = allocated - 1;          ///< largest place that a link can name

  /// The place where the next chunk begins; 0 at the end of the ring.
  WARPHEAP_FN static constexpr std::uint32_t next(std::uint32_t word) { return word & most_units; }
};

/// A header of 32 bits, as of the authors' CF: one operation locks the chunk and returns its size, and it cannot fail.
struct fused_header {
  std::uint32_t word;  ///< a `ring_word`

  /// Returns the `ring_word`. Acquires.
  WARPHEAP_FN std::uint32_t look() { return atomic_view{word}.load(memory_order::acquire, thread_scope::device); }
  /// Locks the chunk, and returns its `ring_word` of the moment before; 0 if the chunk was not free. Acquires.
  WARPHEAP_FN std::uint32_t try_lock(std::uint32_t) {
    // A header that is not free has no such bit, so this changes nothing that another thread holds.
    const auto old = atomic_view{word}.fetch_and(~ring_word::free, memory_order::acquire, thread_scope::device);
    return (old & ring_word::free) != 0 ? old : 0;
  }
  /// Gives the header of a chunk that the caller holds its `ring_word`, after a release fence.
  WARPHEAP_FN void publish(std::uint32_t value) {
    atomic_view{word}.store(value, after_release_fence, thread_scope::device);
  }
  /// Makes an allocated chunk free, and returns its `ring_word` of the moment before. Releases.
  WARPHEAP_FN std::uint32_t give() {
    constexpr std::uint32_t both = ring_word::free | ring_word::allocated;
    return atomic_view{word}.fetch_xor(both, memory_order::release, thread_scope::device);
  }
};

/// A header of a lock and a link, 32 bits each, as of the authors' C. One exchange compares and changes both.
///
/// The original compares the lock alone, and then cuts the chunk with the link that it read before. If the chunk was
/// split meanwhile and its front given back, the two blocks overlap.
struct locked_header {
  std::uint64_t word;  ///< the state bits of a `ring_word` in the upper half, its link in the lower

  /// Returns the `ring_word`. Acquires.
  WARPHEAP_FN std::uint32_t look() {
    return narrow(atomic_view{word}.load(memory_order::acquire, thread_scope::device));
  }
  /// Locks the chunk if its `ring_word` is `seen`, which is free, and returns `seen`; 0 if it is another. Acquires.
  WARPHEAP_FN std::uint32_t try_lock(std::uint32_t seen) {
    std::uint64_t expected = wide(seen);
    const std::uint64_t locked = ring_word::next(seen);
    return atomic_view{word}.compare_exchange(expected, locked, memory_order::acquire, thread_scope::device) ? seen : 0;
  }
  /// Gives the header of a chunk that the caller holds its `ring_word`, after a release fence.
  WARPHEAP_FN void publish(std::uint32_t value) {
    atomic_view{word}.store(wide(value), after_release_fence, thread_scope::device);
  }
  /// Makes an allocated chunk free, and returns its `ring_word` of the moment before. Releases.
  WARPHEAP_FN std::uint32_t give() {
    constexpr std::uint64_t both = std::uint64_t{ring_word::free | ring_word::allocated} << 32;
    return narrow(atomic_view{word}.fetch_xor(both, memory_order::release, thread_scope::device));
  }

 private:
  WARPHEAP_FN static constexpr std::uint64_t wide(std::uint32_t value) {
    return std::uint64_t{value & ~ring_word::most_units} << 32 | ring_word::next(value);
  }
  WARPHEAP_FN static constexpr std::uint32_t narrow(std::uint64_t value) {
    return static_cast<std::uint32_t>(value >> 32) | static_cast<std::uint32_t>(value);
  }
};

/// What a `header_ring` is asked for: `units` units from a place on that is a multiple of `units`.
///
/// So an empty ring has as many places for one size as a ring in which such blocks were taken and given in any order:
/// no two of them ever need parts of one place.
struct ring_request {
  std::uint32_t units;  ///< 1 to `ring_word::most_units`

  /// True if a place from `at` on ends no later than `end`; `first` is that place.
  WARPHEAP_FN constexpr bool fits(std::uint32_t at, std::uint32_t end, std::uint32_t& first) const {
    if (end - at < units) return false;
    first = (at + units - 1) / units * units;
    return first + units <= end;
  }
};

/// What a `header_ring` is asked for: `units` units from a place on that is `phase` plus a multiple of `step`.
struct aligned_ring_request {
  std::uint32_t units;  ///< 1 to `ring_word::most_units`
  std::uint32_t step;   ///< `units` to 2^30 + 2^25
  std::uint32_t phase;  ///< at most 2^25

  /// As of `ring_request`.
  WARPHEAP_FN constexpr bool fits(std::uint32_t at, std::uint32_t end, std::uint32_t& first) const {
    if (end - at < units) return false;
    first = at <= phase ? phase : phase + (at - phase + step - 1) / step * step;
    return first + units <= end;
  }
};

/// A circular list of chunks that cover a range of units, each with a header that names the next: the structure of
/// Vinkler and Havran, Register Efficient Dynamic Memory Allocator for GPUs, HPG 2014 and Computer Graphics Forum 2015.
///
/// A view: the owner provides `bytes(units)` bytes of device memory, all zero at first, and calls `lay` and `finish`;
/// copies of the view are the same ring. `Header` is `fused_header` or `locked_header`. `Cursors` is the number of
/// cursors: 1, or about as many as there are multiprocessors.
///
/// A take walks the ring from a cursor on. It locks a free chunk, absorbs the free chunks after it as long as it is too
/// small, cuts its block out of it, and moves the cursor past the block. A thread that gets nothing from a chunk leaps
/// to a place of its own, up to `most_leaps` times, and then walks. A give makes the chunk free: one atomic operation.
///
/// The headers lie side by side in a table, one for each unit, and not before the blocks as in the original. So no
/// header becomes user data when its chunk is absorbed, and a thread that is late can do no harm there: an absorbed
/// header is not free, so no thread can lock it, and its link still leads forward along the ring.
///
/// Invariants. A header is free or allocated only if a chunk of the ring begins there. The chunks cover the range, and
/// the link of each is the begin of the next. The first header is never absorbed. The last one is allocated for ever
/// and its link is 0. Only the thread that locked a chunk, or the owner of an allocated one, changes its header and
/// what lies within it.
///
/// Null is certain. A walk from the first chunk to the end that neither found a locked or absorbed header, nor
/// overlapped with a take, has seen all that was free when it began: gives and merges only enlarge free chunks. Takes
/// are counted before they change a header. A walk that proves nothing is made again: then another thread took a chunk,
/// merged two, or had one locked, which it lets go of after a limited number of its own steps.
///
/// Null comes soon. A take whose walks others disturbed `most_walks` times adds itself to `provers`, and so does one
/// that was disturbed while others prove. A take that finds `provers` above zero locks nothing. It judges free chunks
/// side by side by the units that they have together, and walks on. So each other take disturbs a prover once at most:
/// one that looked at `provers` before, and locks after. A `give_and_connect` does so as well, once for each block, and
/// no new block comes. Then no walk is disturbed: each ends with a proof, or has seen a place. A prover leaves at the
/// end of such a walk. Takes that are no provers are not disturbed either, so none joins, `provers` falls to zero, and
/// those that have seen a place take it.
///
/// Invariants of the proof. A take is counted in `provers` from the end of one of its walks to the end of a later one,
/// and it locks nothing meanwhile. `provers` decides when threads go on, and no refusal rests on it.
///
/// Memory order: what a thread did before it gave a chunk happens before what the thread does that takes a part of it.
template <class Header, std::uint32_t Cursors>
class header_ring {
 public:
  static constexpr std::uint32_t none = ~std::uint32_t{0};  ///< no place

  /// What lies before the headers.
  struct state {
    alignas(128) std::uint32_t units;  ///< units of the ring; changes while no thread uses it
    alignas(128) std::uint32_t takes;  ///< takes that have locked their chunk, modulo 2^32
    /// Takes that prove a refusal. A take locks a chunk only after it read zero here.
    alignas(128) std::uint32_t provers;
    /// Where the takes of a multiprocessor begin: a place where a chunk begins or began. Hints.
    typename per_multiprocessor<std::uint32_t>::cell cursors[Cursors];
  };

  /// Leaps that a take makes, each thread to other places, until it walks from chunk to chunk. Threads that begin at
  /// one cursor are then apart.
  static constexpr std::uint32_t most_leaps = 32;
  /// What part of the ring a thread leaps to, in units of 2^-32, modulo the ring, is this times a number that each leap
  /// of each thread has for itself. By 2^32 over the golden ratio, neighbouring numbers are far apart in any ring.
  static constexpr std::uint32_t leap = 0x9e3779b9;

  /// Walks that others disturbed, the first one included, after which a take proves that there is no place. A proof
  /// keeps all others from taking for a walk or two, so it must be rare while places are free and contended for.
  static constexpr std::uint32_t most_walks = 7;

  /// Bytes of a ring of `units` units, at most `ring_word::most_units`.
  WARPHEAP_FN static constexpr std::uint64_t bytes(std::uint64_t units) {
    return sizeof(state) + (units + 1) * sizeof(Header);
  }

  /// The ring whose memory, aligned to 128 bytes, begins at `of`.
  WARPHEAP_FN explicit header_ring(state* of) : state_(of) {}

  /// Makes a free chunk from `begin` to `end` while no thread takes.
  WARPHEAP_FN void lay(std::uint32_t begin, std::uint32_t end) const { header(begin).publish(ring_word::free | end); }
  /// Makes `units` the end of the ring while no thread takes. One thread; chunks are laid up to there.
  WARPHEAP_FN void finish(std::uint32_t units) const {
    header(units).publish(ring_word::allocated);
    state_->units = units;
  }
  /// Puts cursor `index` to `at`, where a chunk begins, while no thread takes.
  WARPHEAP_FN void place_cursor(std::uint32_t index, std::uint32_t at) const { state_->cursors[index].value = at; }

  /// Takes what `wanted`, a `ring_request` or an `aligned_ring_request`, says. Returns the place where it begins, or
  /// `none`: at one moment of the call there was no such place. One lane. The call ends if the threads that have chunks
  /// locked or prove a refusal go on, and not every place that it sees is taken by another thread first. If no place is
  /// there all the time, other threads disturb a limited number of its walks.
  template <class Request>
  WARPHEAP_FN std::uint32_t take(Request wanted) const;

  /// Gives the chunk back that a take returned as `place`. One lane. The caller's accesses happen before those of the
  /// next owner.
  WARPHEAP_FN void give(std::uint32_t place) const {
    [[maybe_unused]] const std::uint32_t before = header(place).give();
    invariant((before & ring_word::allocated) != 0, "header_ring: a chunk is given back that was not taken");
  }
  /// As `give`; if the next chunk is free, the chunk absorbs it first.
  WARPHEAP_FN void give_and_connect(std::uint32_t place) const;

  /// The header at `place` as a `ring_word`. Exact if the caller owns the chunk there, or no thread uses the ring.
  WARPHEAP_FN std::uint32_t look(std::uint32_t place) const { return header(place).look(); }
  WARPHEAP_FN std::uint32_t units() const { return state_->units; }  ///< units of the ring
  /// The cursors.
  WARPHEAP_FN per_multiprocessor<std::uint32_t> cursors() const { return {state_->cursors, Cursors}; }

 private:
  WARPHEAP_FN Header& header(std::uint32_t place) const { return reinterpret_cast<Header*>(state_ + 1)[place]; }

  // What a take knows of its walks, in one register.
  static constexpr std::uint32_t disturbed = 1;            // this walk overlapped with a take, or saw a locked header
  static constexpr std::uint32_t barred = 2;               // this walk saw a place while `provers` was not zero
  static constexpr std::uint32_t proving = 4;              // the take is counted in `provers`
  static constexpr std::uint32_t proved = 8;               // it was, and is refused
  static constexpr std::uint32_t one_walk = 16;            // disturbed walks, up to `most_walks`
  static constexpr std::uint32_t walks = 7 * one_walk;     // their bits
  static constexpr std::uint32_t one_leap = 8 * one_walk;  // leaps that are left
  static_assert(most_walks * one_walk <= walks);

  WARPHEAP_FN std::uint32_t begin_near(std::uint32_t fraction, std::uint32_t wanted) const;
  WARPHEAP_FN void carve(std::uint32_t at, std::uint32_t next, std::uint32_t first, std::uint32_t units) const;
  template <class Request>
  WARPHEAP_FN std::uint32_t visit(std::uint32_t at, std::uint32_t& next, const Request& wanted,
                                  std::uint32_t& doubt) const;

  state* state_;
};

}  // namespace warpheap

#include <warpheap/structures/detail/header_ring.hpp>
