// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// The floor: everything that depends on the machine. Upper layers include this header and nothing below it.

#include <warpheap/floor/annotation.hpp>
#include <warpheap/floor/atomic.hpp>
#include <warpheap/floor/backoff.hpp>
#include <warpheap/floor/bits.hpp>
#include <warpheap/floor/call_site.hpp>
#include <warpheap/floor/call_stack.hpp>
#include <warpheap/floor/check.hpp>
#include <warpheap/floor/cold_call.hpp>
#include <warpheap/floor/device_array.hpp>
#include <warpheap/floor/group.hpp>
#include <warpheap/floor/growing_memory.hpp>
#include <warpheap/floor/host_mutex.hpp>
#include <warpheap/floor/host_range.hpp>
#include <warpheap/floor/host_thread.hpp>
#include <warpheap/floor/lane.hpp>
#include <warpheap/floor/launch.hpp>
#include <warpheap/floor/machine.hpp>
#include <warpheap/floor/memory_space.hpp>
#include <warpheap/floor/reduce.hpp>
#include <warpheap/floor/schedule.hpp>
#include <warpheap/floor/shadow.hpp>
#include <warpheap/floor/shared_memory.hpp>
#include <warpheap/floor/stream.hpp>
#include <warpheap/floor/timer.hpp>
#include <warpheap/floor/toolkit_heap.hpp>
