// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// One kernel can use heaps of two designs: neither takes the other's stack, nor that of the kernel.

#include <gtest/gtest.h>

#include <allocator/conformance/call_stacks.hpp>
#include <support/schedules.hpp>
#include <support/watched_heap.hpp>
#include <warpheap/designs/registry.hpp>

namespace warpheap::test::two_designs_test {
namespace {

/// Each thread takes blocks of two heaps in turn, and has 700 bytes of its own on the stack.
struct two_designs_kernel {
  template <class A, class B>
  WARPHEAP_FN void operator()(watched_heap<A> a, watched_heap<B> b, std::uint64_t seed, std::uint64_t steps) const {
    random_stream random{seed, grid_thread_index()};
    own_frame own{random.below(1 << 20)};
    for (std::uint64_t step = 0; step < steps; ++step) {
      const std::uint64_t bytes = random.size(a.capped(b.capped(1 << 14)));
      void* const first = a.malloc(bytes);
      void* const second = b.malloc(bytes);
      a.log.expect(own.intact(), problem::damaged, bytes, first);
      if constexpr (A::capabilities.individual_free) a.free(first, bytes);
      if constexpr (B::capabilities.individual_free) b.free(second, bytes);
      a.log.expect(own.intact(), problem::damaged, bytes, second);
    }
  }
};

template <class A, class B>
struct pair_of {
  using first = A;
  using second = B;
};

template <class Pair>
class two_designs : public testing::Test {};
using pairs = testing::Types<pair_of<warp_slab, bulk>, pair_of<ouroboros_s_p, ouroboros_va_c>,
                             pair_of<ouroboros_va_p, ouroboros_vl_c>, pair_of<ouroboros_vl_p, ouroboros_s_c>,
                             pair_of<bump, warp_slab>>;
TYPED_TEST_SUITE(two_designs, pairs);

TYPED_TEST(two_designs, may_serve_one_kernel) {
  using A = typename TypeParam::first;
  using B = typename TypeParam::second;
  for_each_schedule(
      [](std::uint64_t seed) {
        findings found;
        trial<A> a{found, this_backend == backend::host ? 256_KiB : 4_MiB};
        trial<B> b{found, this_backend == backend::host ? 256_KiB : 4_MiB};
        a.run_unwatched(scaled(128, 1 << 13), two_designs_kernel{}, a.watched(), b.watched(), seed, scaled(4, 16));
        for (const std::string& text : found.texts()) ADD_FAILURE() << A::name << " and " << B::name << ": " << text;
      },
      2);
}

}  // namespace
}  // namespace warpheap::test::two_designs_test
