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
//             the parent is empty, balance += n and reserved -= n withdraw it. Otherwise it waits.
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

// Takes n units or becomes a debtor for them; returns what was there before.
WARPHEAP_FN inline bulk_semaphore::word bulk_semaphore::take(std::uint32_t n) {
  return {atomic_view{bits_}.fetch_sub(word::units(n), memory_order::acquire, thread_scope::device)};
}

// Withdraws a request of which `reserved` units are entered. False if that was not needed after all, since others did
// so or units came: then it must be made again, or more requests would fail than lack units.
WARPHEAP_FN inline bool bulk_semaphore::withdraw(const request& ask, std::uint32_t reserved) {
  const word before{
      atomic_view{bits_}.fetch_add(word::units(ask.n) - reserved, memory_order::relaxed, thread_scope::device)};
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

// Takes n units on hand for a debt that is entered. An add and not a compare-and-swap, since all who waited for a batch
// come at once. The sum does not fall below 0, since each takes away what it entered.
WARPHEAP_FN inline bool bulk_semaphore::claim(std::uint32_t n) {
  const atomic_view bits{bits_};
  const word before{bits.fetch_sub(n, memory_order::acquire, thread_scope::device)};
  if (before.on_hand() >= n) return true;
  bits.fetch_add(n, memory_order::relaxed, thread_scope::device);
  return false;
}

// Waits with a debt that is entered. It ends: if the request can neither claim nor be withdrawn nor lacks a batch, then
// somebody makes a batch, or somebody stands between two atomics and waits for nobody there.
WARPHEAP_COLD_FN inline bulk_semaphore::step bulk_semaphore::await(const request& ask, bool elected) {
  const atomic_view bits{bits_};
  backoff wait;
  // Those whose debts begin a batch go first, so that not all who lack units fall upon the word at once.
  if (!elected) wait.pause();
  for (;; wait.pause()) {
    word seen = load();
    if (seen.on_hand() >= ask.n) {
      if (claim(ask.n)) return step::granted;
      continue;
    }
    if (seen.outlook(ask.batch) >= 0) continue;
    if (ask.may_produce && !seen.parent_empty()) {
      // The swap makes the election exact: it succeeds only while a batch is lacking.
      if (seen.expected() < word::max_expected && bits.compare_exchange(seen.bits, seen.bits + word::one_expected,
                                                                        memory_order::relaxed, thread_scope::device)) {
        return step::produce;
      }
      continue;
    }
    // Below 0 there are debts that are not entered and may be withdrawn: what is on hand is not known.
    if (seen.on_hand() >= 0) return withdraw(ask, ask.n) ? step::failed : step::again;
  }
}

// True if a request fails that finds `before`.
WARPHEAP_FN inline bool bulk_semaphore::refuses(word before, const request& ask) {
  return (before.parent_empty() || !ask.may_produce) && before.outlook(ask.batch) < ask.n && before.on_hand() >= 0 &&
         before.on_hand() < ask.n;
}

// Brings a request to its end that has been taken from `before`.
WARPHEAP_FN inline bulk_semaphore::outcome bulk_semaphore::settle(word before, const request& ask) {
  for (;; before = take(ask.n)) {
    if (before.balance() >= ask.n) return outcome::granted;
    if (refuses(before, ask)) {
      if (withdraw(ask, 0)) return outcome::failed;
      continue;
    }
    if (!reserve(ask)) {
      withdraw(ask, 0);
      for (backoff wait; load().reserved() + ask.n > word::crowded_reserved;) wait.pause();
      continue;
    }
    const auto lacking = [&](std::int64_t outlook) {
      return outlook >= 0 ? 0 : divide_up(static_cast<std::uint64_t>(-outlook), ask.batch);
    };
    const std::int64_t outlook = before.outlook(ask.batch);
    switch (await(ask, lacking(outlook - ask.n) > lacking(outlook))) {
      case step::granted: return outcome::granted;
      case step::produce: return outcome::produce;
      case step::failed: return outcome::failed;
      case step::again: break;
    }
  }
}

// Looks before it takes, so that those who find nothing left disturb nobody.
WARPHEAP_FN inline bulk_semaphore::turn bulk_semaphore::ask_alone(std::uint32_t n, std::uint64_t batch,
                                                                  bool may_produce) {
  const request ask{n, batch, n == 1, may_produce};
  if (refuses(load(), ask)) return {outcome::failed, lane_bit(), n};
  return {settle(take(n), ask), lane_bit(), n};
}

// Adds n units and `change` to the other fields; if n are too many, only `kept` units, and returns false.
WARPHEAP_FN inline bool bulk_semaphore::put(std::uint64_t n, std::uint64_t kept, std::uint64_t change) {
  using enum memory_order;
  using enum thread_scope;
  const atomic_view bits{bits_};
  const auto fits = [n](word seen) {
    return n <= capacity && seen.balance() + static_cast<std::int64_t>(n) <= word::max_balance;
  };
  if (n <= word::max_quick) {
    const word before{bits.fetch_add(word::units(n) + change, release, device)};
    if (before.parent_empty()) parent_refilled();
    // Too many can be taken back unless others have taken them; then they were not too many.
    return fits(before) || !try_wait(n - kept);
  }
  word seen = load();
  for (;;) {
    const std::uint64_t more = word::units(fits(seen) ? n : kept) + change;
    if (more == 0) return false;
    if (!bits.compare_exchange(seen.bits, seen.bits + more, release, device)) continue;
    if (seen.parent_empty()) parent_refilled();
    return fits(seen);
  }
}

WARPHEAP_FN inline void bulk_semaphore::initialise(std::uint64_t units) {
  require(units <= capacity, "bulk_semaphore: more units than its capacity");
  atomic_view{bits_}.store(word::units(units), memory_order::relaxed, thread_scope::device);
}

WARPHEAP_FN inline bulk_semaphore::outcome bulk_semaphore::wait(std::uint32_t n, std::uint64_t batch) {
  require(n != 0 && n <= largest_request && n <= batch,
          "bulk_semaphore: ask for 1 to `largest_request` units of a batch");
  return settle(take(n), {n, batch, n == 1, true});
}

WARPHEAP_FN inline bulk_semaphore::outcome bulk_semaphore::wait_for_lanes(std::uint32_t lanes, std::uint64_t batch) {
  require(lanes != 0 && lanes <= static_cast<std::uint32_t>(warp_width) && lanes <= batch,
          "bulk_semaphore: ask for 1 unit of a batch for each lane of a warp");
  return settle(take(lanes), {lanes, batch, true, true});
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
  if (is_leader(part)) what = settle(before, {units, batch, n == 1, true});
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
  const word now = load();
  require(now.expected() != 0 && now.reserved() >= n && n <= batch,
          "bulk_semaphore: deliver what `wait` let you produce");
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
  const request ask{n, batch, n == 1, false};
  switch (await(ask, true)) {
    case step::granted: return outcome::granted;
    case step::again: return settle(take(n), ask);
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
