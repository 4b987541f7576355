// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// The allocator layer as device code sees it: the concept of a design, what it speaks of, and the base of adaptors.
/// <warpheap/allocator.hpp> adds what needs the host.

#include <warpheap/allocator/adaptor_base.hpp>
#include <warpheap/allocator/arena.hpp>
#include <warpheap/allocator/block_location.hpp>
#include <warpheap/allocator/capabilities.hpp>
#include <warpheap/allocator/concept.hpp>
#include <warpheap/allocator/default_allocator.hpp>
#include <warpheap/allocator/fault.hpp>
#include <warpheap/allocator/sums.hpp>
#include <warpheap/allocator/typed_objects.hpp>
#include <warpheap/platform/device.hpp>
