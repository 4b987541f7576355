// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Semaphores and read-copy-update under every schedule of two or three threads.

#include <gtest/gtest.h>

#include <cstdint>
#include <exploration/host/snapshot.hpp>
#include <new>
#include <string>
#include <warpheap/baselines.hpp>
#include <warpheap/platform.hpp>
#include <warpheap/platform/exploration.hpp>
#include <warpheap/sync.hpp>

namespace warpheap::test::sync_exploration_test {
namespace {

using semaphore_outcome = bulk_semaphore::outcome;

// A semaphore with so many units at first, in memory of its own.
class semaphore_memory {
 public:
  explicit semaphore_memory(std::uint64_t units) : memory_(sizeof(bulk_semaphore)) {
    semaphore().initialise(units);
    memory_.freeze();
  }
  bulk_semaphore& semaphore() const { return *reinterpret_cast<bulk_semaphore*>(memory_.data()); }
  const snapshot& memory() const { return memory_; }

 private:
  snapshot memory_;
};

std::string expect_counts(const bulk_semaphore& semaphore, std::int64_t available) {
  const bulk_semaphore::counts now = semaphore.count();
  if (now.available == available && now.expected == 0 && now.reserved == 0) return "";
  return std::to_string(now.available) + " units instead of " + std::to_string(available) + ", " +
         std::to_string(now.expected) + " expected, " + std::to_string(now.reserved) + " reserved";
}

// Two lanes take the last unit without waiting, and one gives one back.
struct take_against_give {
  bulk_semaphore* semaphore;
  bool quick;
  void operator()(std::uint64_t* out, unsigned lane) const {
    if (lane == 2) {
      semaphore->signal(1);
    } else {
      out[lane] = quick ? semaphore->try_take(1) : semaphore->try_wait(1);
    }
  }
};

TEST(explored_bulk_semaphore, take_against_give_at_the_last_unit) {
  for (const bool quick : {false, true}) {
    const semaphore_memory memory(1);
    expect_all_clean(explore_snapshot(
        memory.memory(), 3, take_against_give{&memory.semaphore(), quick}, [&](const results& out) -> std::string {
          // A quick take that fails holds the unit for a moment, and another one that looks meanwhile fails with it.
          if (!quick && out[0] + out[1] == 0) return "the unit was there, and none took it";
          return expect_counts(memory.semaphore(), 2 - static_cast<std::int64_t>(out[0] + out[1]));
        }));
  }
}

// Lanes that wait for a unit of batches that one of them makes, or gives up making.
struct make_for_waiters {
  bulk_semaphore* semaphore;
  std::uint64_t batch;
  bool fails;
  void operator()(std::uint64_t* out, unsigned lane) const {
    const semaphore_outcome what = semaphore->wait(1, batch, [&] {
      if (fails) return bulk_semaphore::production::parent_empty;
      out[8 + lane] = 1;
      return bulk_semaphore::production::made;
    });
    out[lane] = what == semaphore_outcome::failed ? 2 : 1;
  }
};

// All schedules are more than a million.
TEST(explored_bulk_semaphore, a_producer_against_two_waiters) {
  for (const std::uint64_t batch : {3u, 2u}) {
    const semaphore_memory memory(0);
    expect_all_clean(explore_snapshot(
        memory.memory(), 3, make_for_waiters{&memory.semaphore(), batch, false},
        [&](const results& out) -> std::string {
          if (out[0] != 1 || out[1] != 1 || out[2] != 1) return "a waiter was refused";
          const auto batches = static_cast<std::int64_t>(out[8] + out[9] + out[10]);
          return expect_counts(memory.semaphore(), batches * static_cast<std::int64_t>(batch) - 3);
        },
        few_switches(3)));
  }
}

TEST(explored_bulk_semaphore, a_producer_that_gives_up_against_a_waiter) {
  const semaphore_memory memory(0);
  expect_all_clean(explore_snapshot(memory.memory(), 2, make_for_waiters{&memory.semaphore(), 4, true},
                                    [&](const results& out) -> std::string {
                                      if (out[0] != 2 || out[1] != 2) return "granted what was never made";
                                      return expect_counts(memory.semaphore(), 0);
                                    }));
}

TEST(explored_bulk_semaphore, a_producer_that_gives_up_against_who_gives_a_unit) {
  struct kernel {
    make_for_waiters make;
    void operator()(std::uint64_t* out, unsigned lane) const {
      if (lane == 1) {
        make.semaphore->signal(1);
      } else {
        make(out, lane);
      }
    }
  };
  const semaphore_memory memory(0);
  expect_all_clean(explore_snapshot(
      memory.memory(), 2, kernel{{&memory.semaphore(), 4, true}},
      [&](const results& out) -> std::string { return expect_counts(memory.semaphore(), out[0] == 1 ? 0 : 1); }));
}

TEST(explored_counting_semaphore, take_against_give_at_the_last_unit) {
  snapshot memory(sizeof(counting_semaphore));
  auto* semaphore = reinterpret_cast<counting_semaphore*>(memory.data());
  memory.freeze();
  struct kernel {
    counting_semaphore* semaphore;
    void operator()(std::uint64_t* out, unsigned lane) const {
      if (lane == 2) {
        semaphore->signal(1);
      } else {
        out[lane] = semaphore->try_wait(1);
      }
    }
  };
  const exploration result = explore_snapshot(memory, 3, kernel{semaphore}, [&](const results& out) -> std::string {
    if (out[0] + out[1] > 1) return "one unit was taken twice";
    return "";
  });
  expect_all_clean(result);
}

// An object that readers come to by a link. A writer unlinks it and retires it; who reads it afterwards reads garbage.
struct linked {
  srcu domain;
  std::uint32_t link;  // 1 + the object's index, or 0
  struct object {
    srcu_node node;
    std::uint32_t alive;
  } objects[2];
};

struct retire_against_readers {
  linked* of;
  bool enters;
  bool waits_apart;
  struct reclaimer {
    void operator()(srcu_node& node) const {
      auto& dead = reinterpret_cast<linked::object&>(node);
      atomic_view{dead.alive}.store(0, memory_order::relaxed, thread_scope::device);
    }
  };
  void operator()(std::uint64_t* out, unsigned lane) const {
    if (lane == 0) return unlink_and_retire(out);
    srcu::ticket in{};
    if (enters) in = of->domain.enter();
    const std::uint32_t seen = atomic_view{of->link}.load(memory_order::acquire, thread_scope::device);
    if (seen != 0) {
      auto& object = of->objects[seen - 1];
      require(atomic_view{object.alive}.load(memory_order::relaxed, thread_scope::device) == 1,
              "a reader met a reclaimed object");
    }
    if (enters) of->domain.leave(in);
  }
  void unlink_and_retire(std::uint64_t* out) const {
    const std::uint32_t old = atomic_view{of->link}.exchange(2, memory_order::acq_rel, thread_scope::device);
    if (waits_apart) {
      of->domain.retire_and_wait(of->objects[old - 1].node, reclaimer{});
    } else {
      of->domain.retire(of->objects[old - 1].node, reclaimer{});
    }
    out[0] = of->objects[0].alive == 0;
  }
};

class linked_memory {
 public:
  linked_memory() : memory_(sizeof(linked)) {
    of().link = 1;
    of().objects[0].alive = of().objects[1].alive = 1;
    memory_.freeze();
  }
  linked& of() const { return *reinterpret_cast<linked*>(memory_.data()); }
  const snapshot& memory() const { return memory_; }

 private:
  snapshot memory_;
};

TEST(explored_srcu, retire_against_late_readers) {
  const linked_memory memory;
  for (const bool apart : {false, true}) {
    expect_all_clean(explore_snapshot(memory.memory(), 3, retire_against_readers{&memory.of(), true, apart},
                                      [&](const results& out) -> std::string {
                                        if (out[0] == 0) return "the object was not reclaimed";
                                        return memory.of().domain.count().readers == 0 ? "" : "a reader was left";
                                      }));
  }
}

// The fault of a reader that does not enter.
TEST(explored_srcu, a_reader_that_does_not_enter_is_found) {
  const linked_memory memory;
  const exploration result = explore_snapshot(memory.memory(), 2, retire_against_readers{&memory.of(), false, false},
                                              [](const results&) { return std::string{}; });
  EXPECT_NE(result.failure.find("a reader met a reclaimed object"), std::string::npos) << result.failure;
}

// Two writers and a reader: one writer may leave its object to the other.
TEST(explored_srcu, an_object_that_is_left_to_another_writer_is_reclaimed) {
  struct kernel {
    linked* of;
    void operator()(std::uint64_t* out, unsigned lane) const {
      if (lane == 2) {
        const srcu::ticket in = of->domain.enter();
        of->domain.leave(in);
      } else {
        out[lane] = of->domain.retire(of->objects[lane].node, retire_against_readers::reclaimer{});
      }
    }
  };
  const linked_memory memory;
  expect_all_clean(explore_snapshot(memory.memory(), 3, kernel{&memory.of()}, [&](const results& out) -> std::string {
    if (out[0] + out[1] == 0) return "both left it to the other";
    const linked& of = memory.of();
    return of.objects[0].alive + of.objects[1].alive == 0 ? "" : "an object was not reclaimed";
  }));
}

}  // namespace
}  // namespace warpheap::test::sync_exploration_test
