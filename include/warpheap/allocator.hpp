// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// What each design of a heap models, and the adaptors that work with any of them. No design is included.

#include <warpheap/allocator/checked/checked.hpp>
#include <warpheap/allocator/device.hpp>
#include <warpheap/allocator/memory_fault.hpp>
#include <warpheap/allocator/tally.hpp>
