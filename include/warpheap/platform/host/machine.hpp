// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <warpheap/platform/executor.hpp>
#include <warpheap/platform/machine.hpp>

namespace warpheap::executor {

/// The processor's name and the bytes of memory of this computer.
const char* processor_name();
std::uint64_t memory_bytes();

}  // namespace warpheap::executor

namespace warpheap::target {

template <class Description>
Description describe_machine() {
  return {executor::processor_name(), executor::processors(), executor::memory_bytes(), 0};
}

inline bool machine_available() { return true; }

}  // namespace warpheap::target
