// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/sync/bulk_semaphore.hpp>

namespace warpheap {

// What a user calls: requests of one lane or of a group, and units that come. How a request moves the word, and waits,
// stands in bulk_semaphore.hpp.

// Brings a request to its end, together with the requests of the lanes of `group`. Collective.
template <class Make>
WARPHEAP_FN auto bulk_semaphore::see_through(request& mine, lane_mask group, Make make) -> outcome {
  bool produced = false;
  do {
    if (mine.what_ == standing::produces) {
      const production came = make();
      produced = came == production::made;
      if (produced) {
        require(deliver(mine), "bulk_semaphore: a batch beyond the capacity");
      } else {
        give_up(mine, came);
      }
    }
  } while (waits(mine, group));
  if (produced) return outcome::produced;
  return mine.what_ == standing::granted ? outcome::granted : outcome::failed;
}

// Looks before it takes, so that a thread that finds nothing left disturbs no other.
template <class Make>
WARPHEAP_FN auto bulk_semaphore::ask_alone(std::uint32_t n, std::uint64_t batch, bool may_produce, Make make) -> turn {
  request mine = request_of(n, batch, n == 1);
  mine.may_produce_ = may_produce;
  if (refuses(load(), mine)) return {outcome::failed, lane_bit(), n};
  const std::uint64_t came = supplied();
  enter(take(n), came, mine);
  return {see_through(mine, active_group(), make), lane_bit(), n};
}

namespace detail {

constexpr const char* bulk_delivery = "bulk_semaphore: deliver what a request `produces`";

}  // namespace detail

WARPHEAP_FN inline bool bulk_semaphore::fits(word seen, std::uint64_t n) {
  return n <= capacity && seen.balance() + static_cast<std::int64_t>(n) <= word::max_balance;
}

// Adds n units and `change` to the other fields; if n are too many, only `kept` units, and returns false.
WARPHEAP_FN inline bool bulk_semaphore::put(std::uint64_t n, std::uint64_t kept, std::uint64_t change) {
  const bool delivers = change != 0;
  if (n > (delivers ? word::max_quick_batch : word::max_quick)) return put_many(n, kept, change);
  const word before{atomic_view{bits_}.fetch_add(word::units(n) + change, memory_order::release, thread_scope::device)};
  if (delivers) notify(n);  // there may be waiters; a look first would cost a round trip
  require(!delivers || before.has_made(kept), detail::bulk_delivery);
  if (before.parent_empty()) parent_refilled();
  if (!delivers && before.has_debts()) notify(n);
  // Too many can be taken back unless others have taken them; then they were not too many.
  return fits(before, n) || !take_back(n - kept);
}

// Takes n units by a swap, which fails if others change the word.
WARPHEAP_COLD_FN inline bool bulk_semaphore::put_many(std::uint64_t n, std::uint64_t kept, std::uint64_t change) {
  const atomic_view bits{bits_};
  word seen = load();
  for (;;) {
    const std::uint64_t more = word::units(fits(seen, n) ? n : kept) + change;
    if (more == 0) return false;
    require(change == 0 || seen.has_made(kept), detail::bulk_delivery);
    if (!bits.compare_exchange(seen.bits, seen.bits + more, memory_order::release, thread_scope::device)) continue;
    if (seen.parent_empty()) parent_refilled();
    if (seen.has_debts()) notify(n);
    return fits(seen, n);
  }
}

WARPHEAP_COLD_FN inline bool bulk_semaphore::take_back(std::uint64_t n) { return try_wait(n); }

WARPHEAP_FN inline void bulk_semaphore::initialise(std::uint64_t units) {
  require(units <= capacity, "bulk_semaphore: more units than its capacity");
  atomic_view{bits_}.store(word::units(units), memory_order::relaxed, thread_scope::device);
}

WARPHEAP_FN inline auto bulk_semaphore::ask(std::uint32_t n, std::uint64_t batch) -> request {
  require(n != 0 && n <= largest_request && n <= batch,
          "bulk_semaphore: ask for 1 to `largest_request` units of a batch");
  request mine = request_of(n, batch, n == 1);
  const std::uint64_t came = supplied();
  enter(take(n), came, mine);
  return mine;
}

WARPHEAP_FN inline auto bulk_semaphore::ask_for_lanes(std::uint32_t lanes, std::uint64_t batch) -> request {
  require(lanes != 0 && lanes <= static_cast<std::uint32_t>(warp_width) && lanes <= batch,
          "bulk_semaphore: ask for 1 unit of a batch for each lane of a warp");
  request mine = request_of(lanes, batch, true);
  const std::uint64_t came = supplied();
  enter(take(lanes), came, mine);
  return mine;
}

WARPHEAP_FN inline auto bulk_semaphore::producer_of(std::uint32_t n, std::uint64_t batch) -> request {
  request made = request_of(n, batch, n == 1);
  made.what_ = standing::produces;
  return made;
}

template <class Make>
WARPHEAP_FN auto bulk_semaphore::wait(std::uint32_t n, std::uint64_t batch, Make make) -> outcome {
  const lane_mask group = active_group();
  request mine = ask(n, batch);
  return see_through(mine, group, make);
}

template <class Make>
WARPHEAP_FN auto bulk_semaphore::wait_together(std::uint32_t n, std::uint64_t batch, Make make) -> turn {
  require(n != 0 && n <= largest_request && n <= batch,
          "bulk_semaphore: ask for 1 to `largest_request` units of a batch");
  lane_mask group = warp_request::of_likely_amount(active_group(), this, n).lanes;
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
  lane_mask part = group & ~lowest_set_bits(group, first);
  if (first + lanes < size) part &= lowest_set_bits(group, first + lanes);

  const std::uint32_t units = static_cast<std::uint32_t>(group_size(part)) * n;
  request mine = request_of(units, batch, n == 1);
  outcome what{};
  if (is_leader(part)) {
    const lane_mask leaders = active_group();
    enter(before, came, mine);
    what = see_through(mine, leaders, [&] { return make(units); });
  }
  sync(part);
  what = shuffle(part, what, leader(part));
  // One that was asked to produce is not asked again.
  const bool may_produce = shuffle(part, mine.may_produce_ ? 1u : 0u, leader(part)) != 0;
  if (what == outcome::failed && units != n) {
    return ask_alone(n, batch, may_produce, [&] { return make(n); });
  }
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
  // The debt is not entered, so no request counts on it; a request that lacked units because of it looks again.
  withdraw(request_of(n, n, false), 0);
  return false;
}

WARPHEAP_FN inline bool bulk_semaphore::signal(std::uint64_t n) { return put(n, 0, 0); }

WARPHEAP_FN inline bool bulk_semaphore::deliver(request& mine) {
  mine.what_ = standing::granted;
  return put(mine.batch_, mine.n_, std::uint64_t{0} - word::one_expected - mine.n_);
}

WARPHEAP_FN inline void bulk_semaphore::give_up(request& mine, production why) {
  using enum memory_order;
  using enum thread_scope;
  const atomic_view bits{bits_};
  // Before the expectation ends, so that requests that look again know why.
  if (why == production::parent_empty) bits.fetch_or(word::empty_mark, relaxed, device);
  const word before{bits.fetch_sub(word::one_expected, relaxed, device)};
  require(before.expected() != 0 && before.reserved() >= mine.n_, "bulk_semaphore: give up what a request `produces`");
  notify(all_turns);  // what they waited for may not come
  mine.what_ = standing::waits;
  mine.at_ = stage::entered;
  mine.may_produce_ = false;
  mine.elected_ = true;  // it looks before others do
  mine.claimed_ = false;
  mine.pauses_ = 0;
  mine.turn_ = supplied();
  mine.ahead_ = 0;
}

WARPHEAP_FN inline void bulk_semaphore::parent_refilled() {
  atomic_view{bits_}.fetch_and(~word::empty_mark, memory_order::relaxed, thread_scope::device);
}

WARPHEAP_FN inline bulk_semaphore::counts bulk_semaphore::count() const {
  const word now = load();
  return {now.balance(), now.expected(), now.reserved(), now.parent_empty()};
}

}  // namespace warpheap
