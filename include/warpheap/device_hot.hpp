// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// The hot part of a heap of the default design, for a runtime compiler (NVRTC): the names of <warpheap/device.hpp> in
/// half of its compile time. What malloc and free seldom need is called and not compiled. So the code is relocatable
/// (`-rdc=true`) and linked with the cold part of the device library of this version, `warpheap_cold.fatbin`. A
/// translation unit includes either this header or the whole one. On the host backend it is the whole one.

#include <warpheap/platform/device.hpp>

#if !WARPHEAP_LINKS_KERNELS
#error "warpheap/device_hot.hpp calls functions of the device library: compile with -rdc=true and link it"
#endif

#if !WARPHEAP_RUNS_ON_HOST
/// A translation unit that has it calls the cold part of the default design instead of compiling it.
#define WARPHEAP_COLD_LINKED
#endif

#include <warpheap/designs/warp_slab/warp_slab.hpp>
#include <warpheap/heap/device.hpp>
