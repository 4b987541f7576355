// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <warpheap/sync.hpp>

namespace warpheap::test {

/// SRCU as the papers' text reads when taken by the letter: an epoch, two reader counters, a barrier that moves the
/// epoch on once and waits for the counter of the epoch before. A reader that has looked at the epoch and is not
/// counted yet can be counted under an epoch that is over, and the grace period after next does not wait for it.
class plain_srcu {
 public:
  struct ticket {
    std::uint32_t side;
  };

  WARPHEAP_FN ticket enter() {
    using enum memory_order;
    const std::uint32_t side = atomic_view{epoch_}.load(seq_cst, thread_scope::device) & 1;
    atomic_view{readers_[side]}.fetch_add(1, seq_cst, thread_scope::device);
    return {side};
  }
  WARPHEAP_FN void leave(ticket at) {
    atomic_view{readers_[at.side]}.fetch_sub(1, memory_order::release, thread_scope::device);
  }
  WARPHEAP_FN void synchronise() {
    using enum memory_order;
    // Not `hold`, by which the writers of a warp go on together: the gap needs one of them to be ahead of the other.
    for (backoff wait; !turn_.try_acquire();) wait.pause();
    const std::uint32_t before = atomic_view{epoch_}.fetch_add(1, seq_cst, thread_scope::device) & 1;
    const atomic_view left{readers_[before]};
    for (backoff wait; left.load(seq_cst, thread_scope::device) != 0;) wait.pause();
    turn_.release();
  }

 private:
  std::uint32_t epoch_;
  std::uint32_t readers_[2];
  spin_lock turn_;
};

/// One object at a time is current; a writer replaces it, waits, and marks the old one dead, which no reader may see.
template <class Domain>
struct replaced {
  static constexpr std::uint32_t objects = 512;
  static constexpr std::uint32_t alive = 1, dead = 2;

  Domain domain;
  std::uint32_t current;
  std::uint32_t next;  // the number of the next object
  std::uint32_t seen_dead;
  std::uint32_t state[objects];
};

/// In each block the first lanes write and the others read.
struct replace_kernel {
  template <class Domain>
  WARPHEAP_FN void operator()(replaced<Domain>* shared, std::uint32_t writers, int times) const {
    using enum memory_order;
    using enum thread_scope;
    const atomic_view current{shared->current};
    for (int i = 0; i < times; ++i) {
      if (thread_index() < writers) {
        const std::uint32_t number = 1 + atomic_view{shared->next}.fetch_add(1, relaxed, device);
        if (number >= shared->objects) return;
        atomic_view{shared->state[number]}.store(shared->alive, relaxed, device);
        const std::uint32_t old = current.exchange(number, acq_rel, device);
        shared->domain.synchronise();
        atomic_view{shared->state[old]}.store(shared->dead, relaxed, device);
      } else {
        const auto at = shared->domain.enter();
        const atomic_view state{shared->state[current.load(acquire, device)]};
        for (int look = 0; look < 12; ++look) {
          if (state.load(relaxed, device) == shared->dead) atomic_view{shared->seen_dead}.fetch_or(1, relaxed, device);
        }
        shared->domain.leave(at);
      }
    }
  }
};

}  // namespace warpheap::test
