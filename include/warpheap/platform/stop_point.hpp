// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/annotation.hpp>
#include <warpheap/platform/call_site.hpp>

#if defined(WARPHEAP_BACKEND_CUDA)
#include <warpheap/platform/cuda/stop_point.hpp>
#else
#include <warpheap/platform/host/stop_point.hpp>
#endif

namespace warpheap {

/// Names a place between two steps of a lane, at which a test of the host backend can hold the lane while others go on
/// (tests/support/held_lane.hpp).
///
/// `name` is a string literal `PART.OPERATION.STEP`, such as "buddy_tree.put.merging": the structure or design, the
/// operation, and what the lane has just done or is about to do. Each name stands at one place, and a test uses it;
/// `tools/check_layers` checks both. On a GPU a stop point is nothing at all. On the host it costs the load of one
/// word while no test holds a lane.
WARPHEAP_FN inline void stop_point(const char* name, call_site site = call_site::current()) {
  target::stop_point(name, site);
}

}  // namespace warpheap
