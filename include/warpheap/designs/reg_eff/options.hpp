// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/device.hpp>

namespace warpheap {

/// The choices in which the allocators of Vinkler and Havran differ.
struct reg_eff_options {
  bool fused = false;            ///< F: a header is one word of 32 bits, else a lock and a link
  bool multiple = false;         ///< M: each multiprocessor has a cursor, else all share one
  bool connect_on_free = false;  ///< `free` merges its chunk with a free one after it
};

}  // namespace warpheap
