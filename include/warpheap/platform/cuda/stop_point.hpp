// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/annotation.hpp>
#include <warpheap/platform/call_site.hpp>

namespace warpheap::target {

// The hardware chooses which thread executes, so no test can hold one.
WARPHEAP_FN inline void stop_point(const char*, call_site) {}

}  // namespace warpheap::target
