// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/annotation.hpp>
#include <warpheap/platform/standard.hpp>

namespace warpheap::target {

// compute-sanitizer has no call by which a kernel could mark memory.
WARPHEAP_FN inline void shadow_unpoison(void*, std::uint64_t) {}
WARPHEAP_FN inline void shadow_poison(void*, std::uint64_t) {}

}  // namespace warpheap::target
