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
class random_order final : public policy {
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

 private:
  lane* pick(std::vector<lane*>& lanes) {
    if (lanes.empty()) return nullptr;
    lane*& place = lanes[random_.below(static_cast<std::uint32_t>(lanes.size()))];
    lane* const found = place;
    place = lanes.back();
    lanes.pop_back();
    return found;
  }

  random_stream& random_;
  std::uint32_t stretch_;
  std::vector<lane*> active_;  // with room for all lanes: a lane that readies others must not allocate
  std::vector<lane*> waiting_;
};

}  // namespace warpheap::executor
