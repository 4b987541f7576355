// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Included by the header of a design that the registry lists for the host only. Such a design has passed its tests on
/// the host executor, under seeded schedules and sanitizers, and has not passed them on a GPU yet. A CUDA program that
/// includes it is told so, unless it defines `WARPHEAP_TRY_UNTESTED_DESIGNS`.

#include <warpheap/platform/device.hpp>

#if !WARPHEAP_RUNS_ON_HOST && !defined(WARPHEAP_TRY_UNTESTED_DESIGNS)
#error "warpheap: no GPU has passed the tests of this design: choose another, or define WARPHEAP_TRY_UNTESTED_DESIGNS"
#endif
