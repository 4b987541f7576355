// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// The allocators: the concept that they model, all of them through the registry, and what adds checks to them.

#include <warpheap/allocators/arena.hpp>
#include <warpheap/allocators/block_location.hpp>
#include <warpheap/allocators/capabilities.hpp>
#include <warpheap/allocators/checked/checked.hpp>
#include <warpheap/allocators/concept.hpp>
#include <warpheap/allocators/memory_fault.hpp>
#include <warpheap/allocators/registry.hpp>
