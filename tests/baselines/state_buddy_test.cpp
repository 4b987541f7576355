// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

#include <structures/buddy_system.hpp>
#include <warpheap/baselines.hpp>

namespace warpheap::test::state_buddy_test {

INSTANTIATE_TYPED_TEST_SUITE_P(state_buddy, buddy_system, state_buddy);

}  // namespace warpheap::test::state_buddy_test
