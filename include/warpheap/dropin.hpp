// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// The drop-in: `malloc`, `free`, `new` and `delete` of device code that was not written for warpheap. A program, or a
/// shared library with device code of its own, links the CMake target `warpheap::dropin` and is compiled with separable
/// compilation. Its sources stay as they are. Then all blocks that its kernels take come from one heap of the default
/// design on each device. Host code keeps its own `malloc` and `new`. Blocks of the toolkit's heap do not exist in such
/// a program, since nothing reaches the toolkit's `malloc` any more.
///
/// A program that does not include this header gets a heap by its first launch on a device. `WARPHEAP_HEAP_BYTES` of
/// the environment is its size, a number with or without a suffix K, M or G. Else the size is that of the toolkit's
/// heap, `cudaLimitMallocHeapSize`: 8 MB, or what the program sets. The heap grows when the program raises that limit
/// later. The launch waits for the device when it makes the heap. It makes none while a stream is captured: the launch
/// of the graph does. With 0 bytes, and where the device refuses the memory, device `malloc` returns null; a refusal is
/// said on the standard error stream.
///
/// A program that includes this header names its heaps itself, and no launch makes one.

#include <warpheap.hpp>

namespace warpheap {

/// Device `malloc` and `new` take blocks from `of` from now on, and device `free` and `delete` give blocks back to it,
/// in all kernels of the device of `of`. No kernel that calls one of them runs meanwhile, and blocks of the heap that
/// served before are not given back any more. The heap outlives all calls. It may grow; after a `relocate` it is to be
/// named anew. Throws `launch_failure` if the device refuses the copy.
void use_as_default(const heap<>& of);

/// Device `malloc` and `new` of the current device return null from now on. For the end of a heap that
/// `use_as_default` named. Throws `launch_failure` if the device refuses the copy.
void use_no_default();

namespace detail {

// True if the program names its heaps itself. Plain, for it changes before `main` alone.
inline bool program_names_heaps = false;

#if !defined(WARPHEAP_DROPIN_SOURCE)
// Whatever includes this header says so before `main`.
inline const bool says_that_it_names_heaps = program_names_heaps = true;
#endif

}  // namespace detail
}  // namespace warpheap
