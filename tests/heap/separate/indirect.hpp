// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace warpheap::test {

/// A device function that another translation unit knows by its address only.
using separate_function = void (*)(void* context);

/// Calls `function(context)` below `depth` frames of a recursion. Another translation unit defines it, so the compiler
/// of the caller sees neither the recursion nor the call through the pointer.
__device__ void call_at_depth(int depth, separate_function function, void* context);

}  // namespace warpheap::test
