// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/allocators/ouroboros/detail/handle.hpp>
#include <warpheap/allocators/ouroboros/detail/hints.hpp>
#include <warpheap/allocators/ouroboros/detail/pages.hpp>
#include <warpheap/allocators/ouroboros/detail/parking.hpp>
#include <warpheap/allocators/ouroboros/detail/relocation.hpp>
#include <warpheap/allocators/ouroboros/detail/renewal.hpp>
#include <warpheap/allocators/ouroboros/detail/runs.hpp>
#include <warpheap/allocators/ouroboros/detail/statistics.hpp>
#include <warpheap/allocators/ouroboros/detail/sweep.hpp>
