// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// The allocators: the concept that they model, and all of them through the registry.

#include <warpheap/allocators/arena.hpp>
#include <warpheap/allocators/block_location.hpp>
#include <warpheap/allocators/capabilities.hpp>
#include <warpheap/allocators/concept.hpp>
#include <warpheap/allocators/registry.hpp>
