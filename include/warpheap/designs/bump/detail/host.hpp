// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/allocator.hpp>
#include <warpheap/designs/bump/bump.hpp>
#include <warpheap/platform.hpp>

namespace warpheap {

inline void bump::relocate(const arena& from, const arena& to) const {
  device_copy(to.metadata, from.metadata, sizeof(control));
}

}  // namespace warpheap
