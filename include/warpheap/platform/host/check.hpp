// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/check.hpp>
#include <warpheap/platform/executor.hpp>

namespace warpheap::target {

[[noreturn]] inline void check_failed(const char* message, call_site site) { executor::fail(message, site); }

}  // namespace warpheap::target
