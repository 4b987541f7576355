// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// The heap: `heap<A>` owns device memory, `heap_ref<A>` is what kernels take.

#include <warpheap/heap/batch.hpp>
#include <warpheap/heap/heap.hpp>
#include <warpheap/heap/heap_ref.hpp>
#include <warpheap/heap/relocation.hpp>
