// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/device.hpp>

namespace warpheap {

/// The constants of `kma`.
struct kma_options {
  std::uint32_t currents = 32;            ///< current superblocks of a class, a power of two; the original has one
  std::uint32_t ring_capacity = 1 << 15;  ///< most free superblocks that wait in the ring, a power of two from 2 on
};

}  // namespace warpheap
