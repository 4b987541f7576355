// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace warpheap {

/// The owner of the memory at addresses that a device reaches.
enum class memory_place {
  device,  ///< the device's own
  pinned,  ///< the host's, which stays where it is, so that both reach it
};

}  // namespace warpheap
