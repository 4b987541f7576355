// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Read-copy-update while a reader is held between its look at the epoch and the count of the section.

#include <gtest/gtest.h>

#include <cstdint>
#include <support/few_lanes.hpp>
#include <warpheap/platform.hpp>
#include <warpheap/sync.hpp>

namespace warpheap::test::held_readers_test {
namespace {

// A reader has seen the epoch and is held. A grace period begins and ends meanwhile, so that the reader counts on the
// side of the epoch before. The next grace period must wait for that reader all the same.
TEST(held_readers, a_grace_period_waits_for_a_reader_that_saw_the_epoch_before) {
  for_few_lanes(2, [&](few_lanes lanes) {
    const device_array<srcu> domain(1);
    const device_array<std::uint32_t> has_read(1);
    held_lane late{"srcu.enter.seen"};
    held_lane inside{"test.section.begun", {.until_others_wait = true}};
    bool waited = false;
    lanes.run([domain = domain.data(), has_read = has_read.data(), late = &late, inside = &inside,
               waited = &waited](unsigned lane) {
      const atomic_view read{*has_read};
      if (lane == 0) {
        const srcu::ticket in = domain->enter();
        stop_point("test.section.begun");
        read.store(1, memory_order::relaxed, thread_scope::device);
        domain->leave(in);
      } else {
        late->await();
        domain->synchronise();
        late->release();
        inside->await();
        domain->synchronise();
        *waited = read.load(memory_order::relaxed, thread_scope::device) != 0;
        inside->release();
      }
    });
    EXPECT_TRUE(waited) << "a grace period ended while a reader was in its section";
    EXPECT_EQ(domain.data()->count().readers, 0u);
  });
}

}  // namespace
}  // namespace warpheap::test::held_readers_test
