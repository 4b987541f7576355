// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// The drop-in: `malloc`, `free`, `new` and `delete` of device code that was not written for warpheap. A program links
/// the CMake target `warpheap::dropin` and is compiled with separable compilation; its sources stay as they are. Then
/// all blocks that its kernels take come from one heap of the default design on each device. Host code keeps its own
/// `malloc` and `new`.
///
/// Without a call of `use_as_default` the first launch on a device makes that heap: of `WARPHEAP_HEAP_BYTES` bytes, a
/// number with or without a suffix K, M or G, if the environment has it, else of the bytes that
/// `cudaLimitMallocHeapSize` says, 8 MB unless the program set it. With 0 bytes, and where the device refuses the
/// memory, which is said on the standard error stream, device `malloc` returns null.
///
/// Blocks of the toolkit's own heap do not exist in such a program, since its `malloc` cannot be reached any more.

#include <warpheap.hpp>

namespace warpheap {

/// Device `malloc` and `new` take blocks from `of` from now on, and device `free` and `delete` give blocks back to it,
/// in all kernels of the device of `of`. No kernel that calls one of them runs meanwhile, and blocks of the heap that
/// served before are not given back any more. The heap outlives all calls; it may grow, and after a `relocate` it is to
/// be named anew. Throws `launch_failure` if the device refuses the copy.
void use_as_default(const heap<>& of);

/// Device `malloc` and `new` of the current device give null from now on, and no launch makes a heap. For the end of a
/// heap that `use_as_default` named. Throws `launch_failure` if the device refuses the copy.
void use_no_default();

}  // namespace warpheap
