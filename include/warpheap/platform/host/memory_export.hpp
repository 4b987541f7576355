// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>
#include <warpheap/platform/host/detail/failure_point.hpp>
#include <warpheap/platform/host/error.hpp>
#include <warpheap/platform/host/machine.hpp>
#include <warpheap/platform/machine.hpp>
#include <warpheap/platform/schedule.hpp>

namespace warpheap::target {

// A file in memory. Another process opens it by the number of the process and of the file, as long as both are there.
struct exported {
  void* data = nullptr;
  int file = -1;
};

// What a handle holds. The file's own number tells that another file has the same number by now.
struct exported_name {
  std::int64_t process;
  std::int64_t file;
  std::uint64_t device;
  std::uint64_t inode;
};

inline std::array<unsigned char, 16> identity_of_device(int device) {
  if (device == 0) return {};
  throw launch_failure("warpheap: there is no device " + std::to_string(device) + ": the host backend has device 0");
}

inline exported make_exported(std::uint64_t bytes) {
  if (bytes > executor::memory_bytes() || is_to_fail(device_call::allocate)) {
    system_refuses(ENOMEM, "allocating " + std::to_string(bytes) + " bytes of memory for other processes");
  }
  exported made;
  made.file = ::memfd_create("warpheap", MFD_CLOEXEC);
  system_must(made.file >= 0, "making memory for other processes");
  void* const mapped = ::ftruncate(made.file, static_cast<off_t>(bytes)) == 0
                           ? ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, made.file, 0)
                           : MAP_FAILED;
  if (mapped == MAP_FAILED) {
    const int code = errno;
    ::close(made.file);
    system_refuses(code, "mapping memory for other processes");
  }
  made.data = mapped;
  return made;
}

inline void release_exported(exported& memory, std::uint64_t bytes) noexcept {
  ::munmap(memory.data, bytes);
  ::close(memory.file);
}

inline std::array<unsigned char, 64> handle_of(const exported& memory, std::uint64_t) {
  struct stat about {};
  system_must(::fstat(memory.file, &about) == 0, "naming memory for other processes");
  const exported_name name{::getpid(), memory.file, about.st_dev, about.st_ino};
  std::array<unsigned char, 64> handle{};
  static_assert(sizeof(name) <= sizeof(handle));
  std::memcpy(handle.data(), &name, sizeof(name));
  return handle;
}

// As a GPU's driver refuses it, whose words say less.
[[noreturn]] inline void refuse_import(int code) {
  throw launch_failure(std::string{"warpheap: mapping memory of another process, which must not have ended or given it "
                                   "back, and must be of the same user: "} +
                       std::strerror(code));
}

inline void* map_exported(const std::array<unsigned char, 64>& handle, std::uint64_t bytes) {
  if (is_to_fail(device_call::allocate)) system_refuses(ENOMEM, "mapping memory of another process");
  exported_name name{};
  std::memcpy(&name, handle.data(), sizeof(name));
  const std::string path = "/proc/" + std::to_string(name.process) + "/fd/" + std::to_string(name.file);
  const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) refuse_import(errno);
  struct stat about {};
  const bool is_same = ::fstat(file, &about) == 0 && about.st_dev == name.device && about.st_ino == name.inode &&
                       static_cast<std::uint64_t>(about.st_size) == bytes;
  void* const mapped = is_same ? ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : MAP_FAILED;
  const int code = errno;
  ::close(file);
  if (!is_same) refuse_import(ESTALE);
  if (mapped == MAP_FAILED) system_refuses(code, "mapping memory of another process");
  return mapped;
}

inline void unmap_exported(void* data, std::uint64_t bytes) noexcept { ::munmap(data, bytes); }

}  // namespace warpheap::target
