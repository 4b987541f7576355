// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// A file of compressed sparse rows is read as Python wrote it, and each damage is told with file and remedy.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <support/temporary_file.hpp>
#include <vector>
#include <warpheap/graph/csr_file.hpp>

namespace warpheap::test::csr_file_test {
namespace {

/// The bytes of a number, the lowest first.
std::string bytes_of(std::uint64_t value, int count) {
  std::string bytes;
  for (int i = 0; i < count; ++i) bytes += static_cast<char>(value >> 8 * i & 0xff);
  return bytes;
}

/// The file that python/tests/test_graphs.py compares byte by byte with what `write_csr` writes.
std::string sample() {
  std::string bytes = "wheapcsr" + bytes_of(1, 4) + bytes_of(1, 4) + bytes_of(3, 8) + bytes_of(3, 8);
  for (const int offset : {0, 2, 2, 3}) bytes += bytes_of(static_cast<std::uint64_t>(offset), 8);
  for (const int neighbour : {1, 2, 0}) bytes += bytes_of(static_cast<std::uint64_t>(neighbour), 4);
  return bytes;
}

/// What the reader says of these bytes.
std::string complaint(const std::string& bytes) {
  const temporary_file file("graph.csr", bytes);
  try {
    read_csr_file(file.path());
  } catch (const csr_file_error& error) {
    const std::string said = error.what();
    EXPECT_EQ(said.find(file.path() + ": "), 0u) << said;
    EXPECT_NE(said.find("; write the file again"), std::string::npos) << said;
    return said;
  }
  return "nothing";
}

TEST(csr_file, is_read_as_it_was_written) {
  const temporary_file file("graph.csr", sample());
  const csr_graph graph = read_csr_file(file.path());
  EXPECT_EQ(graph.vertices, 3u);
  EXPECT_TRUE(graph.directed);
  EXPECT_EQ(graph.offsets, (std::vector<std::uint64_t>{0, 2, 2, 3}));
  EXPECT_EQ(graph.neighbours, (std::vector<vertex_id>{1, 2, 0}));
}

TEST(csr_file, a_graph_may_be_undirected_or_empty) {
  const std::string bytes = "wheapcsr" + bytes_of(1, 4) + bytes_of(0, 4) + bytes_of(0, 8) + bytes_of(0, 8);
  const temporary_file file("graph.csr", bytes + bytes_of(0, 8));
  const csr_graph graph = read_csr_file(file.path());
  EXPECT_FALSE(graph.directed);
  EXPECT_EQ(graph.offsets, std::vector<std::uint64_t>{0});
  EXPECT_TRUE(graph.neighbours.empty());
}

TEST(csr_file, says_what_is_wrong) {
  const auto changed = [](std::size_t at, const std::string& to) { return sample().replace(at, to.size(), to); };
  const auto says = [](const std::string& bytes, const std::string& words) {
    const std::string said = complaint(bytes);
    EXPECT_NE(said.find(words), std::string::npos) << "'" << words << "' is not in: " << said;
  };
  says("", "ends within its header, at byte 0");
  says(sample().substr(0, 31), "ends within its header, at byte 31");
  says(changed(0, "W"), "does not begin 'wheapcsr'");
  says(changed(8, bytes_of(2, 4)), "byte 8: has version 2");
  says(changed(12, bytes_of(2, 4)), "flags 2");
  says(changed(16, bytes_of(std::uint64_t{1} << 32, 8)), "byte 16: 4294967296 vertices are too many for 32 bits");
  says(changed(16, bytes_of(~std::uint64_t{0}, 8)), "too many for 32 bits");
  says(changed(16, bytes_of(4'000'000'000, 8)), "has 76 bytes, and its header says 4000000000 vertices");
  says(changed(24, bytes_of(std::uint64_t{1} << 62, 8)), "has 76 bytes");
  says(sample().substr(0, 75), "has 75 bytes");
  says(sample() + "x", "has 77 bytes");
  says(changed(32, bytes_of(1, 8)), "the offsets go from 1 to 3");
  says(changed(56, bytes_of(2, 8)), "the offsets go from 0 to 2, and there are 3 neighbours");
  says(changed(40, bytes_of(3, 8)), "offset 2 is below the one before");
  says(changed(72, bytes_of(3, 4)), "neighbour 2 is 3, and there are 3 vertices");
}

TEST(csr_file, that_is_absent_is_told) {
  try {
    read_csr_file("/nowhere/graph.csr");
    FAIL() << "it was read";
  } catch (const csr_file_error& error) {
    EXPECT_STREQ(error.what(), "/nowhere/graph.csr: cannot be opened; check the path and the rights of the file");
  }
}

}  // namespace
}  // namespace warpheap::test::csr_file_test
