// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/allocators.hpp>

namespace warpheap {

/// The design of a heap whose owner names none.
using default_allocator = warp_slab;

}  // namespace warpheap
