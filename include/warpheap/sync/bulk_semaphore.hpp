// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <warpheap/platform.hpp>
#include <warpheap/sync/detail/bulk_semaphore_word.hpp>

namespace warpheap {

/// Counts units of a resource that comes in batches, and says who makes a batch when units run out: as many threads at
/// once as batches are needed, while the others wait for what those make.
///
/// It counts and knows nothing of the units themselves. Who was granted n units finds n in the structure that holds
/// them; so put units in before they are signalled, and take them out after they were granted.
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
  /// Batches that can be in the making at once. More can as long as each is for requests of one unit a lane; who would make
  /// one too many waits until there is room.
  static constexpr std::uint32_t most_producers = detail::bulk_word::max_producers;

  /// How a request ended.
  enum class outcome {
    granted,  ///< the units are the caller's
    produce,  ///< the caller must make a batch, and then call `deliver` or `give_up`, whatever else happens
    failed    ///< the units are not to be had, and nothing is left of the request
  };
  /// Why a producer gives up.
  enum class cause {
    parent_empty,  ///< there is nothing to make a batch of; until a unit comes, who lacks one is told `failed` at once
    passing        ///< it may go better next time, so the next that lacks a unit becomes a producer
  };
  /// How a request of a group ended: the lanes of `group` have `outcome` in common, and `units` units in all.
  struct turn {
    outcome what;         ///< `produce` is for the leader of the group to do
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

  /// Makes this a semaphore with `units` units. One thread calls, while no other uses the semaphore.
  WARPHEAP_FN void initialise(std::uint64_t units);

  /// Asks for `n` units, 1 to `largest_request` and at most `batch`. Waits while all that are asked for are on hand or
  /// being made; so what producers do must not wait for threads that may be in here. With units to spare it costs one
  /// atomic add, and a load that nothing waits for.
  ///
  /// `failed` if a producer found the parent empty, all requests together want more than is on hand and being made, and
  /// what is on hand and not taken is less than `n`.
  WARPHEAP_FN outcome wait(std::uint32_t n, std::uint64_t batch);

  /// As `wait`, for `lanes` lanes of the caller's warp, which are in this one call and want a unit each. One lane calls.
  WARPHEAP_FN outcome wait_for_lanes(std::uint32_t lanes, std::uint64_t batch);

  /// As `wait`, and lanes that call together with the same `n` on the same semaphore ask as one. A group that wants
  /// more than a batch asks in parts; one that fails asks lane by lane, so nobody fails whom the rest would serve.
  WARPHEAP_FN turn wait_together(std::uint32_t n, std::uint64_t batch);

  /// Takes `n` units if they are free and not spoken for. Waits for nobody's units and makes none; at most it pauses
  /// while another thread stands between the two atomics with which a request begins. False if fewer are free.
  WARPHEAP_FN bool try_wait(std::uint64_t n);

  /// Takes `n` units, at most `largest_request`, if they are free and not spoken for, by one addition and waiting for
  /// nobody; if they are not, by two. For a moment the two stand in the balance, so others may fail beside it.
  WARPHEAP_FN bool try_take(std::uint32_t n);

  /// Adds `n` units. False if there would be more than `capacity`: then the caller still has them.
  WARPHEAP_FN bool signal(std::uint64_t n);

  /// Ends a production that went well: of `batch` units the caller keeps the `n` that it asked for; the rest are free.
  /// False if there would be more than `capacity`: then the caller still has those, too.
  WARPHEAP_FN bool deliver(std::uint32_t n, std::uint64_t batch);

  /// Ends a production that failed. All who counted on it look again: if others make enough, they wait for that. The
  /// caller, too, may yet be `granted` its `n` units; if not, it has `failed`, and is not asked to produce again.
  WARPHEAP_FN outcome give_up(std::uint32_t n, std::uint64_t batch, cause why);

  /// As `give_up`, for a group: the lanes of `failed.group` call together with the turn that `wait_together` gave them
  /// and the same `n`. Returns each lane its new turn.
  WARPHEAP_FN turn give_up_together(turn failed, std::uint32_t n, std::uint64_t batch, cause why);

  /// Says that there is something to make batches of again. To be called when the parent gets memory back while it
  /// may have been found empty; `signal` and `deliver` include it.
  WARPHEAP_FN void parent_refilled();

  /// The counts now.
  WARPHEAP_FN counts count() const;

 private:
  using word = detail::bulk_word;

  // A request under way: `n` units; one for each lane, or more; may the caller be asked to produce?
  struct request {
    std::uint32_t n;
    std::uint64_t batch;
    bool one_each;
    bool may_produce;
  };
  // How a wait ended: as an outcome, or by a change after which the request must be made again; or that it goes on, maybe
  // with a claim.
  enum class step { granted, produce, failed, again, waits, claims };

  // Where a request stands whose debt is entered.
  struct place {
    std::uint64_t turn;   // of `supplied_`, when what it waits for should have come
    std::uint64_t ahead;  // units that had to come then
    bool elected;         // its debt began a batch, which seems to be lacking yet
    bool claimed;         // its turn has come before
    std::uint32_t pauses;
  };

  WARPHEAP_FN word load() const;
  WARPHEAP_FN std::uint64_t supplied() const;
  WARPHEAP_FN void tell(std::uint64_t n);
  static constexpr std::uint64_t few = 64;   // so many at a time do not get into each other's way
  static constexpr unsigned shortest = 128;  // nanoseconds, to which pauses grow at least
  static constexpr std::uint64_t all_turns = std::uint64_t{1} << 40;  // more than anybody waits for
  WARPHEAP_FN word take(std::uint32_t n);
  WARPHEAP_FN bool withdraw(const request& ask, std::uint32_t reserved);
  WARPHEAP_FN bool reserve(const request& ask);
  WARPHEAP_FN std::uint32_t claim(std::uint32_t debts, std::uint32_t n);
  WARPHEAP_FN bool claim_together(lane_mask claimers, std::uint32_t n);
  WARPHEAP_FN bool elect(std::uint64_t batch, std::uint32_t reserved);
  WARPHEAP_FN static bool has_chance(std::uint64_t some, std::uint64_t all, std::uint32_t time);
  WARPHEAP_COLD_FN step await(request ask, place mine);
  WARPHEAP_FN bool await_few(const request& ask);
  WARPHEAP_FN step look(const request& ask, place& mine);
  WARPHEAP_COLD_FN step look_first(request ask, place mine);
  WARPHEAP_COLD_FN step make_or_withdraw(word seen, request ask, place mine);
  WARPHEAP_FN bool produce(word seen, const request& ask, const place& mine);
  WARPHEAP_FN outcome settle(word before, std::uint64_t came, const request& ask);

  WARPHEAP_FN turn ask_alone(std::uint32_t n, std::uint64_t batch, bool may_produce);
  WARPHEAP_FN static bool refuses(word before, const request& ask);
  WARPHEAP_FN static bool fits(word seen, std::uint64_t n);
  WARPHEAP_FN bool put(std::uint64_t n, std::uint64_t kept, std::uint64_t change);
  WARPHEAP_COLD_FN bool put_many(std::uint64_t n, std::uint64_t kept, std::uint64_t change);
  WARPHEAP_COLD_FN bool take_back(std::uint64_t n);

  std::uint64_t bits_;
  // Units that came while somebody waited. A hint: who waits looks at `bits_` when enough have come for those before him.
  alignas(64) std::uint64_t supplied_;
};

}  // namespace warpheap

#include <warpheap/sync/detail/bulk_semaphore.hpp>
