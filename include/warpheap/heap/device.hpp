// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// The heap as device code sees it: the handle that kernels take. <warpheap/heap.hpp> adds the owner.

#include <warpheap/heap/batch.hpp>
#include <warpheap/heap/heap_ref.hpp>
#include <warpheap/heap/relocation.hpp>
