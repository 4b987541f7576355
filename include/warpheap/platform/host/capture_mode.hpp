// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace warpheap::target {

// The host backend captures nothing.
class relaxed_capture_mode {
 public:
  relaxed_capture_mode() {}  // user-provided, so that an object which only lives is no unused variable
  relaxed_capture_mode(const relaxed_capture_mode&) = delete;
  relaxed_capture_mode& operator=(const relaxed_capture_mode&) = delete;
};

}  // namespace warpheap::target
