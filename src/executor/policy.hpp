// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "executor/random.hpp"
#include "executor/records.hpp"

namespace warpheap::executor {

/// Which of the lanes that are ready runs next. Lanes that wait in a backoff come last: while others are ready they get
/// one turn in `waiting_share`, enough to see that their wait is over, too few to slow down whom they wait for.
class policy {
 public:
  virtual ~policy() = default;
  /// Adds a lane that is ready.
  virtual void put(lane& ready) = 0;
  /// Removes and returns the lane that runs next, or null when none is ready.
  virtual lane* take() = 0;
  /// True if the lane that runs goes on past a switch point.
  virtual bool goes_on() = 0;

 protected:
  static constexpr std::uint32_t waiting_share = 4;
};

/// Each lane in turn, and a switch at each switch point.
class round_robin final : public policy {
 public:
  void put(lane& ready) override { (ready.waiting ? waiting_ : active_).push(ready); }
  lane* take() override {
    const bool waiting = waiting_.first != nullptr && (active_.first == nullptr || ++turn_ % waiting_share == 0);
    return (waiting ? waiting_ : active_).pop();
  }
  bool goes_on() override { return false; }

 private:
  struct queue {
    lane* first = nullptr;
    lane* last = nullptr;

    void push(lane& added) {
      added.next = nullptr;
      (first == nullptr ? first : last->next) = &added;
      last = &added;
    }
    lane* pop() {
      lane* found = first;
      if (found != nullptr) first = found->next;
      return found;
    }
  };
  queue active_;
  queue waiting_;
  std::uint32_t turn_ = 0;
};

/// A random lane, and a switch at random switch points; how many of them switch is drawn for each launch, since short
/// and long stretches without a switch find different mistakes.
class random_order : public policy {
 public:
  /// Serves up to `lanes` lanes.
  random_order(random_stream& random, std::size_t lanes) : random_(random) {
    active_.reserve(lanes);
    waiting_.reserve(lanes);
    constexpr std::uint32_t stretches[] = {1, 2, 8, 32};
    stretch_ = stretches[random.below(4)];
  }
  void put(lane& ready) override { (ready.waiting ? waiting_ : active_).push_back(&ready); }
  lane* take() override {
    const bool waiting = !waiting_.empty() && (active_.empty() || random_.one_in(waiting_share));
    return pick(waiting ? waiting_ : active_);
  }
  bool goes_on() override { return !random_.one_in(stretch_); }

 protected:
  lane* pick(std::vector<lane*>& lanes) {
    if (lanes.empty()) return nullptr;
    lane*& place = lanes[random_.below(static_cast<std::uint32_t>(lanes.size()))];
    lane* const found = place;
    place = lanes.back();
    lanes.pop_back();
    return found;
  }

  random_stream& random_;
  std::vector<lane*> active_;  // with room for all lanes: a lane that readies others must not allocate
  std::vector<lane*> waiting_;

 private:
  std::uint32_t stretch_;
};

/// As `random_order`, and any lane may be put to sleep between two of its steps, while the others do thousands: what a
/// thread that stands still for so long relies on, and nobody keeps, a random order hardly ever shows. (Emmi, Qadeer
/// and Rakamaric, "Delay-bounded scheduling", POPL 2011, bound the number of delays; here few lanes have one at a
/// time.)
///
/// How many lanes sleep at most and how long is drawn for each launch. When all others wait, they have some turns to
/// see whether they can go on; then a sleeper wakes.
class stalling_order final : public random_order {
 public:
  /// Serves up to `lanes` lanes.
  stalling_order(random_stream& random, std::size_t lanes) : random_order(random, lanes) {
    constexpr std::uint32_t shares[] = {1, 64, 16, 4};
    const std::uint32_t share = shares[random.below(4)];
    most_asleep_ = share == 1 ? 1 : 1 + lanes / share;
    constexpr std::uint32_t turns_a_lane[] = {4, 32, 256};
    longest_ = static_cast<std::uint32_t>(lanes) * turns_a_lane[random.below(3)];
    constexpr std::uint32_t rates[] = {8, 64, 512};
    turns_to_a_stall_ = rates[random.below(3)];
    asleep_.reserve(most_asleep_);
  }
  void put(lane& ready) override {
    if (!ready.waiting && asleep_.size() < most_asleep_ && random_.one_in(turns_to_a_stall_)) {
      const std::uint64_t until = turn_ + 1 + random_.below(longest_);
      asleep_.push_back({&ready, until});
      if (until < next_wake_) next_wake_ = until;
    } else {
      random_order::put(ready);
    }
  }
  lane* take() override {
    if (++turn_ >= next_wake_) return wake(first());
    if (!active_.empty()) turns_without_active_ = 0;
    const bool goes_on = !active_.empty() || (!waiting_.empty() && turns_without_active_++ < looks * waiting_.size());
    if (goes_on || asleep_.empty()) return random_order::take();
    turns_without_active_ = 0;
    return wake(random_.below(static_cast<std::uint32_t>(asleep_.size())));
  }

 private:
  struct sleeper {
    lane* who;
    std::uint64_t until;  // a number of a turn
  };
  static constexpr std::uint64_t never = ~std::uint64_t{0};
  static constexpr std::uint32_t looks = 8;  // of each lane that waits

  // The sleeper whose time is over first.
  std::size_t first() const {
    std::size_t found = 0;
    for (std::size_t i = 1; i < asleep_.size(); ++i) {
      if (asleep_[i].until < asleep_[found].until) found = i;
    }
    return found;
  }
  lane* wake(std::size_t which) {
    lane* const found = asleep_[which].who;
    asleep_[which] = asleep_.back();
    asleep_.pop_back();
    next_wake_ = asleep_.empty() ? never : asleep_[first()].until;
    return found;
  }

  std::size_t most_asleep_;
  std::uint32_t longest_;
  std::uint32_t turns_to_a_stall_;
  std::vector<sleeper> asleep_;
  std::uint64_t turn_ = 0;
  std::uint64_t next_wake_ = never;
  std::uint64_t turns_without_active_ = 0;
};

}  // namespace warpheap::executor
