// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// What a kernel needs of a heap of the default design, for a runtime compiler (NVRTC): it has neither host functions
/// nor headers of the host's standard library. It needs -std=c++20 and libcu++ on the include path. Other programs
/// include <warpheap.hpp>, which has the same names.

#include <warpheap/designs/warp_slab/warp_slab.hpp>
#include <warpheap/heap/device.hpp>
