// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/graph/csr_file.hpp>

namespace warpheap {
namespace csr_files {

/// The first bytes of a file. All numbers are little-endian, as on the machines that are built for.
struct header {
  char magic[8];           ///< "wheapcsr"
  std::uint32_t version;   ///< 1
  std::uint32_t flags;     ///< bit 0: directed
  std::uint64_t vertices;  ///< V
  std::uint64_t arcs;      ///< neighbours in all lists
};
static_assert(sizeof(header) == 32);

[[noreturn]] inline void refuse(const std::string& path, const std::string& what) {
  throw csr_file_error(path + ": " + what + "; write the file again with warpheap.graphs.write_csr");
}

template <class T>
void read_into(std::ifstream& file, const std::string& path, T* values, std::uint64_t count) {
  const auto bytes = static_cast<std::streamsize>(count * sizeof(T));
  if (!file.read(reinterpret_cast<char*>(values), bytes)) refuse(path, "cannot be read to its end");
}

/// Refuses offsets that fall or do not cover the neighbours, and ids that are of no vertex.
inline void check_rows(const std::string& path, const csr_graph& graph) {
  if (graph.offsets.front() != 0 || graph.offsets.back() != graph.neighbours.size()) {
    refuse(path, "the offsets go from " + std::to_string(graph.offsets.front()) + " to " +
                     std::to_string(graph.offsets.back()) + ", and there are " +
                     std::to_string(graph.neighbours.size()) + " neighbours");
  }
  for (std::uint64_t v = 0; v < graph.vertices; ++v) {
    if (graph.offsets[v + 1] < graph.offsets[v]) {
      refuse(path, "offset " + std::to_string(v + 1) + " is below the one before");
    }
  }
  for (std::uint64_t i = 0; i < graph.neighbours.size(); ++i) {
    if (graph.neighbours[i] < graph.vertices) continue;
    refuse(path, "neighbour " + std::to_string(i) + " is " + std::to_string(graph.neighbours[i]) + ", and there are " +
                     std::to_string(graph.vertices) + " vertices");
  }
}

}  // namespace csr_files

inline csr_graph read_csr_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) throw csr_file_error(path + ": cannot be opened; check the path and the rights of the file");
  const auto size = static_cast<std::uint64_t>(file.tellg());
  file.seekg(0);
  csr_files::header header{};
  if (size < sizeof header) csr_files::refuse(path, "ends within its header, at byte " + std::to_string(size));
  csr_files::read_into(file, path, &header, 1);
  if (std::memcmp(header.magic, "wheapcsr", sizeof header.magic) != 0) {
    csr_files::refuse(path, "is no graph in compressed sparse rows: byte 0 does not begin 'wheapcsr'");
  }
  if (header.version != 1 || header.flags > 1) {
    csr_files::refuse(path, "byte 8: has version " + std::to_string(header.version) + " and flags " +
                                std::to_string(header.flags) + ", and this reads version 1");
  }
  if (header.vertices > ~vertex_id{0}) {
    csr_files::refuse(path, "byte 16: " + std::to_string(header.vertices) + " vertices are too many for 32 bits");
  }
  // The size is compared before anything is allocated, so a damaged header takes no memory. No product overflows:
  // there are fewer than 2^32 vertices, and arcs are compared with what the bytes can hold.
  const std::uint64_t rows = sizeof header + 8 * (header.vertices + 1);
  if (size < rows || header.arcs != (size - rows) / 4 || (size - rows) % 4 != 0) {
    csr_files::refuse(path, "has " + std::to_string(size) + " bytes, and its header says " +
                                std::to_string(header.vertices) + " vertices and " + std::to_string(header.arcs) +
                                " neighbours");
  }
  csr_graph graph;
  graph.vertices = static_cast<vertex_id>(header.vertices);
  graph.directed = header.flags == 1;
  graph.offsets.resize(header.vertices + 1);
  graph.neighbours.resize(header.arcs);
  csr_files::read_into(file, path, graph.offsets.data(), graph.offsets.size());
  csr_files::read_into(file, path, graph.neighbours.data(), graph.neighbours.size());
  csr_files::check_rows(path, graph);
  return graph;
}

}  // namespace warpheap
