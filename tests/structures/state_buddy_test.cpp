// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

#include "buddy_system.hpp"

namespace warpheap::test::state_buddy_test {

INSTANTIATE_TYPED_TEST_SUITE_P(state_buddy, buddy_system, state_buddy);

}  // namespace warpheap::test::state_buddy_test
