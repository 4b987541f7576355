// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/sync/bulk_semaphore.hpp>

namespace warpheap {

// A request for n units goes so (docs/design/bulk_semaphore.md tells why):
//
//   take      balance -= n. If it was n or more, that is the grant. If not, the request stands in the balance as a debt.
//   reserve   reserved += n: the debt is entered.
//   await     on_hand >= n: reserved -= n is the grant. outlook < 0: expected += 1 makes the caller a producer, or, if
//             the parent is empty, balance += n and reserved -= n withdraw it. Otherwise it waits. Whose debt began a batch
//             need not look first: expected += 1 goes with the entry.
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

// Has those look who wait for the next n units.
WARPHEAP_FN inline void bulk_semaphore::tell(std::uint64_t n) {
  atomic_view{supplied_}.fetch_add(n, memory_order::relaxed, thread_scope::device);
}

// Takes n units or becomes a debtor for them; returns what was there before.
WARPHEAP_FN inline bulk_semaphore::word bulk_semaphore::take(std::uint32_t n) {
  return {atomic_view{bits_}.fetch_sub(word::units(n), memory_order::acquire, thread_scope::device)};
}

// Withdraws a request of which `reserved` units are entered. False if that was not needed after all, since others did
// so or units came: then it must be made again, or more requests would fail than lack units.
WARPHEAP_FN inline bool bulk_semaphore::withdraw(const request& ask, std::uint32_t reserved) {
  const word before{
      atomic_view{bits_}.fetch_add(word::units(ask.n) - reserved, memory_order::relaxed, thread_scope::device)};
  if (before.has_debts()) tell(ask.n);  // who is behind moves up
  return before.outlook(ask.batch) < 0;
}

// Enters a debt. False if there is no room now.
WARPHEAP_FN inline bool bulk_semaphore::reserve(const request& ask) {
  using enum memory_order;
  using enum thread_scope;
  const atomic_view bits{bits_};
  if (ask.one_each) {
    bits.fetch_add(ask.n, relaxed, device);
    return true;
  }
  word seen = load();
  while (seen.reserved() + ask.n <= word::crowded_reserved) {
    if (bits.compare_exchange(seen.bits, seen.bits + ask.n, relaxed, device)) return true;
  }
  return false;
}

// Takes units on hand for so many debts of n that are entered, as far as they go; returns for how many. An add and not a
// compare-and-swap, since all who waited for a batch come at once. The sum does not fall below 0, since each takes away what
// it entered.
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

// The same for one debt of n of each of those lanes of `claimers` that want as many of the same semaphore; true for who has
// his. Collective.
WARPHEAP_FN inline bool bulk_semaphore::claim_together(lane_mask claimers, std::uint32_t n) {
  claimers = match(match(claimers, reinterpret_cast<std::uint64_t>(this)), n);
  std::uint32_t served = 0;
  if (is_leader(claimers)) served = claim(static_cast<std::uint32_t>(group_size(claimers)), n);
  sync(claimers);  // what the leader acquired, all did
  return static_cast<std::uint32_t>(group_rank(claimers)) < shuffle(claimers, served, leader(claimers));
}

// Makes the caller a producer, whose debt began a batch; false if none is lacking any more. By an addition and not a
// compare-and-swap, since all who come at once change the word; one that was in vain is taken back. Until then others may
// see a batch more than there will be, and look again. In the same trip to memory enters `reserved` units, which stay.
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

// Waits with a debt that is entered. It ends: if the request can neither claim nor be withdrawn nor lacks a batch, then
// somebody makes a batch, or somebody stands between two atomics and waits for nobody there.
//
// Who looks at the word when nothing has come for him disturbs those for whom something has. So until it is his turn he
// looks at `supplied_`, and at the word only now and then, lest a hint that is wrong keep him.
//
// Lanes of a warp pause together, since a pause of one is one of all. Arguments are values, to stand in registers.
WARPHEAP_COLD_FN inline bulk_semaphore::step bulk_semaphore::await(request ask, place mine) {
  constexpr std::uint64_t longest = 1u << 14;
  // Those whose debts begin a batch go first, so that not all who lack units fall upon the word at once.
  step then = step::waits;
  if (mine.elected) then = look_first(ask, mine);
  if (then != step::waits) return then;
  lane_mask group = active_group();
  // Where many wait, or many would produce, they look seldom.
  const std::uint64_t most = any(group, mine.elected) ? 2 * mine.ahead / ask.batch : mine.ahead / 16;
  backoff wait{static_cast<unsigned>(most < shortest ? shortest : most < longest ? most : longest)};
  for (;;) {
    wait.pause();
    ++mine.pauses;
    then = look(ask, mine);
    const lane_mask claimers = ballot(group, then == step::claims);
    if (then == step::claims) then = claim_together(claimers, ask.n) ? step::granted : step::waits;
    const lane_mask rest = ballot(group, then == step::waits);
    if (then != step::waits) return then;
    group = rest;
  }
}

// Waits with few before it for what others make: so it looks at the word alone, and claims by itself as soon as there is
// something. True for the grant; false if a batch is lacking, with the request as it was.
//
// It looks before it pauses, so that its code has come from memory when there is something to see. But a lane that waits alone
// in its warp pauses first: as a rule the one for whom it waits is of the same warp, and the two take turns.
WARPHEAP_FN inline bool bulk_semaphore::await_few(const request& ask) {
  backoff wait{shortest};
  if (group_size(active_group()) == 1) wait.pause();
  for (;; wait.pause()) {
    const word seen = load();
    if (seen.on_hand() >= ask.n) {
      if (claim(1, ask.n) != 0) return true;
    } else if (seen.outlook(ask.batch) < 0) {
      return false;
    }
  }
}

// What has become of a request with a debt that is entered. When its turn has come, it claims whatever the word says.
WARPHEAP_FN inline bulk_semaphore::step bulk_semaphore::look(const request& ask, place& mine) {
  // Pauses between two looks at the word before the turn.
  const std::uint32_t looks_in = mine.ahead > few ? 8 : 1;
  const bool looks = mine.elected || mine.claimed || mine.pauses % looks_in == 0;
  // Neither load waits for the other.
  const std::uint64_t now = supplied();
  const word seen = looks ? load() : word{0};
  const bool due = static_cast<std::int64_t>(now - mine.turn) >= 0;
  if (due && !mine.claimed && !mine.elected) {
    mine.claimed = true;
    return step::claims;
  }
  if (!looks) return step::waits;
  const bool lacks = seen.outlook(ask.batch) < 0;
  mine.elected = mine.elected && lacks;
  // Who is to make a batch takes no unit of another: nobody else may come to make it.
  const bool makes = mine.elected && ask.may_produce && !seen.parent_empty();
  if (!makes && seen.on_hand() >= ask.n) {
    // Before the turn what is there is meant for others, unless the hint is wrong.
    const bool claims =
        due || has_chance(few + static_cast<std::uint64_t>(seen.on_hand()), seen.reserved(), mine.pauses);
    return claims ? step::claims : step::waits;
  }
  return lacks ? make_or_withdraw(seen, ask, mine) : step::waits;
}

// The look of one whose debt began a batch, before all others.
WARPHEAP_COLD_FN inline bulk_semaphore::step bulk_semaphore::look_first(request ask, place mine) {
  const step then = look(ask, mine);
  if (then != step::claims) return then;
  return claim(1, ask.n) != 0 ? step::granted : step::waits;
}

// What a request comes to that saw that a batch is lacking.
WARPHEAP_COLD_FN inline bulk_semaphore::step bulk_semaphore::make_or_withdraw(word seen, request ask, place mine) {
  if (ask.may_produce && !seen.parent_empty()) return produce(seen, ask, mine) ? step::produce : step::waits;
  // Below 0 there are debts that are not entered and may be withdrawn: what is on hand is not known.
  if (seen.on_hand() < 0) return step::waits;
  return withdraw(ask, ask.n) ? step::failed : step::again;
}

// Whether the caller becomes a producer, who saw that a batch is lacking.
//
// Whose debt began a batch tries an addition, in a quarter of the places at a time that there are, since those who try do not
// see each other. Of all others, who are needed only after a failure, about as many try a swap as batches are lacking; it
// succeeds only while one is.
WARPHEAP_FN inline bool bulk_semaphore::produce(word seen, const request& ask, const place& mine) {
  const std::uint64_t lacking = seen.lacking(ask.batch);
  if (mine.elected && ask.one_each) {
    constexpr std::uint64_t part = 4;
    return seen.expected() < word::max_at_once &&
           has_chance(word::max_at_once - seen.expected(), part * lacking, mine.pauses) && elect(ask.batch, 0);
  }
  return seen.expected() < word::max_producers && has_chance(few + lacking * ask.n, seen.reserved(), mine.pauses) &&
         atomic_view{bits_}.compare_exchange(seen.bits, seen.bits + word::one_expected, memory_order::relaxed,
                                             thread_scope::device);
}

// True for about `some` of `all` threads, others each time.
WARPHEAP_FN inline bool bulk_semaphore::has_chance(std::uint64_t some, std::uint64_t all, std::uint32_t time) {
  std::uint32_t any = (static_cast<std::uint32_t>(grid_thread_index()) * 31 + time) * 0x9e3779b1;
  any ^= any >> 15;
  any *= 0x85ebca6b;
  return any * all >> 32 < some;
}

// True if a request fails that finds `before`.
WARPHEAP_FN inline bool bulk_semaphore::refuses(word before, const request& ask) {
  return (before.parent_empty() || !ask.may_produce) && before.outlook(ask.batch) < ask.n && before.on_hand() >= 0 &&
         before.on_hand() < ask.n;
}

// Brings a request to its end that has been taken from `before`, when `came` had been supplied or somewhat more.
WARPHEAP_FN inline bulk_semaphore::outcome bulk_semaphore::settle(word before, std::uint64_t came, const request& ask) {
  for (;; came = supplied(), before = take(ask.n)) {
    if (before.balance() >= ask.n) return outcome::granted;
    // Whom all others will wait for sees it at a glance; what comes next would say the same.
    const bool first = ask.may_produce && before.begins_first(ask.n);
    if (!first && refuses(before, ask)) {
      if (withdraw(ask, 0)) return outcome::failed;
      continue;
    }
    const word after{before.bits - word::units(ask.n)};
    const std::uint64_t lacking = first ? 1 : after.lacking(ask.batch);
    const bool elected = first || lacking > before.lacking(ask.batch);
    const bool makes = elected && ask.one_each && ask.may_produce && !before.parent_empty() &&
                       after.expected() + lacking <= word::max_at_once;
    if (makes) {
      if (elect(ask.batch, ask.n)) return outcome::produce;
    } else if (!reserve(ask)) {
      withdraw(ask, 0);
      for (backoff wait; load().reserved() + ask.n > word::crowded_reserved;) wait.pause();
      continue;
    }
    const auto ahead = static_cast<std::uint64_t>(-after.balance());
    if (!elected && !before.parent_empty() && ahead <= few && await_few(ask)) return outcome::granted;
    // Where none can be made, who waits may have to fail, and looks at once.
    const std::uint64_t turn = before.parent_empty() ? came : came + ahead;
    switch (await(ask, {turn, ahead, elected, before.parent_empty(), 0})) {
      case step::granted: return outcome::granted;
      case step::produce: return outcome::produce;
      case step::failed: return outcome::failed;
      default: break;  // once more
    }
  }
}

// Looks before it takes, so that those who find nothing left disturb nobody.
WARPHEAP_FN inline bulk_semaphore::turn bulk_semaphore::ask_alone(std::uint32_t n, std::uint64_t batch,
                                                                  bool may_produce) {
  const request ask{n, batch, n == 1, may_produce};
  if (refuses(load(), ask)) return {outcome::failed, lane_bit(), n};
  const std::uint64_t came = supplied();
  return {settle(take(n), came, ask), lane_bit(), n};
}

namespace detail {

constexpr const char* bulk_delivery = "bulk_semaphore: deliver what `wait` let you produce";

}  // namespace detail

WARPHEAP_FN inline bool bulk_semaphore::fits(word seen, std::uint64_t n) {
  return n <= capacity && seen.balance() + static_cast<std::int64_t>(n) <= word::max_balance;
}

// Adds n units and `change` to the other fields; if n are too many, only `kept` units, and returns false.
WARPHEAP_FN inline bool bulk_semaphore::put(std::uint64_t n, std::uint64_t kept, std::uint64_t change) {
  const bool delivers = change != 0;
  if (n > (delivers ? word::max_quick_batch : word::max_quick)) return put_many(n, kept, change);
  const word before{atomic_view{bits_}.fetch_add(word::units(n) + change, memory_order::release, thread_scope::device)};
  if (delivers) tell(n);  // there may be waiters; who looks first loses a round trip
  require(!delivers || before.has_made(kept), detail::bulk_delivery);
  if (before.parent_empty()) parent_refilled();
  if (!delivers && before.has_debts()) tell(n);
  // Too many can be taken back unless others have taken them; then they were not too many.
  return fits(before, n) || !take_back(n - kept);
}

// The same, by a swap that fails if others change the word.
WARPHEAP_COLD_FN inline bool bulk_semaphore::put_many(std::uint64_t n, std::uint64_t kept, std::uint64_t change) {
  const atomic_view bits{bits_};
  word seen = load();
  for (;;) {
    const std::uint64_t more = word::units(fits(seen, n) ? n : kept) + change;
    if (more == 0) return false;
    require(change == 0 || seen.has_made(kept), detail::bulk_delivery);
    if (!bits.compare_exchange(seen.bits, seen.bits + more, memory_order::release, thread_scope::device)) continue;
    if (seen.parent_empty()) parent_refilled();
    if (seen.has_debts()) tell(n);
    return fits(seen, n);
  }
}

WARPHEAP_COLD_FN inline bool bulk_semaphore::take_back(std::uint64_t n) { return try_wait(n); }

WARPHEAP_FN inline void bulk_semaphore::initialise(std::uint64_t units) {
  require(units <= capacity, "bulk_semaphore: more units than its capacity");
  atomic_view{bits_}.store(word::units(units), memory_order::relaxed, thread_scope::device);
}

WARPHEAP_FN inline bulk_semaphore::outcome bulk_semaphore::wait(std::uint32_t n, std::uint64_t batch) {
  require(n != 0 && n <= largest_request && n <= batch,
          "bulk_semaphore: ask for 1 to `largest_request` units of a batch");
  const std::uint64_t came = supplied();
  return settle(take(n), came, {n, batch, n == 1, true});
}

WARPHEAP_FN inline bulk_semaphore::outcome bulk_semaphore::wait_for_lanes(std::uint32_t lanes, std::uint64_t batch) {
  require(lanes != 0 && lanes <= static_cast<std::uint32_t>(warp_width) && lanes <= batch,
          "bulk_semaphore: ask for 1 unit of a batch for each lane of a warp");
  const std::uint64_t came = supplied();
  return settle(take(lanes), came, {lanes, batch, true, true});
}

WARPHEAP_FN inline bulk_semaphore::turn bulk_semaphore::wait_together(std::uint32_t n, std::uint64_t batch) {
  require(n != 0 && n <= largest_request && n <= batch,
          "bulk_semaphore: ask for 1 to `largest_request` units of a batch");
  lane_mask group = active_group();
  const auto self = reinterpret_cast<std::uint64_t>(this);
  const std::uint64_t first_self = shuffle(group, self, leader(group));
  const std::uint32_t first_n = shuffle(group, n, leader(group));
  if (!all(group, self == first_self && n == first_n)) {
    group = match(group, self);
    group = match(group, n);
  }
  if (static_cast<std::uint32_t>(group_size(group)) * n > largest_request) group = lane_bit();

  const std::uint32_t total = static_cast<std::uint32_t>(group_size(group)) * n;
  const std::uint64_t came = supplied();
  word before{0};
  if (is_leader(group)) before = take(total);
  sync(group);  // what the leader acquired, all did
  before.bits = shuffle(group, before.bits, leader(group));
  if (before.balance() >= total) return {outcome::granted, group, total};

  // The group's one debt is as good as a debt of each part, taken in the order of their ranks: each part goes on from
  // what it would then have found.
  const int size = group_size(group);
  const int lanes = batch / n < static_cast<std::uint64_t>(size) ? static_cast<int>(batch / n) : size;
  const int first = group_rank(group) / lanes * lanes;
  before.bits -= word::units(static_cast<std::uint64_t>(first) * n);
  lane_mask part = group & ~low_bits(nth_set_bit(group, first));
  if (first + lanes < size) part &= low_bits(nth_set_bit(group, first + lanes));

  const std::uint32_t units = static_cast<std::uint32_t>(group_size(part)) * n;
  outcome what{};
  if (is_leader(part)) what = settle(before, came, {units, batch, n == 1, true});
  sync(part);
  what = shuffle(part, what, leader(part));
  if (what == outcome::failed && units != n) return ask_alone(n, batch, true);
  return {what, part, units};
}

WARPHEAP_FN inline bool bulk_semaphore::try_wait(std::uint64_t n) {
  if (n > capacity) return false;
  const atomic_view bits{bits_};
  for (backoff wait;; wait.pause()) {
    word seen = load();
    if (seen.balance() >= static_cast<std::int64_t>(n)) {
      if (bits.compare_exchange(seen.bits, seen.bits - word::units(n), memory_order::acquire, thread_scope::device)) {
        return true;
      }
    } else if (seen.on_hand() >= 0) {
      return false;
    }
  }
}

WARPHEAP_FN inline bool bulk_semaphore::try_take(std::uint32_t n) {
  if (take(n).balance() >= n) return true;
  // The debt is not entered, so nobody counts on it; who lacked units because of it looks again.
  withdraw({n, n, false, false}, 0);
  return false;
}

WARPHEAP_FN inline bool bulk_semaphore::signal(std::uint64_t n) { return put(n, 0, 0); }

WARPHEAP_FN inline bool bulk_semaphore::deliver(std::uint32_t n, std::uint64_t batch) {
  require(n <= batch, "bulk_semaphore: deliver a whole batch");
  return put(batch, n, std::uint64_t{0} - word::one_expected - n);
}

WARPHEAP_FN inline bulk_semaphore::outcome bulk_semaphore::give_up(std::uint32_t n, std::uint64_t batch, cause why) {
  using enum memory_order;
  using enum thread_scope;
  const atomic_view bits{bits_};
  // Before the expectation ends, so that those who look again know why.
  if (why == cause::parent_empty) bits.fetch_or(word::empty_mark, relaxed, device);
  const word before{bits.fetch_sub(word::one_expected, relaxed, device)};
  require(before.expected() != 0 && before.reserved() >= n, "bulk_semaphore: give up what `wait` let you produce");
  tell(all_turns);  // what they waited for may not come
  const request ask{n, batch, n == 1, false};
  const std::uint64_t now = supplied();
  switch (await(ask, {now, 0, true, false, 0})) {
    case step::granted: return outcome::granted;
    case step::again: return settle(take(n), now, ask);
    default: return outcome::failed;
  }
}

WARPHEAP_FN inline bulk_semaphore::turn bulk_semaphore::give_up_together(turn failed, std::uint32_t n,
                                                                         std::uint64_t batch, cause why) {
  outcome what{};
  if (is_leader(failed.group)) what = give_up(failed.units, batch, why);
  sync(failed.group);
  what = shuffle(failed.group, what, leader(failed.group));
  if (what == outcome::failed && failed.units != n) return ask_alone(n, batch, false);
  return {what, failed.group, failed.units};
}

WARPHEAP_FN inline void bulk_semaphore::parent_refilled() {
  atomic_view{bits_}.fetch_and(~word::empty_mark, memory_order::relaxed, thread_scope::device);
}

WARPHEAP_FN inline bulk_semaphore::counts bulk_semaphore::count() const {
  const word now = load();
  return {now.balance(), now.expected(), now.reserved(), now.parent_empty()};
}

}  // namespace warpheap
