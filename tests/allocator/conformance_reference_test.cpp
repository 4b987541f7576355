// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The suite passes an allocator that keeps all promises, so it takes every one of its own paths, and one that makes
// few.

#include <allocator/conformance/fixture.hpp>
#include <allocator/reference.hpp>
#include <allocator/slot_row.hpp>

namespace {
const bool registered = warpheap::test::register_conformance<warpheap::test::locked_list<>>() &&
                        warpheap::test::register_conformance<warpheap::test::slot_row<>>();
}
