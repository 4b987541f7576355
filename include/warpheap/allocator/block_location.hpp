// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/device.hpp>

namespace warpheap {

/// What a pointer means to a heap.
enum class block_location : std::uint32_t {
  block,   ///< the first byte of a live block
  inside,  ///< another byte of a live block
  free,    ///< memory of the heap that is in no live block
  outside  ///< not in the heap
};

}  // namespace warpheap
