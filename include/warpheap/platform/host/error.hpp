// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>
#include <string>
#include <system_error>

namespace warpheap::target {

// Throws std::system_error with the system's own words for `code`, an errno.
[[noreturn]] inline void system_refuses(int code, const std::string& doing) {
  throw std::system_error(code, std::generic_category(), "warpheap: " + doing);
}

// Throws std::system_error with the system's own words for errno when `succeeded`, the outcome of a system call, is
// false. It reads errno itself: as an argument it could be read before the system call, which is an argument too.
inline void system_must(bool succeeded, const char* doing) {
  if (succeeded) return;
  const int code = errno;
  system_refuses(code, doing);
}

}  // namespace warpheap::target
