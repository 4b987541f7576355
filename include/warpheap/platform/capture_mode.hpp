// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/annotation.hpp>

#if defined(WARPHEAP_BACKEND_CUDA)
#include <warpheap/platform/cuda/capture_mode.hpp>
#else
#include <warpheap/platform/host/capture_mode.hpp>
#endif

namespace warpheap {

/// Keeps calls of this thread out of stream captures as long as it lives: the runtime ends a capture in global mode
/// when any thread takes or gives back memory or asks for an event, and refuses that call. To be used around calls that
/// belong to no captured work. Does nothing on the host.
using relaxed_capture_mode = target::relaxed_capture_mode;

}  // namespace warpheap
