// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/annotation.hpp>
#include <warpheap/platform/standard.hpp>

#if defined(WARPHEAP_BACKEND_CUDA)
#include <warpheap/platform/cuda/processor.hpp>
#else
#include <warpheap/platform/host/processor.hpp>
#endif

namespace warpheap {

/// The multiprocessor that the caller runs on. A hint to spread work by: it can change at any time, and numbers can
/// have gaps, so take it modulo the number of shards.
WARPHEAP_FN inline std::uint32_t multiprocessor_index() { return target::multiprocessor_index(); }

/// A clock of the caller's multiprocessor, in its cycles. Compare values of one thread only.
WARPHEAP_FN inline std::uint64_t cycle_count() { return target::cycle_count(); }

}  // namespace warpheap
