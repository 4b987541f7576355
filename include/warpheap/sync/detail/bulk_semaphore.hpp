// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/sync/bulk_semaphore.hpp>

namespace warpheap {

// A request for n units goes so (docs/design/bulk_semaphore.md tells why):
//
//   take      balance -= n. If it was n or more, that is the grant. If not, the balance holds the request as a debt.
//   reserve   reserved += n: the debt is entered.
//   await     on_hand >= n: reserved -= n is the grant. outlook < 0: expected += 1 makes the caller a producer, or, if
//             the parent is empty, balance += n and reserved -= n withdraw it. Otherwise it waits. A request whose debt
//             began a batch need not look first: expected += 1 goes with the entry.
//
// Invariant: let physical be the units signalled and delivered, less those granted; never negative. Then
//   balance + reserved = physical - debts not yet entered - claims about to be taken back,
//   balance + expected * batch = physical + units being made - units asked for and not yet had.
// So on_hand never shows a unit that is not there; and an outlook below 0 means that a batch is lacking, whoever looks.
//
// Orders: units are added with release and taken with acquire. All changes of the word are read-modify-writes, so each
// is in the release sequence of each addition before it: a grant sees what was done before any unit that it can have
// got. All others move promises, by which nobody finds a unit, and are relaxed.

WARPHEAP_FN inline bulk_semaphore::word bulk_semaphore::load() const {
  // A view has no const form; a load changes nothing.
  return {atomic_view{const_cast<std::uint64_t&>(bits_)}.load(memory_order::relaxed, thread_scope::device)};
}

// Units that came while somebody waited, so far.
WARPHEAP_FN inline std::uint64_t bulk_semaphore::supplied() const {
  return atomic_view{const_cast<std::uint64_t&>(supplied_)}.load(memory_order::relaxed, thread_scope::device);
}

// Lets the requests look again that wait for the next n units.
WARPHEAP_FN inline void bulk_semaphore::notify(std::uint64_t n) {
  atomic_view{supplied_}.fetch_add(n, memory_order::relaxed, thread_scope::device);
}

// Takes n units or becomes a debtor for them; returns what was there before.
WARPHEAP_FN inline bulk_semaphore::word bulk_semaphore::take(std::uint32_t n) {
  return {atomic_view{bits_}.fetch_sub(word::units(n), memory_order::acquire, thread_scope::device)};
}

// Withdraws a request of which `reserved` units are entered. False if that was not needed after all, since others did
// so or units came: then it must be made again, or more requests would fail than lack units.
WARPHEAP_FN inline bool bulk_semaphore::withdraw(const request& of, std::uint32_t reserved) {
  const word before{
      atomic_view{bits_}.fetch_add(word::units(of.n_) - reserved, memory_order::relaxed, thread_scope::device)};
  if (before.has_debts()) notify(of.n_);  // later requests move up
  return before.outlook(of.batch_) < 0;
}

// Enters a debt. False if there is no room now.
WARPHEAP_FN inline bool bulk_semaphore::reserve(const request& of) {
  using enum memory_order;
  using enum thread_scope;
  const atomic_view bits{bits_};
  if (of.one_each_) {
    bits.fetch_add(of.n_, relaxed, device);
    return true;
  }
  word seen = load();
  while (seen.reserved() + of.n_ <= word::crowded_reserved) {
    if (bits.compare_exchange(seen.bits, seen.bits + of.n_, relaxed, device)) return true;
  }
  return false;
}

// Takes units on hand for so many debts of n that are entered, as far as they go; returns for how many. An add and not
// a compare-and-swap, since all requests that waited for a batch come at once. The sum does not fall below 0, since
// each takes away what it entered.
WARPHEAP_FN inline std::uint32_t bulk_semaphore::claim(std::uint32_t debts, std::uint32_t n) {
  using enum memory_order;
  using enum thread_scope;
  const atomic_view bits{bits_};
  const word before{bits.fetch_sub(debts * n, acquire, device)};
  const std::int64_t there = before.on_hand() < 0 ? 0 : before.on_hand();
  if (there >= debts * n) return debts;
  const std::uint32_t served = debts == 1 ? 0 : static_cast<std::uint32_t>(there) / n;
  bits.fetch_add((debts - served) * n, relaxed, device);
  return served;
}

// Claims a debt of n for each lane of `claimers` that wants as many of the same semaphore; true for a lane whose debt
// was claimed. Collective.
WARPHEAP_FN inline bool bulk_semaphore::claim_together(lane_mask claimers, std::uint32_t n) {
  const warp_request peers = warp_request::of_amount(claimers, this, n);
  std::uint32_t served = 0;
  if (peers.leads()) served = claim(peers.size(), n);
  sync(peers.lanes);  // what the leader acquired, all did
  return peers.rank() < peers.from_leader(served);
}

// Makes the caller a producer, whose debt began a batch; false if none is lacking any more. By an addition and not a
// compare-and-swap, since all requests that come at once change the word; one that was in vain is taken back. Until
// then others may see a batch more than there will be, and look again. In the same trip to memory enters `reserved`
// units, which stay.
WARPHEAP_FN inline bool bulk_semaphore::elect(std::uint64_t batch, std::uint32_t reserved) {
  using enum memory_order;
  using enum thread_scope;
  const atomic_view bits{bits_};
  const word before{bits.fetch_add(word::one_expected + reserved, relaxed, device)};
  invariant(before.expected() != word::max_expected, "bulk_semaphore: more producers than there is room for");
  if (before.outlook(batch) < 0 && !before.parent_empty()) return true;
  bits.fetch_sub(word::one_expected, relaxed, device);
  return false;
}

// A request of which nothing is in the word yet.
WARPHEAP_FN inline auto bulk_semaphore::request_of(std::uint32_t n, std::uint64_t batch, bool one_each) -> request {
  request made;
  made.one_each_ = one_each;
  made.n_ = n;
  made.batch_ = batch;
  return made;
}

// Waits for news.
//
// Termination: if a request can neither claim, nor be withdrawn, nor lacks a batch, then a producer makes a batch, or a
// thread is between the two atomics of a request, where it waits for nothing.
//
// Invariant: no lane of `group` owes a batch: `waits` meets all of them, a producer after its batch. So the lanes that
// wait here keep no producer of their warp from executing. They look, vote, and leave together as soon as one of them
// has ended or produces. This is the only loop that waits: a request that must be repeated, or that finds no room for
// its debt, waits here too. So progress needs no YIELD of the compiler among the lanes that came together.
//
// A thread that looks at the word although nothing has come for it slows down the threads for which something has.
// Until its turn it looks at `supplied_`, and at the word only now and then, in case the hint is wrong. With few units
// ahead it looks at the word alone.
//
// Lanes of a warp pause together, since a pause of one is a pause of all. A request whose debt began a batch looks
// before it pauses, so that producers are elected before the crowd looks. A request with few units ahead does so too,
// which loads the code before there is something to see; but if it waits alone in its warp it pauses first, because
// then it usually waits for a lane of the same warp, and the two lanes execute in turn.
WARPHEAP_COLD_FN inline void bulk_semaphore::await(request& mine, lane_mask group) {
  constexpr std::uint64_t longest = 1u << 14;
  using enum stage;
  // Where many wait, or many would produce, they look seldom.
  const std::uint64_t most = any(group, mine.elected_) ? 2 * mine.ahead_ / mine.batch_ : mine.ahead_ / 16;
  backoff wait{static_cast<unsigned>(most < shortest ? shortest : most < longest ? most : longest)};
  const bool looks_first = mine.at_ == near ? group_size(group) != 1 : mine.elected_;
  for (bool pauses = all(group, !looks_first);; pauses = true) {
    if (pauses) {
      wait.pause();
      ++mine.pauses_;
    }
    step then = step::waits;
    if (mine.at_ == near) {
      then = look_near(mine);
    } else if (mine.at_ == entered) {
      then = look(mine);
    } else {
      ask_again(mine);
    }
    const lane_mask claimers = ballot(group, then == step::claims);
    if (then == step::claims) then = claim_together(claimers, mine.n_) ? step::granted : step::waits;
    if (then == step::granted) mine.what_ = standing::granted;
    if (then == step::failed) mine.what_ = standing::failed;
    if (then == step::produces) mine.what_ = standing::produces;
    if (then == step::again) mine.at_ = asks;
    if (any(group, mine.what_ != standing::waits)) return;
  }
}

// The look of a request with few units ahead: it claims for itself as soon as there are units. If a batch is lacking,
// it continues as all others do.
WARPHEAP_FN inline auto bulk_semaphore::look_near(request& mine) -> step {
  const word seen = load();
  if (seen.on_hand() >= mine.n_) return claim(1, mine.n_) != 0 ? step::granted : step::waits;
  if (seen.outlook(mine.batch_) < 0) mine.at_ = stage::entered;
  return step::waits;
}

// What has become of a request with a debt that is entered. When its turn has come, it claims whatever the word says.
WARPHEAP_FN inline auto bulk_semaphore::look(request& mine) -> step {
  // Pauses between two looks at the word before the turn.
  const std::uint32_t looks_in = mine.ahead_ > few ? 8 : 1;
  const bool looks = mine.elected_ || mine.claimed_ || mine.pauses_ % looks_in == 0;
  // Neither load waits for the other.
  const std::uint64_t now = supplied();
  const word seen = looks ? load() : word{0};
  const bool due = static_cast<std::int64_t>(now - mine.turn_) >= 0;
  if (due && !mine.claimed_ && !mine.elected_) {
    mine.claimed_ = true;
    return step::claims;
  }
  if (!looks) return step::waits;
  const bool lacks = seen.outlook(mine.batch_) < 0;
  mine.elected_ = mine.elected_ && lacks;
  // A producer takes no unit of another batch: no other thread may come to make its own.
  const bool makes = mine.elected_ && mine.may_produce_ && !seen.parent_empty();
  if (!makes && seen.on_hand() >= mine.n_) {
    // Before the turn what is there is meant for others, unless the hint is wrong.
    const bool claims =
        due || has_chance(few + static_cast<std::uint64_t>(seen.on_hand()), seen.reserved(), mine.pauses_);
    return claims ? step::claims : step::waits;
  }
  return lacks ? make_or_withdraw(seen, mine) : step::waits;
}

// What a request comes to that saw that a batch is lacking.
WARPHEAP_FN inline auto bulk_semaphore::make_or_withdraw(word seen, request& mine) -> step {
  if (mine.may_produce_ && !seen.parent_empty()) return produce(seen, mine) ? step::produces : step::waits;
  // Below 0 there are debts that are not entered and may be withdrawn: what is on hand is not known.
  if (seen.on_hand() < 0) return step::waits;
  return withdraw(mine, mine.n_) ? step::failed : step::again;
}

// True if the caller, which saw that a batch is lacking, becomes a producer.
//
// A request whose debt began a batch tries an addition, in a quarter of the places at a time that there are, since
// those who try do not see each other. Of all others, who are needed only after a failure, about as many try a swap as
// batches are lacking; it succeeds only while one is.
WARPHEAP_FN inline bool bulk_semaphore::produce(word seen, const request& mine) {
  const std::uint64_t lacking = seen.lacking(mine.batch_);
  if (mine.elected_ && mine.one_each_) {
    constexpr std::uint64_t part = 4;
    return seen.expected() < word::max_at_once &&
           has_chance(word::max_at_once - seen.expected(), part * lacking, mine.pauses_) && elect(mine.batch_, 0);
  }
  return seen.expected() < word::max_producers && has_chance(few + lacking * mine.n_, seen.reserved(), mine.pauses_) &&
         atomic_view{bits_}.compare_exchange(seen.bits, seen.bits + word::one_expected, memory_order::relaxed,
                                             thread_scope::device);
}

// True for about `some` of `all` threads, others each time.
WARPHEAP_FN inline bool bulk_semaphore::has_chance(std::uint64_t some, std::uint64_t all, std::uint32_t time) {
  std::uint32_t any = spread(static_cast<std::uint32_t>(grid_thread_index()) * 31 + time);
  any ^= any >> 15;
  any *= 0x85ebca6b;
  return any * all >> 32 < some;
}

// True if a request fails that finds `before`.
WARPHEAP_FN inline bool bulk_semaphore::refuses(word before, const request& of) {
  return (before.parent_empty() || !of.may_produce_) && before.outlook(of.batch_) < of.n_ && before.on_hand() >= 0 &&
         before.on_hand() < of.n_;
}

// Moves a request on whose units were subtracted from `before`, when `came` units had been supplied, or somewhat more.
// It has no loop, so a thread between the two atomics of a request waits for nothing.
WARPHEAP_FN inline void bulk_semaphore::enter(word before, std::uint64_t came, request& mine) {
  mine.what_ = standing::waits;
  mine.at_ = stage::asks;
  mine.elected_ = false;
  if (before.balance() >= mine.n_) {
    mine.what_ = standing::granted;
    return;
  }
  stop_point("bulk_semaphore.enter.taken");
  // The request that all others will wait for sees it at a glance; what comes next would say the same.
  const bool first = mine.may_produce_ && before.begins_first(mine.n_);
  if (!first && refuses(before, mine)) {
    if (withdraw(mine, 0)) mine.what_ = standing::failed;
    return;
  }
  const word after{before.bits - word::units(mine.n_)};
  const std::uint64_t lacking = first ? 1 : after.lacking(mine.batch_);
  const bool elected = first || lacking > before.lacking(mine.batch_);
  const bool makes = elected && mine.one_each_ && mine.may_produce_ && !before.parent_empty() &&
                     after.expected() + lacking <= word::max_at_once;
  if (makes) {
    if (elect(mine.batch_, mine.n_)) mine.what_ = standing::produces;
  } else if (!reserve(mine)) {
    withdraw(mine, 0);
    return;
  }
  mine.ahead_ = static_cast<std::uint64_t>(-after.balance());
  mine.elected_ = elected;
  mine.claimed_ = before.parent_empty();
  mine.pauses_ = 0;
  // Where no batch can be made, a waiting request may have to fail, and looks at once.
  mine.turn_ = before.parent_empty() ? came : came + mine.ahead_;
  const bool is_near = !elected && !before.parent_empty() && mine.ahead_ <= few;
  mine.at_ = is_near ? stage::near : stage::entered;
}

// Repeats a request of which nothing is in the word, if there is room for its debt.
WARPHEAP_FN inline void bulk_semaphore::ask_again(request& mine) {
  if (!mine.one_each_ && load().reserved() + mine.n_ > word::crowded_reserved) return;
  const std::uint64_t came = supplied();
  enter(take(mine.n_), came, mine);
}

WARPHEAP_FN inline bool bulk_semaphore::waits(request& mine, lane_mask& group) {
  group = ballot(group, mine.what_ == standing::waits);
  if (mine.what_ != standing::waits) return false;
  await(mine, group);
  return true;
}

}  // namespace warpheap
