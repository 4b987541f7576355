// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The library of `warpheap run` between real programs and the real driver: this program starts itself under it, in each
// mode and by both ways in. What a program finds in its memory, and how it ends, stays as it is without the library.

#include <gtest/gtest.h>

#include <gnu/libc-version.h>
#include <sys/wait.h>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <support/child_process.hpp>
#include <support/temporary_file.hpp>
#include <tuple>
#include <vector>

namespace warpheap::test::run {
namespace {

namespace fs = std::filesystem;

struct ended {
  int status = -1;
  std::string printed;  // on both streams
  std::vector<std::string> report;
};

fs::path own_program() { return fs::read_symlink("/proc/self/exe"); }

// A build has its libraries beside the folder of its programs.
fs::path library(const char* name) { return own_program().parent_path().parent_path() / "lib" / name; }

// Runs the tests of this program that `filter` names, under the library.
ended run_under(const std::string& mode, const std::string& variable, const std::string& filter) {
  const temporary_file out("interposed", "");  // the library appends to a file that is there
  const std::string command = variable + "='" + library("libwarpheap_run.so").string() + "' WARPHEAP_RUN_MODE=" + mode +
                              " WARPHEAP_RUN_OUT='" + out.path() + "' WARPHEAP_RUN_POOL='" +
                              library("libwarpheap_pool_cuda.so").string() + "' '" + own_program().string() +
                              "' --gtest_filter='" + filter + "' 2>&1";
  ended end;
  std::FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return end;
  std::array<char, 4096> part{};
  while (const std::size_t bytes = std::fread(part.data(), 1, part.size(), pipe)) {
    end.printed.append(part.data(), bytes);
  }
  end.status = pclose(pipe);
  std::ifstream report{out.path()};
  for (std::string line; std::getline(report, line);) end.report.push_back(line);
  return end;
}

std::string text_of(const ended& end) {
  std::string text = end.printed;
  for (const std::string& line : end.report) text += line + '\n';
  return text;
}

// How many lines of the report have each of `words`.
template <class... Words>
std::size_t lines_with(const ended& end, const Words&... words) {
  std::size_t count = 0;
  for (const std::string& line : end.report) count += ((line.find(words) != std::string::npos) && ...) ? 1 : 0;
  return count;
}

// The numbers of the first line that begins with `word`, after blanks.
std::vector<std::uint64_t> numbers_of(const ended& end, const std::string& word) {
  std::vector<std::uint64_t> numbers;
  for (const std::string& line : end.report) {
    std::istringstream words{line};
    std::string first;
    if (!(words >> first) || first != word) continue;
    for (std::uint64_t number = 0; words >> number;) numbers.push_back(number);
    return numbers;
  }
  return numbers;
}

class interposed : public testing::TestWithParam<const char*> {
 public:
  void SetUp() override {
    if (!children_can_fail_freely()) {
      GTEST_SKIP() << "a memory checker is itself between the program and the driver";
    }
    for (const char* const name : {"libwarpheap_run.so", "libwarpheap_pool_cuda.so"}) {
      ASSERT_TRUE(fs::exists(library(name))) << "build the targets warpheap_run and warpheap_pool_cuda";
    }
    double version = 0;
    std::istringstream{gnu_get_libc_version()} >> version;
    if (std::string{GetParam()} == "LD_AUDIT" && version < 2.345) {
      GTEST_SKIP() << "auditors are told of all functions from glibc 2.35 on";
    }
  }

  // Runs all programs that are well, and expects that they end well.
  static ended run_programs(const std::string& mode) {
    ended end = run_under(mode, GetParam(), "program.*");
    EXPECT_TRUE(WIFEXITED(end.status) && WEXITSTATUS(end.status) == 0) << text_of(end);
    EXPECT_NE(end.printed.find("[  PASSED  ]"), std::string::npos) << text_of(end);
    EXPECT_FALSE(end.report.empty()) << text_of(end);
    return end;
  }
};

TEST_P(interposed, count_counts_what_programs_take_and_give_back) {
  const ended end = run_programs("count");
  // Lookups, calls, refusals, bytes. The children of the test that forks have reports of their own, before this one.
  const std::vector<std::uint64_t> taken = numbers_of(end, "cuMemAlloc_v2");
  const std::vector<std::uint64_t> given = numbers_of(end, "cuMemFree_v2");
  ASSERT_EQ(taken.size(), 4U) << text_of(end);
  ASSERT_EQ(given.size(), 4U) << text_of(end);
  EXPECT_GT(taken[1], 100U) << text_of(end);
  EXPECT_EQ(taken[3], given[3]) << text_of(end);
  EXPECT_GE(lines_with(end, ": count of "), 3U) << text_of(end);
}

TEST_P(interposed, check_finds_no_fault_in_programs_that_are_well) {
  const ended end = run_programs("check");
  EXPECT_GE(lines_with(end, "faults: "), 3U) << text_of(end);
  EXPECT_EQ(lines_with(end, "faults: 0; not freed: 0 blocks"), lines_with(end, "faults: ")) << text_of(end);
}

TEST_P(interposed, check_finds_each_fault) {
  const ended end = run_under("check", GetParam(), "faulty_program.*");
  EXPECT_TRUE(WIFEXITED(end.status) && WEXITSTATUS(end.status) == 0) << text_of(end);
  EXPECT_EQ(lines_with(end, "of 1000 bytes was written past its end: byte 1000 holds 0x01"), 1U) << text_of(end);
  EXPECT_EQ(lines_with(end, "of 2000 bytes was freed twice"), 1U) << text_of(end);
  EXPECT_EQ(lines_with(end, "leak: 1 of 12345 bytes, device"), 1U) << text_of(end);
  EXPECT_EQ(lines_with(end, "faults: 2; not freed: 1 blocks, 12345 bytes"), 1U) << text_of(end);
}

TEST_P(interposed, trace_has_both_ends_of_each_block) {
  const ended end = run_programs("trace");
  EXPECT_GT(lines_with(end, " + ", " device "), 100U) << text_of(end);
  EXPECT_GT(lines_with(end, " + ", " stream "), 100U) << text_of(end);
  EXPECT_EQ(lines_with(end, " + "), lines_with(end, " - ")) << text_of(end);
  EXPECT_GE(lines_with(end, " ! ", " cuMemAlloc_v2 "), 1U) << text_of(end);
  EXPECT_EQ(lines_with(end, " ? "), 0U) << text_of(end);
}

TEST_P(interposed, pool_serves_what_programs_ask_for) {
  const ended end = run_programs("pool");
  EXPECT_GE(lines_with(end, "pooled: ", "forwarded: "), 3U) << text_of(end);
  EXPECT_EQ(lines_with(end, "pooled: 0 blocks"), 0U) << text_of(end);
  EXPECT_EQ(lines_with(end, "not pooled: "), 0U) << text_of(end);
}

INSTANTIATE_TEST_SUITE_P(, interposed, testing::Values("LD_PRELOAD", "LD_AUDIT"),
                         [](const testing::TestParamInfo<const char*>& way) { return std::string{way.param}; });

}  // namespace
}  // namespace warpheap::test::run
