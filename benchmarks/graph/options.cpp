// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include <charconv>
#include <limits>
#include <sstream>
#include <system_error>

#include "cases.hpp"

namespace warpheap::bench {
namespace {

// A whole number within limits, and nothing but that.
std::uint64_t whole(const std::string& option, const std::string& text, std::uint64_t least, std::uint64_t most) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || stop != end || number < least || number > most) {
    throw graph_usage_error(option + ": use a whole number from " + std::to_string(least) + " to " +
                            std::to_string(most) + ", not '" + text + "'");
  }
  return number;
}

// Names of cases between commas; none for all.
std::vector<std::string> cases_of(const std::string& text) {
  std::vector<std::string> names;
  if (text == "all") return names;
  std::istringstream words(text);
  for (std::string name; std::getline(words, name, ',');) {
    require_graph_case(name);
    names.push_back(name);
  }
  return names;
}

}  // namespace

graph_bench_options parse_graph_options(int count, char** words) {
  using listing = graph_bench_options::listing;
  constexpr std::uint64_t any = std::numeric_limits<std::uint64_t>::max();
  constexpr std::uint64_t most_vertices = (std::uint64_t{1} << 31) - 1;
  constexpr std::uint64_t most_batch = (std::uint64_t{1} << 30) - 1;
  graph_bench_options asked;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    const auto value = [&]() -> std::string {
      if (i + 1 == count) throw graph_usage_error(word + " needs a value; see --help");
      return words[++i];
    };
    const auto number = [&](std::uint64_t least, std::uint64_t most) { return whole(word, value(), least, most); };
    if (word == "--help") {
      asked.lists = listing::help;
    } else if (word == "--systems") {
      asked.lists = listing::systems;
    } else if (word == "--graphs") {
      asked.lists = listing::graphs;
    } else if (word == "--cases") {
      asked.lists = listing::cases;
    } else if (word == "--system") {
      asked.system = value();
    } else if (word == "--graph") {
      asked.graph = value();
    } else if (word == "--csr") {
      asked.csr_file = value();
    } else if (word == "--vertices") {
      asked.vertices = number(1000, most_vertices);
    } else if (word == "--scale") {
      asked.scale = static_cast<int>(number(10, 30));
    } else if (word == "--heap-bytes") {
      asked.heap_bytes = number(1, any);
    } else if (word == "--iterations") {
      asked.iterations = number(1, 1'000'000);
    } else if (word == "--batch") {
      asked.batch = number(1, most_batch);
    } else if (word == "--seed") {
      asked.seed = number(0, any);
    } else if (word == "--sources") {
      asked.sources = number(1, most_vertices);
    } else if (word == "--skewed") {
      asked.skewed = true;
    } else if (word == "--case") {
      asked.cases = cases_of(value());
    } else if (word == "--verify") {
      asked.verify = true;
    } else {
      throw graph_usage_error("there is no option " + word + "; see --help");
    }
  }
  if (asked.vertices && asked.scale) throw graph_usage_error("--scale and --vertices: give one of them");
  return asked;
}

std::string graph_help_text() {
  return "warpheap_graph_bench: measures one system on one graph, and prints one JSON object for each case.\n"
         "\n"
         "  --systems        the systems, one a line; --graphs: the graphs; --cases: the cases\n"
         "  --system NAME    what to measure (warp_slab)\n"
         "  --graph NAME     a generator, or an original whose stand-in is generated (delaunay)\n"
         "  --csr FILE       a graph that warpheap.graphs.write_csr wrote, in place of --graph\n"
         "  --vertices N     vertices of a generated graph, about (100000; the original's); --scale S: 2^S\n"
         "  --heap-bytes B   bytes of heap (1073741824)\n"
         "  --case NAME,...  some cases (all)\n"
         "  --iterations I   timed rounds (10)\n"
         "  --batch N        edges of a batch (100000)\n"
         "  --sources N      vertices that the batches of case pressure add edges to (1000)\n"
         "  --skewed         the ends of a batch are drawn as R-MAT does, in place of uniformly\n"
         "  --seed N         what graphs and batches are drawn from (1)\n"
         "  --verify         compare the graph with a model on the host after each change\n"
         "\n"
         "Exit codes: 0 all well, 1 a case that is not ok, 2 wrong command line, 3 no machine.\n";
}

}  // namespace warpheap::bench
