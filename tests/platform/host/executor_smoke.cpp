// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// A program that needs only the executor: what must hold for each warp width, way of switching and processor. It is
// built with other settings than the tests around it, and for AArch64, so it does without GoogleTest.

#include <cstdint>
#include <cstdio>
#include <string>
#include <warpheap/platform.hpp>

namespace warpheap {
namespace {

using word = std::uint32_t;
constexpr thread_scope scope = thread_scope::device;
constexpr lane_mask full = low_bits(warp_width);

int failures = 0;

void expect(bool holds, const char* what) {
  if (holds) return;
  std::printf("FAILED: %s (%s schedule, seed %llu)\n", what,
              current_schedule().order == schedule::policy::random ? "random" : "round-robin",
              static_cast<unsigned long long>(current_schedule().seed));
  ++failures;
}

struct results {
  word lock;
  word count;
  word wrong;
  word sum;
  double real;
};

struct tile {
  word values[100];
};

struct use_everything {
  void operator()(tile& shared, results* out) const {
    const atomic_view<word> wrong{out->wrong};
    const auto check = [&](bool holds) {
      if (!holds) wrong.fetch_add(1, memory_order::relaxed, scope);
    };
    const word me = thread_index();
    const word first = me / warp_width * warp_width;
    const lane_mask warp = full & low_bits(static_cast<int>(block_threads() - first));
    check(ballot(warp, true) == warp);
    check(shuffle(warp, me, leader(warp)) == first);
    // Values in registers that a callee keeps, and floating point, live on across switches.
    double real = lane_index();
    word sum = 0;
    for (word i = 0; i < 5; ++i) {
      real = real * 2 + 1;
      sum += reduce(warp, i + me, plus{});
    }
    check(real == lane_index() * 32 + 31);
    const lane_mask group = active_group();
    check((group & lane_bit()) != 0 && ballot(group, true) == group);
    shared.values[me] = sum;
    sync_block();
    check(shared.values[(me / warp_width) * warp_width] == sum);
    {
      backoff wait;
      while (atomic_view{out->lock}.exchange(1, memory_order::acquire, scope) != 0) wait.pause();
    }
    ++out->count;
    out->real += 0.5;
    atomic_view{out->lock}.store(0, memory_order::release, scope);
  }
};

struct never_meet {
  void operator()(word* flag) const {
    backoff wait;
    while (atomic_view{*flag}.load(memory_order::acquire, scope) == 0) wait.pause();
  }
};

struct throw_and_catch {
  void operator()(results* out) const {
    try {
      if (thread_index() % 2 == 0) throw 5;
    } catch (int) {
      atomic_view{out->sum}.fetch_add(1, memory_order::relaxed, scope);
    }
  }
};

void run_under(const schedule& plan) {
  const scoped_schedule guard{plan};
  device_array<results> out(1);
  launch_with_shared<tile>(grid_shape{7, 100}, use_everything{}, out.data());
  launch(grid_shape{2, 64}, throw_and_catch{}, out.data());
  const results found = out.at(0);
  expect(found.wrong == 0, "collectives and storage of a block");
  expect(found.count == 700 && found.real == 350, "a lock");
  expect(found.sum == 64, "exceptions that stay in the kernel");
  std::string reports[2];
  for (std::string& report : reports) {
    device_array<word> flag(1);
    try {
      launch(grid_shape{3, 40}, never_meet{}, flag.data());
    } catch (const launch_failure& failure) {
      report = failure.what();
    }
  }
  expect(reports[0].find("no progress") != std::string::npos, "the watchdog");
  expect(plan.workers > 1 || reports[0] == reports[1], "replay");
}

int run_all() {
  schedule plan;
  plan.workers = 1;
  run_under(plan);
  plan.order = schedule::policy::random;
  for (plan.seed = 1; plan.seed <= 4; ++plan.seed) {
    plan.fuzz = plan.seed % 2 == 0;
    run_under(plan);
  }
  plan.workers = 2;
  run_under(plan);
  std::printf("warps of %d lanes: %d failures\n", warp_width, failures);
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace warpheap

int main() { return warpheap::run_all(); }
