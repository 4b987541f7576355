// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/device.hpp>
#include <warpheap/sync/detail/bulk_semaphore_word.hpp>
#include <warpheap/sync/warp_request.hpp>

namespace warpheap {

/// Counts units of a resource that comes in batches, and says who makes a batch when units run out: as many threads at
/// once as batches are needed, while the others wait for what those make.
///
/// It counts and knows nothing of the units themselves. A thread that was granted n units finds n in the structure that
/// holds them; so put units in before they are signalled, and take them out after they were granted.
///
/// Any subset of lanes may call, each thread one operation at a time. All calls on one semaphore name the same `batch`.
/// Units in existence are at most `capacity`. Zero bytes are a semaphore without units. Each semaphore has a line of
/// the cache of its own.
///
/// Memory order: what a thread did before `signal` or `deliver` happens before what one does after a grant of those
/// units, or of any that were signalled later.
///
/// Gelado & Garland, Throughput-oriented GPU memory allocation, PPoPP 2019. Where we differ: docs/design/
/// bulk_semaphore.md.
class alignas(128) bulk_semaphore {
 public:
  /// Units that a semaphore can count.
  static constexpr std::uint64_t capacity = detail::bulk_word::max_balance;
  /// Units that one request can wait for; those of a group count together.
  static constexpr std::uint32_t largest_request = detail::bulk_word::max_quick;
  /// Batches that can be in the making at once. Batches for requests of one unit a lane may exceed the bound; another
  /// producer waits until there is room.
  static constexpr std::uint32_t most_producers = detail::bulk_word::max_producers;

  /// How a request ended.
  enum class outcome {
    granted,   ///< the units are the caller's, among those of the structure that holds them
    produced,  ///< the caller made a batch and kept its units of it
    failed     ///< the units are not to be had, and nothing is left of the request
  };
  /// What came of making a batch.
  enum class production {
    made,          ///< the batch is there, but for the units that the caller keeps
    parent_empty,  ///< there is nothing to make a batch of; until a unit comes, a request that lacks one fails at once
    passing        ///< none now; it may go better next time, so the next that lacks a unit makes one
  };
  /// How a request of a group ended: the lanes of `group` have `outcome` in common, and `units` units in all. After
  /// `produced` the leader's `make` kept them.
  struct turn {
    outcome what;         ///< how it ended
    lane_mask group;      ///< the lanes, each of which was returned this same turn
    std::uint32_t units;  ///< what the request of the group was for
  };
  /// The counts at one instant, exact while no operation is under way.
  struct counts {
    std::int64_t available;  ///< units that are free and not spoken for; negative: how many more are asked for
    std::uint64_t expected;  ///< batches in the making
    std::uint64_t reserved;  ///< units asked for by requests that wait or produce
    bool parent_empty;       ///< a producer said so, and no unit came since
  };

  /// Where a request stands that was taken in steps.
  enum class standing {
    granted,   ///< it ended: the units are the caller's
    failed,    ///< it ended: the units are not to be had
    produces,  ///< the caller must make a batch now, and then call `deliver` or `give_up`, whatever else happens
    waits      ///< neither yet
  };
  /// A request that is taken in steps: `ask` makes it, the other steps move it on. Each thread keeps its own.
  class request {
   public:
    /// Where it stands.
    WARPHEAP_FN standing what() const { return what_; }

   private:
    friend class bulk_semaphore;

    // How far it has come: nothing of it is in the word; its debt is entered, with few before it, or many.
    enum class stage : std::uint8_t { asks, near, entered };

    standing what_ = standing::waits;
    stage at_ = stage::asks;
    bool one_each_ = false;    // one unit for each lane, or more
    bool may_produce_ = true;  // the caller can be asked to
    bool elected_ = false;     // its debt began a batch, which seems to be lacking yet
    bool claimed_ = false;     // its turn has come before
    std::uint32_t n_ = 0;      // units
    std::uint32_t pauses_ = 0;
    std::uint64_t batch_ = 0;
    std::uint64_t turn_ = 0;   // of `supplied_`, when what it waits for should have come
    std::uint64_t ahead_ = 0;  // units that had to come then
  };

  /// Makes this a semaphore with `units` units. One thread calls, while no other uses the semaphore.
  WARPHEAP_FN void initialise(std::uint64_t units);

  /// Asks for `n` units, 1 to `largest_request` and at most `batch`. Waits while all that are asked for are on hand or
  /// being made, and calls `make()`, which returns a `production`, when the caller is the one to make a batch: at most
  /// once. With units to spare it costs one atomic add, and a load that nothing waits for.
  ///
  /// `failed` if a producer found the parent empty, all requests together want more than is on hand and being made, and
  /// what is on hand and not taken is less than `n`.
  ///
  /// Progress: `make` must not wait for a thread that may be in this call. Lanes of a warp that call together meet
  /// before they wait, and a producer is there only when its batch is made. So no lane that waits keeps a producer of
  /// its warp from executing, whatever the scheduler of the warp prefers.
  template <class Make>
  WARPHEAP_FN outcome wait(std::uint32_t n, std::uint64_t batch, Make make);

  /// As `wait`, and lanes that call together with the same `n` on the same semaphore ask as one; the leader of the
  /// group that was elected calls `make(units)`, with what the group asked for, which it keeps of the batch. A group
  /// that wants more than a batch asks in parts; one that fails asks lane by lane, so nobody fails whom the rest would
  /// serve.
  template <class Make>
  WARPHEAP_FN turn wait_together(std::uint32_t n, std::uint64_t batch, Make make);

  /// `wait` in steps, for a producer that needs more than a function: begins a request for `n` units. The lanes that
  /// call together go on together:
  ///
  ///     lane_mask group = active_group();
  ///     request mine = semaphore.ask(n, batch);
  ///     do {
  ///       if (mine.what() == standing::produces) {
  ///         if (make()) semaphore.deliver(mine); else semaphore.give_up(mine, why);
  ///       }
  ///     } while (semaphore.waits(mine, group));
  ///
  /// No lane leaves the loop but by its condition.
  WARPHEAP_FN request ask(std::uint32_t n, std::uint64_t batch);

  /// As `ask`, for `lanes` lanes of the caller's warp, which are in this one call and want a unit each. One lane calls.
  WARPHEAP_FN request ask_for_lanes(std::uint32_t lanes, std::uint64_t batch);

  /// The request for `n` units of a thread that `produces`: for a producer of many semaphores that keeps no request of
  /// each.
  WARPHEAP_FN static request producer_of(std::uint32_t n, std::uint64_t batch);

  /// False if the request has ended. Else waits until one of the lanes that wait here together has news, which may be
  /// another one's, and returns true. Collective over `group`, whose lanes may wait for different semaphores, and none
  /// of which produces; `group` becomes those of them that wait.
  WARPHEAP_FN bool waits(request& mine, lane_mask& group);

  /// Takes `n` units if they are free and not spoken for. Waits for nobody's units and makes none; at most it pauses
  /// while another thread stands between the two atomics with which a request begins. False if fewer are free.
  WARPHEAP_FN bool try_wait(std::uint64_t n);

  /// Takes `n` units, at most `largest_request`, if they are free and not spoken for, by one addition and waiting for
  /// nobody; if they are not, by two. For a moment the two stand in the balance, so others may fail beside it.
  WARPHEAP_FN bool try_take(std::uint32_t n);

  /// Adds `n` units. False if there would be more than `capacity`: then the caller still has them.
  WARPHEAP_FN bool signal(std::uint64_t n);

  /// Ends a production that went well: of a batch the caller keeps the units that it asked for, so its request is
  /// granted; the rest are free. False if there would be more than `capacity`: then the caller still has those, too.
  WARPHEAP_FN bool deliver(request& mine);

  /// Ends a production that failed, because of `why`, `parent_empty` or `passing`. All requests that counted on it look
  /// again. The caller waits: if others make enough it may yet be granted its units; it is not asked to produce again.
  WARPHEAP_FN void give_up(request& mine, production why);

  /// Says that there is something to make batches of again. To be called when the parent gets memory back while it
  /// may have been found empty; `signal` and `deliver` include it.
  WARPHEAP_FN void parent_refilled();

  /// The counts now.
  WARPHEAP_FN counts count() const;

 private:
  using word = detail::bulk_word;

  // What a look came to: as `standing`, or the request must be made again, or it claims.
  enum class step { granted, failed, produces, waits, again, claims };

  WARPHEAP_FN word load() const;
  WARPHEAP_FN std::uint64_t supplied() const;
  WARPHEAP_FN void notify(std::uint64_t n);
  static constexpr std::uint64_t few = 64;   // so many at a time do not get into each other's way
  static constexpr unsigned shortest = 128;  // nanoseconds, to which pauses grow at least
  static constexpr std::uint64_t all_turns = std::uint64_t{1} << 40;  // more than anybody waits for
  WARPHEAP_FN word take(std::uint32_t n);
  WARPHEAP_FN bool withdraw(const request& of, std::uint32_t reserved);
  WARPHEAP_FN bool reserve(const request& of);
  WARPHEAP_FN std::uint32_t claim(std::uint32_t debts, std::uint32_t n);
  WARPHEAP_FN bool claim_together(lane_mask claimers, std::uint32_t n);
  WARPHEAP_FN bool elect(std::uint64_t batch, std::uint32_t reserved);
  WARPHEAP_FN static bool has_chance(std::uint64_t some, std::uint64_t all, std::uint32_t time);
  using stage = request::stage;
  WARPHEAP_FN static request request_of(std::uint32_t n, std::uint64_t batch, bool one_each);
  WARPHEAP_FN void enter(word before, std::uint64_t came, request& mine);
  WARPHEAP_FN void ask_again(request& mine);
  WARPHEAP_COLD_FN void await(request& mine, lane_mask group);
  WARPHEAP_FN step look_near(request& mine);
  WARPHEAP_FN step look(request& mine);
  WARPHEAP_FN step make_or_withdraw(word seen, request& mine);
  WARPHEAP_FN bool produce(word seen, const request& mine);
  template <class Make>
  WARPHEAP_FN outcome see_through(request& mine, lane_mask group, Make make);
  template <class Make>
  WARPHEAP_FN turn ask_alone(std::uint32_t n, std::uint64_t batch, bool may_produce, Make make);
  WARPHEAP_FN static bool refuses(word before, const request& of);
  WARPHEAP_FN static bool fits(word seen, std::uint64_t n);
  WARPHEAP_FN bool put(std::uint64_t n, std::uint64_t kept, std::uint64_t change);
  WARPHEAP_COLD_FN bool put_many(std::uint64_t n, std::uint64_t kept, std::uint64_t change);
  WARPHEAP_COLD_FN bool take_back(std::uint64_t n);

  std::uint64_t bits_;
  // Units that came while a request waited. A hint: a waiting request reads `bits_` when enough came for those before
  // it.
  alignas(64) std::uint64_t supplied_;
};

}  // namespace warpheap

#include <warpheap/sync/detail/bulk_semaphore.hpp>
#include <warpheap/sync/detail/bulk_semaphore_operations.hpp>
