// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <warpheap/platform/annotation.hpp>

#if defined(WARPHEAP_BACKEND_CUDA)
#include <warpheap/platform/cuda/shared_memory.hpp>
#else
#include <warpheap/platform/host/shared_memory.hpp>
#endif

namespace warpheap {

/// Host memory that the device reads and writes in place and copies fast, as it stays where it is; at least 256-byte
/// aligned. Throws when the machine refuses it. On the host backend plain memory. `pinned_release` takes it back.
inline void* pinned_allocate(std::uint64_t bytes) { return target::pinned_allocate(bytes); }
/// Takes back what `pinned_allocate` gave; null is ignored.
inline void pinned_release(void* memory) noexcept { target::pinned_release(memory); }

/// Memory that moves between host and device to where it is used; at least 256-byte aligned. Throws when the machine
/// refuses it. On the host backend plain memory. `managed_release` takes it back.
inline void* managed_allocate(std::uint64_t bytes) { return target::managed_allocate(bytes); }
/// Takes back what `managed_allocate` gave; null is ignored.
inline void managed_release(void* memory) noexcept { target::managed_release(memory); }

}  // namespace warpheap
