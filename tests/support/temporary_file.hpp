// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>

namespace warpheap::test {

/// A file that goes with its test. The path names the process, so another run of the test at the same time has a file
/// of its own. A test has one file of a name.
class temporary_file {
 public:
  /// A path of no file yet; `name` is its last part.
  explicit temporary_file(const std::string& name)
      : path_(testing::TempDir() + "warpheap_" + std::to_string(getpid()) + "_" + name) {}
  /// The file, which says `bytes`.
  temporary_file(const std::string& name, const std::string& bytes) : temporary_file(name) {
    std::ofstream(path_, std::ios::binary) << bytes;
  }
  ~temporary_file() { std::remove(path_.c_str()); }
  temporary_file(const temporary_file&) = delete;
  temporary_file& operator=(const temporary_file&) = delete;

  const std::string& path() const { return path_; }  ///< the whole path

 private:
  std::string path_;
};

}  // namespace warpheap::test
