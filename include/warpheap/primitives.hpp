// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Algorithms of a whole device: sort, prefix sum, selection, and the scratch memory that they work in. On a GPU they
/// are CUB's, on the host the standard library's. All run on the default stream, as `launch` does, and return at once.

#include <warpheap/primitives/scratch.hpp>
#include <warpheap/primitives/select.hpp>
#include <warpheap/primitives/sort.hpp>
#include <warpheap/primitives/sum.hpp>
