// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>

namespace warpheap {

/// Lets one host thread at a time do something. For bookkeeping on the host; kernels have `spin_lock`.
using host_mutex = std::mutex;
/// Holds a `host_mutex` until the end of its scope, or until `unlock`.
using host_lock = std::unique_lock<host_mutex>;

}  // namespace warpheap
