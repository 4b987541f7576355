// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/device.hpp>

namespace warpheap {

/// Compile-time settings of Halloc. Fills are in thousandths of the blocks of a slab.
struct halloc_options {
  /// Bytes of a slab, a power of two from 4 KiB to 16 MiB. A heap of fewer than `slabs_of_heap` such slabs has smaller
  /// ones.
  std::uint32_t slab_bytes = 4u << 20;
  std::uint32_t slabs_of_heap = 128;  ///< slabs that a heap has at least when it is made, as long as they have 4 KiB
  std::uint32_t heads = 32;           ///< head slabs of a size class, a power of two; 1 is the original's form
  std::uint32_t busy = 835;           ///< fill from which on a head slab is replaced
  std::uint32_t roomy = 600;          ///< fill up to which a slab is roomy
  std::uint32_t sparse = 20;          ///< fill up to which a slab is sparse
  std::uint32_t hash_step = 11;       ///< the step between groups of requests, in words of the bitmap
  std::uint32_t slabs_at_once = 16;   ///< threads that may make a slab of one class at once: the throttle
};

}  // namespace warpheap
