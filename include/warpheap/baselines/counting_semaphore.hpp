// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/baselines/detail/counting_semaphore_word.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/sync.hpp>

namespace warpheap {

/// Counts units of a resource that can grow, and lets one thread at a time grow it while all others that lack units
/// wait: the baseline that `bulk_semaphore` is measured against.
///
/// It counts and knows nothing of the units themselves. A thread that was granted n units finds n in the structure that
/// holds them; so put units in before they are signalled, and take them out after they were granted.
///
/// A `grow` returns to its caller while other lanes may wait for what the caller brings. Lanes of the caller's own warp
/// let it go on only by the hardware's independent thread scheduling; a design must not rest on that
/// (`bulk_semaphore::wait` takes a callback instead), so none uses this semaphore.
///
/// Any subset of lanes may call, each thread one operation at a time. Zero bytes are a semaphore without units, which
/// its first user grows. Each semaphore has a line of the cache of its own.
///
/// Memory order: what a thread did before `signal` or `deliver` happens before what one does after a grant of those
/// units, or of any that were signalled later.
///
/// Gelado & Garland, Throughput-oriented GPU memory allocation, PPoPP 2019, section 3.2. There one integer is the count
/// or, as -1, tells that somebody grows; what a free does meanwhile it leaves open (docs/design/counting_semaphore.md).
class alignas(128) counting_semaphore {
 public:
  /// Units that a semaphore can count.
  static constexpr std::uint64_t capacity = detail::counting_word::max_count;
  /// Units that one request can be for; those of a group count together.
  static constexpr std::uint32_t largest_request = detail::counting_word::max_request;

  /// How a request ended.
  enum class outcome {
    granted,  ///< the units are the caller's
    grow,  ///< the caller must get what it lacks elsewhere, and then call `deliver` or `give_up`, whatever else happens
    failed  ///< the units are not to be had, and nothing is left of the request
  };
  /// Why a thread gives up growing.
  enum class cause {
    parent_empty,  ///< nothing is left to grow from; until a unit comes, a request that lacks one fails at once
    passing        ///< it may go better next time, so the next that lacks a unit grows
  };
  /// How a request ended, and how many units the caller has by it: those it asked for, or, with `grow`, all there were,
  /// fewer than it asked for.
  struct answer {
    outcome what;         ///< how it ended
    std::uint32_t units;  ///< that the caller has
  };
  /// How a request of a group ended: the lanes of `group` have `what` in common, `units` units in all, and asked for
  /// `wanted`.
  struct turn {
    outcome what;          ///< `grow` is for the leader of the group to do
    lane_mask group;       ///< the lanes, each of which was returned this same turn
    std::uint32_t units;   ///< that the group has
    std::uint32_t wanted;  ///< that it asked for
  };
  /// The counts at one instant, exact while no operation is under way.
  struct counts {
    std::int64_t available;  ///< units that are free; negative for a moment while requests are taken back
    bool growing;            ///< somebody grows
    bool parent_empty;       ///< the last growth found nothing, and no unit came since
  };

  /// Makes this a semaphore with `units` units. One thread calls, while no other uses the semaphore.
  WARPHEAP_FN void initialise(std::uint64_t units);

  /// Asks for `n` units, 1 to `largest_request`. Waits while fewer are there and a thread grows it; so that thread must
  /// not wait for threads that may be in here. With units to spare it costs one atomic add. `failed` if there are
  /// fewer, nobody grows, and the parent was found empty.
  WARPHEAP_FN answer wait(std::uint32_t n);

  /// As `wait`, and lanes that call together with the same `n` on the same semaphore ask as one. A group that fails
  /// asks lane by lane, so nobody fails whom the rest would serve.
  WARPHEAP_FN turn wait_together(std::uint32_t n);

  /// Takes `n` units if they are there; waits for no growth. False if fewer are there.
  WARPHEAP_FN bool try_wait(std::uint32_t n);

  /// Adds `n` units, which others get even while somebody grows. At most `capacity` may be there in all.
  WARPHEAP_FN void signal(std::uint64_t n);

  /// Ends a growth that went well; `rest` units are free beside those that the caller keeps.
  WARPHEAP_FN void deliver(std::uint64_t rest);

  /// Ends a growth that failed, and gives back the `units` units that came with it and any that were got in vain. The
  /// request has failed.
  WARPHEAP_FN void give_up(std::uint32_t units, cause why);

  /// As `give_up`, for a group: the lanes of `failed.group` call together with the turn that `wait_together` gave them,
  /// whose `units` the leader may have raised, and the same `n`. Each then asks for itself and is granted its units, or
  /// has failed; none is asked to grow.
  WARPHEAP_FN turn give_up_together(turn failed, std::uint32_t n, cause why);

  /// Says that there is something to grow from again; `signal` includes it.
  WARPHEAP_FN void parent_refilled();

  /// The counts now.
  WARPHEAP_FN counts count() const;

 private:
  using word = detail::counting_word;

  WARPHEAP_FN word load() const;
  WARPHEAP_FN bool take(std::uint32_t n);
  WARPHEAP_FN answer await_units(std::uint32_t n, bool may_grow);

  std::uint64_t bits_;
};

}  // namespace warpheap

#include <warpheap/baselines/detail/counting_semaphore.hpp>
