// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// The platform as device code sees it: threads, groups, atomics, bits, waits and checks, and nothing that only the
/// host needs. A runtime compiler can read it. Headers whose functions all run in kernels include this face;
/// <warpheap/platform.hpp> adds launches, memory and streams. `tools/check_device_face` keeps host headers out.

#include <warpheap/platform/annotation.hpp>
#include <warpheap/platform/atomic.hpp>
#include <warpheap/platform/backoff.hpp>
#include <warpheap/platform/bits.hpp>
#include <warpheap/platform/call_site.hpp>
#include <warpheap/platform/check.hpp>
#include <warpheap/platform/cold_call.hpp>
#include <warpheap/platform/group.hpp>
#include <warpheap/platform/lane.hpp>
#include <warpheap/platform/processor.hpp>
#include <warpheap/platform/reduce.hpp>
#include <warpheap/platform/shadow.hpp>
#include <warpheap/platform/spread.hpp>
#include <warpheap/platform/standard.hpp>
#include <warpheap/platform/stop_point.hpp>
