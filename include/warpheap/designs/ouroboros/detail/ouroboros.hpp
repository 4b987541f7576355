// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/ouroboros/detail/handle.hpp>
#include <warpheap/designs/ouroboros/detail/hints.hpp>
#include <warpheap/designs/ouroboros/detail/pages.hpp>
#include <warpheap/designs/ouroboros/detail/parking.hpp>
#include <warpheap/designs/ouroboros/detail/relocation.hpp>
#include <warpheap/designs/ouroboros/detail/renewal.hpp>
#include <warpheap/designs/ouroboros/detail/runs.hpp>
#include <warpheap/designs/ouroboros/detail/statistics.hpp>
#include <warpheap/designs/ouroboros/detail/sweep.hpp>
