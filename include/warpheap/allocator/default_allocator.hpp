// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace warpheap {

class warp_slab;

/// The design of a heap whose owner names none. It is only declared here, so that a program includes no design but its
/// own: `heap<>` needs <warpheap.hpp>, or <warpheap/designs/warp_slab/warp_slab.hpp> beside <warpheap/heap.hpp>.
using default_allocator = warp_slab;

}  // namespace warpheap
