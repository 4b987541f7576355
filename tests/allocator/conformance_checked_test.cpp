// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// A checked heap is a heap: what `checked` adds keeps all promises of the design below it, with a large quarantine and
// with one that blocks leave soon. The design below cuts blocks of one size from slabs: where they are cut anywhere, as
// by the reference, what is in quarantine when a heap is filled leaves gaps, so the suite's counts of blocks differ.

#include <allocator/conformance/fixture.hpp>
#include <warpheap/designs/warp_slab/warp_slab.hpp>

namespace warpheap::test::conformance_checked_test {
namespace {

constexpr checked_options few{.quarantine = 8};

struct checked_slab : checked<warp_slab> {
  using checked::checked;
  static constexpr const char* name = "checked_slab";
};
struct checked_slab_of_few : checked<warp_slab, few> {
  using checked::checked;
  static constexpr const char* name = "checked_slab_of_few";
};
const bool registered = register_conformance<checked_slab>();
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)  // checked_races_test.cpp has both there
const bool both_registered = register_conformance<checked_slab_of_few>();
#endif

}  // namespace
}  // namespace warpheap::test::conformance_checked_test
