// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

#include "buddy_system.hpp"

namespace warpheap::test {

INSTANTIATE_TYPED_TEST_SUITE_P(buddy_tree, buddy_system, buddy_tree);

}  // namespace warpheap::test
