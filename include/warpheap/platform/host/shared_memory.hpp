// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <warpheap/platform/host/memory_space.hpp>

namespace warpheap::target {

inline void* pinned_allocate(std::uint64_t bytes) { return device_allocate(bytes); }
inline void pinned_release(void* memory) noexcept { device_release(memory); }
inline void* managed_allocate(std::uint64_t bytes) { return device_allocate(bytes); }
inline void managed_release(void* memory) noexcept { device_release(memory); }

}  // namespace warpheap::target
