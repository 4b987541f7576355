// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

#include <heap/separate/indirect.hpp>

namespace warpheap::test {

__device__ void call_at_depth(int depth, separate_function function, void* context) {
  if (depth == 0) return function(context);
  call_at_depth(depth - 1, function, context);
}

}  // namespace warpheap::test
