// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <allocator/conformance/schedules.hpp>
#include <allocator/conformance/trial.hpp>
#include <cstdint>
#include <string>

// What each design with typed objects must keep, whichever it is, in the terms of its own `typed_heap`.

namespace warpheap::test {

/// An account, and one that has a limit as well.
struct account {
  struct number : soa_field<std::uint32_t> {};
  struct balance : soa_field<std::uint64_t> {};
  using fields = soa_fields<number, balance>;
};
struct limited_account : account {
  using base = account;
  struct limit : soa_field<std::uint16_t> {};
  using fields = soa_fields<limit>;
};

/// Each thread makes objects and looks whether its fields stay its own, while others do so; odd threads keep one.
struct typed_churn_kernel {
  template <class Ref, class Handle>
  WARPHEAP_FN void operator()(Ref heap, Handle* kept, std::uint64_t* wrong, int rounds) const {
    const auto self = static_cast<std::uint32_t>(grid_thread_index());
    std::uint64_t faults = 0;
    for (int i = 0; i < rounds; ++i) {
      const auto round = static_cast<std::uint32_t>(i);
      const auto plain = heap.template make<account>(self, std::uint64_t{self} << 32 | round);
      const auto other = heap.template make<limited_account>(~self, std::uint64_t{self} * 3, std::uint16_t(self + 1));
      if (!plain || !other) {
        ++faults;  // there is room for all
        continue;
      }
      faults += heap.template get<account::number>(plain) != self;
      faults += heap.template get<account::balance>(plain) != (std::uint64_t{self} << 32 | round);
      heap.template get<account::balance>(plain) += 1;
      faults += heap.template get<account::balance>(other) != std::uint64_t{self} * 3;
      faults += heap.template get<limited_account::limit>(other) != std::uint16_t(self + 1);
      faults += !heap.contains(plain) || !heap.destroy(plain);
      if (self % 2 != 0 && i + 1 == rounds) {
        kept[self] = other;
      } else {
        faults += !heap.destroy(other);
      }
    }
    if (faults != 0) atomic_view{*wrong}.fetch_add(faults, memory_order::relaxed, thread_scope::device);
  }
};

struct end_kept_kernel {
  template <class Ref, class Handle>
  WARPHEAP_FN void operator()(Ref heap, Handle* kept, std::uint64_t* wrong) const {
    const auto self = static_cast<std::uint32_t>(grid_thread_index());
    const bool there = static_cast<bool>(kept[self]);
    const bool ended = heap.destroy(kept[self]);
    if (there != (self % 2 != 0) || ended != there) {
      atomic_view{*wrong}.fetch_add(1, memory_order::relaxed, thread_scope::device);
    }
  }
};

/// Objects of two types keep their fields while threads make and destroy others, are counted, and all come back.
template <class A>
void typed_objects_keep_their_fields(findings& found) {
  if constexpr (!A::capabilities.typed_objects) {
    found.skip("typed objects");
  } else {
    using typed = typename A::template typed_heap<account, limited_account>;
    under_schedules(found, [&](std::uint64_t) {
      constexpr std::uint32_t block = 64;
      const std::uint64_t threads = align_up(scaled_for<A>(256, 1 << 15), block);
      typed objects{threads * 512};
      using handle = decltype(objects.ref().template make<limited_account>());
      const device_array<handle> kept(threads);
      const device_array<std::uint64_t> wrong(1);
      launch(grid_shape::covering(threads, block), typed_churn_kernel{}, objects.ref(), kept.data(), wrong.data(), 6);
      found.expect(wrong.at(0) == 0, std::to_string(wrong.at(0)) + " objects were refused or damaged");
      found.expect(objects.template count<limited_account>() == threads / 2, "kept objects are not counted");
      launch(grid_shape::covering(threads, block), end_kept_kernel{}, objects.ref(), kept.data(), wrong.data());
      found.expect(wrong.at(0) == 0, std::to_string(wrong.at(0)) + " objects could not be destroyed");
      found.expect(objects.template count<account>() == 0, "objects are left");
    });
  }
}

}  // namespace warpheap::test
