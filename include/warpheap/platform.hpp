// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// The platform layer: everything that depends on the machine. Upper layers include this header and nothing below it.

#include <warpheap/platform/call_stack.hpp>
#include <warpheap/platform/capture_mode.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/platform/device_array.hpp>
#include <warpheap/platform/device_context.hpp>
#include <warpheap/platform/growing_memory.hpp>
#include <warpheap/platform/host_count.hpp>
#include <warpheap/platform/host_mutex.hpp>
#include <warpheap/platform/host_range.hpp>
#include <warpheap/platform/host_thread.hpp>
#include <warpheap/platform/launch.hpp>
#include <warpheap/platform/machine.hpp>
#include <warpheap/platform/memory_export.hpp>
#include <warpheap/platform/memory_space.hpp>
#include <warpheap/platform/schedule.hpp>
#include <warpheap/platform/shared_memory.hpp>
#include <warpheap/platform/size_limit.hpp>
#include <warpheap/platform/stream.hpp>
#include <warpheap/platform/timer.hpp>
#include <warpheap/platform/toolkit_heap.hpp>
