// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// TBuddy on the paper's tree of states: the conformance suite, with pages of 16 bytes.

#include <allocators/conformance/fixture.hpp>
#include <warpheap/allocators/bulk/tbuddy.hpp>

namespace {
using warpheap::test::register_conformance;
const bool registered = register_conformance<warpheap::tbuddy<warpheap::state_buddy, 16>>();
}  // namespace
