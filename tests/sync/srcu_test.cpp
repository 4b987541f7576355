// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// SRCU: no reader sees what was reclaimed, and a random schedule shows that one does in the plain form; what is retired
// is reclaimed exactly once; who may leave the waiting to another does not wait.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <support/random.hpp>
#include <support/scale.hpp>
#include <support/schedules.hpp>
#include <vector>
#include <warpheap/sync.hpp>

#include "srcu_domains.hpp"

namespace warpheap::test::srcu_test {
namespace {

/// Seeds of the schedules under which both forms are tried.
constexpr std::uint64_t gap_seeds = 60;

/// True if a reader saw an object after its grace period, under the random schedule of `seed`.
template <class Domain>
bool reader_sees_the_dead(std::uint64_t seed) {
  schedule plan = current_schedule();
  plan.order = schedule::policy::random;
  plan.seed = seed;
  plan.workers = 1;
  const scoped_schedule guard{plan};
  const device_array<replaced<Domain>> shared(1);
  launch({1, 3}, replace_kernel{}, shared.data(), 2u, 200);
  return shared.at(0).seen_dead != 0;
}

TEST(srcu, no_reader_sees_what_was_reclaimed) {
  for (std::uint64_t seed = 1; seed <= gap_seeds; ++seed) {
    ASSERT_FALSE(reader_sees_the_dead<srcu>(seed)) << "random schedule, seed " << seed << ", 1 worker";
  }
}

// That the schedules can find the gap; on a GPU nobody can promise that they do.
TEST(srcu, the_plain_form_lets_a_reader_see_it) {
  if (this_backend != backend::host) GTEST_SKIP() << "a GPU's schedule is not ours to choose";
  std::uint64_t found = 0;
  for (std::uint64_t seed = 1; seed <= gap_seeds; ++seed) found += reader_sees_the_dead<plain_srcu>(seed) ? 1 : 0;
  EXPECT_NE(found, 0u) << "the schedules are too tame to find the gap";
}

TEST(srcu, readers_of_many_blocks_are_waited_for) {
  for_each_schedule([](std::uint64_t) {
    const grid_shape grid = grid_shape::covering(scaled(512, 1 << 14), 64);
    const device_array<replaced<srcu>> shared(1);
    launch(grid, replace_kernel{}, shared.data(), 2u, 6);
    EXPECT_EQ(shared.at(0).seen_dead, 0u);
    EXPECT_EQ(shared.at(0).domain.count().readers, 0u);
  });
}

/// An object of a doubly linked list: plain memory but for the links that readers follow.
struct element {
  srcu_node node;
  std::uint64_t next;  // address of the next element, 0 at the end
  std::uint64_t previous;
  std::uint32_t tag;
  std::uint32_t reclaimed;  // how often
};
static_assert(offsetof(element, node) == 0);

struct list {
  srcu domain;
  spin_lock writers;
  std::uint64_t first;
  std::uint64_t found;
  std::uint64_t waited;  // retirements whose thread did the waiting
};

struct reclaim_element {
  WARPHEAP_FN void operator()(srcu_node& node) const {
    auto& dead = reinterpret_cast<element&>(node);
    ++dead.reclaimed;
    dead.tag = 0;  // plain: a race with any reader that was not waited for
  }
};

struct link_all_kernel {
  WARPHEAP_FN void operator()(list* all, element* elements, std::uint32_t count) const {
    for (std::uint32_t i = 0; i < count; ++i) {
      elements[i].tag = i + 1;
      elements[i].next = i + 1 < count ? reinterpret_cast<std::uint64_t>(elements + i + 1) : 0;
      elements[i].previous = i != 0 ? reinterpret_cast<std::uint64_t>(elements + i - 1) : 0;
    }
    all->first = reinterpret_cast<std::uint64_t>(elements);
  }
};

/// The paper's experiment: each thread searches a tag; one thread of each tag removes its element.
struct remove_kernel {
  bool delegate;

  WARPHEAP_FN void operator()(list* all, std::uint32_t count) const {
    const auto wanted = static_cast<std::uint32_t>(grid_thread_index() % count) + 1;
    const srcu::ticket at = all->domain.enter();
    element* const target = find(all, wanted);
    const bool remover = grid_thread_index() < count;
    require(!remover || target != nullptr, "an element that nobody removed was not found");
    if (target != nullptr) atomic_view{all->found}.fetch_add(1, memory_order::relaxed, thread_scope::device);
    all->domain.leave(at);
    if (!remover) return;
    // Only we remove it, so it is there after the section as well.
    all->writers.hold([&] { unlink(all, *target); });
    bool waited = true;
    if (delegate) {
      waited = all->domain.retire(target->node, reclaim_element{});
    } else {
      all->domain.retire_and_wait(target->node, reclaim_element{});
    }
    if (waited) atomic_view{all->waited}.fetch_add(1, memory_order::relaxed, thread_scope::device);
  }

 private:
  WARPHEAP_FN static element* find(list* all, std::uint32_t wanted) {
    using enum memory_order;
    auto* each = reinterpret_cast<element*>(atomic_view{all->first}.load(acquire, thread_scope::device));
    while (each != nullptr) {  // not a spin: each turn goes on along the list
      require(each->tag != 0, "a reader stands in a reclaimed element");
      if (each->tag == wanted) return each;
      each = reinterpret_cast<element*>(atomic_view{each->next}.load(acquire, thread_scope::device));
    }
    return nullptr;
  }
  WARPHEAP_FN static void unlink(list* all, element& dead) {
    using enum memory_order;
    const std::uint64_t next = atomic_view{dead.next}.load(relaxed, thread_scope::device);
    std::uint64_t& before = dead.previous != 0 ? reinterpret_cast<element*>(dead.previous)->next : all->first;
    atomic_view{before}.store(next, release, thread_scope::device);
    if (next != 0) reinterpret_cast<element*>(next)->previous = dead.previous;
  }
};

TEST(srcu, removes_from_a_list_that_others_search) {
  for_each_schedule([](std::uint64_t) {
    for (const bool delegate : {true, false}) {
      const std::uint32_t count = 24;
      const device_array<list> all(1);
      const device_array<element> elements(count);
      launch({1, 1}, link_all_kernel{}, all.data(), elements.data(), count);
      launch(grid_shape::covering(scaled(512, 1 << 12), 64), remove_kernel{delegate}, all.data(), count);
      EXPECT_EQ(all.at(0).first, 0u);
      EXPECT_GE(all.at(0).found, count);
      for (const element& each : elements.to_host()) EXPECT_EQ(each.reclaimed, 1u);
      const srcu::counts counts = all.at(0).domain.count();
      EXPECT_EQ(counts.readers, 0u);
      EXPECT_FALSE(counts.pending);
    }
  });
}

/// A reader stays in until all writers but two have come back: who may leave the waiting to another must not wait.
struct delegation_kernel {
  WARPHEAP_FN void operator()(list* all, element* elements) const {
    using enum memory_order;
    using enum thread_scope;
    const atomic_view returned{all->found};
    const atomic_view reader_is_in{all->first};
    const std::uint64_t writers = grid_threads() - 1;
    backoff wait;
    if (grid_thread_index() == 0) {
      const srcu::ticket at = all->domain.enter();
      reader_is_in.store(1, release, device);
      while (returned.load(relaxed, device) < writers - 2) wait.pause();
      for (std::uint64_t i = 1; i <= writers; ++i) {
        require(atomic_view{elements[i].reclaimed}.load(relaxed, device) == 0, "reclaimed beside a reader");
      }
      all->domain.leave(at);
      return;
    }
    while (reader_is_in.load(acquire, device) == 0) wait.pause();
    const auto reclaim = [](srcu_node& node) {
      atomic_view{reinterpret_cast<element&>(node).reclaimed}.fetch_add(1, relaxed, device);
    };
    if (all->domain.retire(elements[grid_thread_index()].node, reclaim)) {
      atomic_view{all->waited}.fetch_add(1, relaxed, device);
    }
    returned.fetch_add(1, relaxed, device);
  }
};

TEST(srcu, all_but_two_writers_go_on_at_once) {
  for_each_schedule([](std::uint64_t) {
    const grid_shape grid{3, 32};
    const device_array<list> all(1);
    const device_array<element> elements(grid.blocks * grid.threads);
    launch(grid, delegation_kernel{}, all.data(), elements.data());
    // One, if all others retired theirs before the first took what was pending.
    EXPECT_TRUE(all.at(0).waited == 1 || all.at(0).waited == 2) << all.at(0).waited;
    const std::vector<element> after = elements.to_host();
    for (std::size_t i = 1; i < after.size(); ++i) EXPECT_EQ(after[i].reclaimed, 1u);
  });
}

/// Writers write to plain memory, wait or have others wait, and say so by a relaxed store, which orders nothing.
/// Readers that find it said are in a section that began after the grace period, and read.
struct publish_kernel {
  WARPHEAP_FN void operator()(list* all, element* elements, std::uint32_t* done, std::uint32_t writers) const {
    using enum memory_order;
    using enum thread_scope;
    const auto self = static_cast<std::uint32_t>(grid_thread_index());
    // Writers and readers take turns in each warp.
    if (self % 2 == 0 && self / 2 < writers) {
      element& mine = elements[self / 2];
      mine.tag = 42;
      if (self % 4 == 0) {
        all->domain.synchronise();
        atomic_view{done[self / 2]}.store(1, relaxed, device);
      } else {
        const auto say = [=](srcu_node& node) {
          atomic_view{done[reinterpret_cast<element*>(&node) - elements]}.store(1, relaxed, device);
        };
        all->domain.retire(mine.node, say);
      }
      return;
    }
    for (std::uint32_t i = 0; i < 2 * writers; ++i) {
      const std::uint32_t which = (i + self) % writers;
      const srcu::ticket at = all->domain.enter();
      if (atomic_view{done[which]}.load(relaxed, device) != 0) {
        require(elements[which].tag == 42, "a reader that came after a grace period sees what was before");
      }
      all->domain.leave(at);
    }
  }
};

TEST(srcu, who_enters_after_a_grace_period_sees_what_was_done_before) {
  for_each_schedule([](std::uint64_t) {
    const std::uint32_t writers = 16;
    const device_array<list> all(1);
    const device_array<element> elements(writers);
    const device_array<std::uint32_t> done(writers);
    launch({2, 32}, publish_kernel{}, all.data(), elements.data(), done.data(), writers);
    for (const std::uint32_t each : done.to_host()) EXPECT_EQ(each, 1u);
  });
}

/// Lanes read as groups: who waits for them sees what each lane did inside, and each lane sees what was done before a
/// grace period that is over.
struct group_reader_kernel {
  WARPHEAP_FN void operator()(srcu* domain, std::uint32_t* rows, std::uint32_t* current, std::uint32_t* done) const {
    using enum memory_order;
    using enum thread_scope;
    const std::uint64_t threads = grid_threads();
    if (grid_thread_index() / warp_width == 0) {
      if (lane_index() != 0) return;
      for (std::uint64_t i = 0; i < threads; ++i) rows[2 * threads + i] = 9;
      for (backoff wait; atomic_view{*done}.load(relaxed, device) < 2;) wait.pause();  // groups are at work
      // From now on nobody writes to the first row; afterwards it is ours.
      atomic_view{*current}.store(1, relaxed, device);
      domain->synchronise();
      for (std::uint64_t i = 0; i < threads; ++i) rows[i] = 7;
      atomic_view{*current}.store(2, relaxed, device);
      return;
    }
    for (std::uint32_t row = 0; row != 2;) {
      const lane_mask group = active_group();
      const srcu::ticket at = domain->enter(group);
      row = shuffle(group, atomic_view{*current}.load(relaxed, device), leader(group));
      if (row == 2) {
        require(rows[2 * threads + grid_thread_index()] == 9, "a lane came after a grace period and sees less");
      } else {
        ++rows[row * threads + grid_thread_index()];
      }
      domain->leave(group, at);
      atomic_view{*done}.fetch_add(1, relaxed, device);
      backoff{}.pause();
    }
  }
};

TEST(srcu, groups_read_as_one) {
  for_each_schedule([](std::uint64_t) {
    const grid_shape grid{2, 64};
    const std::uint64_t threads = grid.blocks * grid.threads;
    const device_array<srcu> domain(1);
    const device_array<std::uint32_t> rows(3 * threads);
    const device_array<std::uint32_t> current(1);
    const device_array<std::uint32_t> done(1);
    launch(grid, group_reader_kernel{}, domain.data(), rows.data(), current.data(), done.data());
    const std::vector<std::uint32_t> after = rows.to_host();
    for (std::uint64_t i = 0; i < threads; ++i) EXPECT_EQ(after[i], 7u);
    EXPECT_EQ(domain.at(0).count().readers, 0u);
  });
}

/// Many call the barrier at once beside a reader.
struct barrier_storm_kernel {
  WARPHEAP_FN void operator()(srcu* domain, std::uint32_t* plain) const {
    if (thread_index() % 4 == 0) {
      const srcu::ticket at = domain->enter();
      domain->leave(at);
    } else {
      domain->synchronise();
    }
    plain[grid_thread_index()] += 1;
  }
};

TEST(srcu, barriers_that_are_called_together_share_grace_periods) {
  for_each_schedule([](std::uint64_t) {
    const grid_shape grid{2, 64};
    const device_array<srcu> domain(1);
    const device_array<std::uint32_t> plain(grid.blocks * grid.threads);
    launch(grid, barrier_storm_kernel{}, domain.data(), plain.data());
    const srcu::counts counts = domain.at(0).count();
    EXPECT_EQ(counts.readers, 0u);
    EXPECT_GE(counts.epoch, 1u);
    EXPECT_LE(counts.epoch, 96u) << "more grace periods than calls";
    for (const std::uint32_t each : plain.to_host()) EXPECT_EQ(each, 1u);
  });
}

}  // namespace
}  // namespace warpheap::test::srcu_test
