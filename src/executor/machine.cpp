// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

#include <sys/utsname.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <string>
#include <warpheap/platform/machine.hpp>

namespace warpheap::executor {
namespace {

std::string read_processor_name() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  // AArch64 kernels give numbers only.
  utsname system{};
  return ::uname(&system) == 0 ? std::string{system.machine} + " processor" : "processor";
}

}  // namespace

const char* processor_name() {
  static const std::string name = read_processor_name();
  return name.c_str();
}

std::uint64_t memory_bytes() {
  return static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

std::uint64_t nanoseconds() noexcept {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
          .count());
}

}  // namespace warpheap::executor
