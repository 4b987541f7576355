// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <system_error>

namespace warpheap::target {

// Throws std::system_error with the system's own words when `succeeded` is false; `code` is an errno.
inline void system_must(bool succeeded, int code, const char* doing) {
  if (!succeeded) throw std::system_error(code, std::generic_category(), std::string{"warpheap: "} + doing);
}

}  // namespace warpheap::target
