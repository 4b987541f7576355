// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <support/random.hpp>
#include <utility>
#include <vector>

#include "common.hpp"

namespace warpheap::bench {

/// Random churn of one thread: 4,096 blocks of 256 B to 1 MiB are live, and again and again 256 of them, any ones, are
/// taken back and as many handed out. Returns calls of each kind.
struct churn {
  static constexpr std::size_t live = 4096;
  static constexpr std::size_t batch = 256;
  std::vector<std::pair<void*, std::uint64_t>> held;
  test::random_stream random;
  explicit churn(std::uint64_t seed) : random(seed, 0) {}

  std::uint64_t any_size() {
    const std::uint64_t top = std::uint64_t{256} << random.below(13);
    return std::min<std::uint64_t>(std::uint64_t{1} << 20, top + random.below(top));
  }
  // Chosen before the clock starts.
  void choose(std::vector<std::uint64_t>& sizes) {
    for (std::uint64_t& size : sizes) size = any_size();
    for (std::size_t k = 0; k < batch; ++k) {
      std::swap(held[held.size() - 1 - k], held[random.below(held.size() - k)]);
    }
  }
  template <class Subject>
  void fill(Subject& subject, int thread) {
    while (held.size() < live) {
      const std::uint64_t size = any_size();
      held.emplace_back(must(subject.allocate(size, thread)), size);
    }
  }
  template <class Subject>
  void take_back(Subject& subject, int thread) {
    for (std::size_t k = 0; k < batch; ++k) subject.deallocate(held[held.size() - 1 - k].first, thread);
    held.resize(held.size() - batch);
  }
  template <class Subject>
  void hand_out(Subject& subject, int thread, const std::vector<std::uint64_t>& sizes) {
    for (const std::uint64_t size : sizes) held.emplace_back(must(subject.allocate(size, thread)), size);
  }
  template <class Subject>
  void empty(Subject& subject, int thread) {
    for (const auto& [block, size] : held) subject.deallocate(block, thread);
    held.clear();
  }
  static void* must(void* block) {
    if (block == nullptr) throw std::runtime_error("the memory is too small for the churn: give more --bytes");
    return block;
  }
};

template <class Subject>
void measure_churn(const char* name, const settings& with) {
  Subject subject(with.bytes);
  churn state(1);
  state.fill(subject, 0);
  timings allocate;
  timings deallocate;
  std::vector<std::uint64_t> sizes(churn::batch);
  const int rounds = with.quick ? 4 : 100;
  for (repetitions left(with, 1); left.another();) {
    double out = 0;
    double back = 0;
    for (int round = 0; round < rounds; ++round) {
      state.choose(sizes);
      auto start = clock::now();
      state.take_back(subject, 0);
      back += nanoseconds_since(start);
      start = clock::now();
      state.hand_out(subject, 0, sizes);
      out += nanoseconds_since(start);
    }
    if (!left.counts()) continue;
    allocate.add(out / rounds / churn::batch);
    deallocate.add(back / rounds / churn::batch);
  }
  json_object record = begin_record("churn", name);
  record.add("live", std::uint64_t{churn::live});
  allocate.write(record, "allocate");
  deallocate.write(record, "deallocate");
  print(record);
  state.empty(subject, 0);
}

}  // namespace warpheap::bench
