// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/device.hpp>

namespace warpheap {

/// Counts the users of something that changes its kind while it has none: *enter before touch*. One 32-bit word; zero
/// is a gate that is open and has no occupants.
///
/// A thread enters before it looks at what the gate guards, and leaves when it has done with it. The last occupant that
/// leaves closes the gate: it alone may then change what is guarded, and it opens the gate again. A thread may also
/// close a gate that has no occupants. Nobody waits: an enter that meets a closed or a full gate is refused, and the
/// caller goes elsewhere.
///
/// Invariant: the word is the number of occupants, or `closed`. It is `closed` from the change that found 0 up to the
/// `reopen` of the thread that made it; meanwhile no thread is inside, and the word does not change. A refused enter
/// changes nothing, so no thread ever sees a count that includes one.
///
/// Memory order: an occupant sees what was written before the `reopen` that it entered after. The thread that closes
/// the gate sees all that former occupants did before they left.
class occupancy_gate {
 public:
  static constexpr std::uint32_t closed = ~std::uint32_t{0};  ///< the word while one thread has the gate to itself
  static constexpr std::uint32_t most = closed - 1;           ///< the largest limit

  /// The gate whose word is `word`.
  WARPHEAP_FN explicit occupancy_gate(std::uint32_t& word) : word_(&word) {}

  /// Enters with `count` occupants, 1 or more, unless there would then be more than `limit`, at most `most`, or the
  /// gate is closed: all of them or none. `before` is what the word was, so `closed` tells both refusals apart. True
  /// if they are in. Acquires. One lane.
  WARPHEAP_FN bool try_enter(std::uint32_t count, std::uint32_t limit, std::uint32_t& before) const {
    return enter_some(count, count, limit, before) != 0;
  }

  /// Enters with as many of `count` occupants as `limit` leaves room for, and returns how many that are; 0 if the gate
  /// is full or closed. `before` is what the word was. Acquires if it is not 0. One lane.
  WARPHEAP_FN std::uint32_t enter(std::uint32_t count, std::uint32_t limit, std::uint32_t& before) const {
    return enter_some(1, count, limit, before);
  }

  /// Leaves with `count` occupants that are inside. True if these were the last: then the caller has closed the gate,
  /// holds it, and must `reopen` it. Releases; acquires if true. One lane.
  WARPHEAP_FN bool leave(std::uint32_t count) const;

  /// Closes the gate if it is open and has no occupants. True if the caller holds it now, and must `reopen` it.
  /// Acquires. One lane.
  WARPHEAP_FN bool try_close() const;

  /// Opens the gate that the caller holds closed, with `count` occupants of its own. Releases. One lane.
  WARPHEAP_FN void reopen(std::uint32_t count = 0) const;

  /// For gates with two kinds of occupants, of which the heavy ones weigh `heavy` each, a power of two, and the others
  /// 1: the caller, inside as a heavy one, leaves and enters with as many of `count` light ones as there may be with
  /// `limit`, at most `heavy`. Returns how many; if 0, nothing changes. The gate does not close meanwhile. Acquires and
  /// releases. One lane.
  WARPHEAP_FN std::uint32_t settle(std::uint32_t heavy, std::uint32_t count, std::uint32_t limit) const;

  /// The word: occupants, or `closed`. A hint while others enter and leave.
  WARPHEAP_FN std::uint32_t look() const {
    return atomic_view{*word_}.load(memory_order::relaxed, thread_scope::device);
  }

 private:
  WARPHEAP_FN std::uint32_t enter_some(std::uint32_t least, std::uint32_t count, std::uint32_t limit,
                                       std::uint32_t& before) const;

  std::uint32_t* word_;
};

// Orders. Each change of the word but that of `reopen` is a read-modify-write, so what one occupant released on its way
// out reaches the thread that closes the gate through the changes of others.

WARPHEAP_FN inline std::uint32_t occupancy_gate::enter_some(std::uint32_t least, std::uint32_t count,
                                                            std::uint32_t limit, std::uint32_t& before) const {
  using enum memory_order;
  using enum thread_scope;
  const atomic_view word{*word_};
  // Relaxed: decides only whether to try. A look spares a full gate the traffic of all that come by.
  before = word.load(relaxed, device);
  for (;;) {  // not a spin: each turn means that another thread came in or left
    // A closed gate has the largest value, above any limit.
    if (before >= limit || limit - before < least) return 0;
    const std::uint32_t room = limit - before;
    const std::uint32_t enters = count < room ? count : room;
    // Acquire: what is guarded was made ready before the gate was opened.
    if (word.compare_exchange(before, before + enters, acquire, device)) return enters;
  }
}

WARPHEAP_FN inline bool occupancy_gate::leave(std::uint32_t count) const {
  // Release: what the occupant did comes before what the thread does that closes the gate. Acquire: that thread may be
  // the caller, and others have left before.
  const std::uint32_t before = atomic_view{*word_}.fetch_sub(count, memory_order::acq_rel, thread_scope::device);
  invariant(before >= count && before != closed, "occupancy_gate: more left than were inside");
  // Between the two changes others may enter; then the last of those closes the gate.
  return before == count && try_close();
}

WARPHEAP_FN inline bool occupancy_gate::try_close() const {
  std::uint32_t none = 0;
  // Acquire: the last occupants may have come and gone since the caller looked.
  return atomic_view{*word_}.compare_exchange(none, closed, memory_order::acquire, thread_scope::device);
}

WARPHEAP_FN inline std::uint32_t occupancy_gate::settle(std::uint32_t heavy, std::uint32_t count,
                                                        std::uint32_t limit) const {
  using enum memory_order;
  using enum thread_scope;
  const atomic_view word{*word_};
  // Relaxed: decides only what to try.
  std::uint32_t seen = word.load(relaxed, device);
  for (;;) {  // not a spin: each turn means that another thread came in or left
    const std::uint32_t light = seen & (heavy - 1);
    const std::uint32_t room = light < limit ? limit - light : 0;
    const std::uint32_t enters = count < room ? count : room;
    if (enters == 0) return 0;
    // Orders as in `leave`, and as in `try_enter`.
    if (word.compare_exchange(seen, seen - heavy + enters, acq_rel, device)) return enters;
  }
}

WARPHEAP_FN inline void occupancy_gate::reopen(std::uint32_t count) const {
  invariant(look() == closed, "occupancy_gate: a gate is opened that was not closed");
  // Release: what the holder wrote comes before what the next occupants read. A store is enough, since nobody else
  // changes the word of a closed gate.
  atomic_view{*word_}.store(count, memory_order::release, thread_scope::device);
}

}  // namespace warpheap
