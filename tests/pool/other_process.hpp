// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>
#include <string>

namespace warpheap::test {

/// What two processes of one test program say to each other, over a pipe each way. The child writes to stderr what it
/// would write to stdout, so that a reader of the results takes them for the parent's alone.
class other_process {
 public:
  // Runs this program's test `name`, which finds the ends of the pipes in its environment. (A GPU's context survives no
  // fork, so the child starts anew.)
  explicit other_process(const std::string& name) {
    int to[2] = {};
    int from[2] = {};
    EXPECT_EQ(::pipe(to), 0);
    EXPECT_EQ(::pipe(from), 0);
    const std::string ends = std::to_string(to[0]) + " " + std::to_string(from[1]);
    const std::string filter = "--gtest_filter=" + name;
    child_ = ::fork();
    if (child_ == 0) {
      ::close(to[1]);
      ::close(from[0]);
      ::dup2(STDERR_FILENO, STDOUT_FILENO);
      ::setenv(variable, ends.c_str(), 1);
      ::execl("/proc/self/exe", "other_process", filter.c_str(), static_cast<char*>(nullptr));
      ::_exit(127);
    }
    ::close(to[0]);
    ::close(from[1]);
    out_ = to[1];
    in_ = from[0];
  }
  // The parent, as the child sees it.
  explicit other_process(std::istringstream ends) { ends >> in_ >> out_; }
  ~other_process() {
    ::close(out_);
    ::close(in_);
    if (child_ < 0) return;
    int status = -1;
    EXPECT_EQ(::waitpid(child_, &status, 0), child_);
    EXPECT_EQ(status, 0) << "the child failed";
  }
  other_process(const other_process&) = delete;
  other_process& operator=(const other_process&) = delete;

  template <class T>
  void send(const T& what) {
    EXPECT_EQ(::write(out_, &what, sizeof(what)), static_cast<ssize_t>(sizeof(what)));
  }
  template <class T>
  T receive() {
    T what{};
    EXPECT_EQ(::read(in_, &what, sizeof(what)), static_cast<ssize_t>(sizeof(what))) << "the other process has ended";
    return what;
  }

  static constexpr const char* variable = "WARPHEAP_TEST_PIPES";

 private:
  pid_t child_ = -1;
  int in_ = -1;
  int out_ = -1;
};

}  // namespace warpheap::test
