// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// All of warpheap.

#include <warpheap/allocators.hpp>
#include <warpheap/floor.hpp>
#include <warpheap/heap.hpp>
