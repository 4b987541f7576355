// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#include "cases.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../measure/samples.hpp"
#include "../measure/stopwatch.hpp"
#include "batches.hpp"
#include "model.hpp"
#include "row_builder.hpp"
#include "traversals.hpp"

namespace warpheap::bench {
namespace {

// Of the papers: PageRank is timed for as many iterations, whatever it converges to.
constexpr std::uint32_t rank_iterations = 20;
// Batches that a sliding window holds.
constexpr std::size_t window_batches = 4;
// As far as a rank of floats may be from that of doubles.
constexpr double rank_tolerance = 1e-4;

// Microseconds of `work`, which waits for the device. The machine is awake when it begins.
template <class Work>
double microseconds(Work work) {
  stopwatch awake;
  awake.start();
  synchronise();
  const auto begin = std::chrono::steady_clock::now();
  work();
  synchronise();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
}

host_rows on_host(const csr_view<>& rows, std::uint64_t edges) {
  host_rows copy;
  copy.offsets.resize(std::uint64_t{rows.vertices()} + 1);
  copy.neighbours.resize(edges);
  device_copy(copy.offsets.data(), rows.offsets(), copy.offsets.size() * sizeof(std::uint64_t));
  device_copy(copy.neighbours.data(), rows.neighbours(), edges * sizeof(vertex_id));
  return copy;
}
host_rows on_host(const graph_subject& graph) {
  const csr_arrays<void> rows = graph.to_csr();
  return {rows.offsets.to_host(), rows.neighbours.to_host()};
}

void require_equal(const std::string& difference) {
  if (!difference.empty()) throw verification_failure(difference);
}

edge_counts& operator+=(edge_counts& sum, const edge_counts& more) {
  sum.offered += more.offered;
  sum.added += more.added;
  sum.present += more.present;
  sum.removed += more.removed;
  sum.absent += more.absent;
  sum.repeated += more.repeated;
  sum.loops += more.loops;
  sum.refused += more.refused;
  sum.invalid += more.invalid;
  return sum;
}

json_object object_of(const edge_counts& counts) {
  json_object made;
  made.add("offered", counts.offered).add("added", counts.added).add("present", counts.present);
  made.add("removed", counts.removed).add("absent", counts.absent).add("repeated", counts.repeated);
  made.add("loops", counts.loops).add("refused", counts.refused).add("invalid", counts.invalid);
  return made;
}

json_object object_of(const graph_memory& memory) {
  json_object made;
  made.add("live_bytes", memory.live_bytes).add("block_bytes", memory.block_bytes);
  made.add("record_bytes", memory.record_bytes).add("scratch_bytes", memory.scratch_bytes);
  made.add("heap_committed_bytes", memory.heap_committed_bytes).add("heap_live_bytes", memory.heap_live_bytes);
  return made;
}

// Microseconds of each stage, in the mean of `batches`.
json_object object_of(const batch_times& times, std::uint64_t batches) {
  const auto each = static_cast<double>(batches);
  json_object made;
  made.add("sort", times.sort / each).add("mark", times.mark / each).add("allocate", times.allocate / each);
  made.add("move", times.move / each).add("settle", times.settle / each).add("at_once", times.at_once / each);
  return made;
}

double sum_of(const samples& times) {
  double sum = 0;
  for (const double each : times.values()) sum += each;
  return sum;
}

void add_rate(json_object& record, const char* name, std::uint64_t edges, double microseconds) {
  if (edges != 0) record.add(name, static_cast<double>(edges) / microseconds * 1e6);
}

// A graph, and the model that it is compared with if that is asked for.
class checked_graph {
 public:
  explicit checked_graph(const graph_case_input& input)
      : graph_(input.system.make(input.asked.heap_bytes, input.graph.vertices)), input_(input) {}

  /// Begins with the input's edges.
  double assign() {
    edge_counts counts;
    const double time = microseconds([&] { counts = graph_->assign_csr(input_.graph.rows(), input_.graph.edges()); });
    if (counts.refused != 0) {
      throw case_problem("the heap had no room for " + std::to_string(counts.refused) + " of " +
                         std::to_string(counts.offered) + " edges; give more --heap-bytes");
    }
    if (input_.asked.verify) {
      model_.emplace(on_host(input_.graph.rows(), input_.graph.edges()));
      require_equal(difference(counts, {.offered = model_->edges(), .added = model_->edges()}));
      require_equal(model_->compare(on_host(*graph_)));
    }
    return time;
  }
  double add(const edge_batch& batch, edge_counts& sum) { return change(batch, true, sum); }
  double remove(const edge_batch& batch, edge_counts& sum) { return change(batch, false, sum); }

  graph_subject& graph() { return *graph_; }
  const graph_model* model() const { return model_ ? &*model_ : nullptr; }
  void describe(json_object& record) const {
    record.add("memory", object_of(graph_->memory()));
    if (model_) record.add("verified", true);
  }

 private:
  double change(const edge_batch& batch, bool adds, edge_counts& sum) {
    edge_counts counts;
    const double time = microseconds([&] {
      counts = adds ? graph_->add_edges(batch.sources.data(), batch.targets.data(), batch.size())
                    : graph_->remove_edges(batch.sources.data(), batch.targets.data(), batch.size());
    });
    sum += counts;
    if (model_) {
      const host_rows after = on_host(*graph_);
      require_equal(model_->follow(batch.sources.to_host(), batch.targets.to_host(), adds, counts, after));
    }
    return time;
  }

  std::unique_ptr<graph_subject> graph_;
  const graph_case_input& input_;
  std::optional<graph_model> model_;
};

// Times and counts of rounds that add edges, remove some, or both.
struct change_figures {
  samples rounds, additions, removals;
  edge_counts added, removed;

  void take(double adding, double removing) {
    rounds.add(adding + removing);
    additions.add(adding);
    removals.add(removing);
  }
  void describe(json_object& record, const graph_bench_options& asked) const {
    record.add("batch_edges", asked.batch).add("skewed", asked.skewed);
    record.add("time_us", *rounds.summary());
    add_rate(record, "rate", added.added + removed.removed, sum_of(rounds));
    describe(record, "add", additions, added, added.added);
    describe(record, "remove", removals, removed, removed.removed);
  }

 private:
  static void describe(json_object& record, const std::string& name, const samples& times, const edge_counts& counts,
                       std::uint64_t applied) {
    if (counts.offered == 0) return;
    record.add(name + "_us", *times.summary()).add(name + "_counts", object_of(counts));
    add_rate(record, (name + "_rate").c_str(), applied, sum_of(times));
  }
};

batch_shape shape_of(const graph_case_input& input) {
  return {input.graph.vertices, input.asked.batch, input.asked.skewed};
}
// Each round draws other edges, and none of them those that the graph was drawn from.
std::uint64_t seed_of(const graph_case_input& input, std::uint64_t round) {
  return mix(input.asked.seed ^ 0x6261746368u) + round;
}

void run_init(const graph_case_input& input, json_object& record) {
  samples times;
  // Each round begins on a new heap. The first one loads the kernels, and is not timed.
  for (std::uint64_t round = 0; round <= input.asked.iterations; ++round) {
    checked_graph graph(input);
    const double time = graph.assign();
    if (round != 0) times.add(time);
    if (round == input.asked.iterations) graph.describe(record);
  }
  record.add("time_us", *times.summary());
  add_rate(record, "rate", input.graph.edges() * input.asked.iterations, sum_of(times));
}

// Rounds of a batch that is added and taken away again.
void run_batches(const graph_case_input& input, batch_shape shape, json_object& record) {
  checked_graph graph(input);
  graph.assign();
  change_figures figures;
  edge_counts ignored;
  for (std::uint64_t round = 0; round <= input.asked.iterations; ++round) {
    const edge_batch batch = draw_batch(shape, seed_of(input, round));
    const bool timed = round != 0;
    const double adding = graph.add(batch, timed ? figures.added : ignored);
    const double removing = graph.remove(batch, timed ? figures.removed : ignored);
    if (timed) figures.take(adding, removing);
  }
  figures.describe(record, input.asked);
  // Once more for the times of the stages, since the events between them take time themselves.
  batch_times adding, removing;
  for (std::uint64_t round = 1; round <= input.asked.iterations; ++round) {
    const edge_batch batch = draw_batch(shape, seed_of(input, round));
    graph.graph().time_batches(&adding);
    graph.add(batch, ignored);
    graph.graph().time_batches(&removing);
    graph.remove(batch, ignored);
  }
  graph.graph().time_batches(nullptr);
  record.add("add_stages_us", object_of(adding, input.asked.iterations));
  record.add("remove_stages_us", object_of(removing, input.asked.iterations));
  graph.describe(record);
}

void run_update(const graph_case_input& input, json_object& record) { run_batches(input, shape_of(input), record); }

void run_pressure(const graph_case_input& input, json_object& record) {
  batch_shape shape = shape_of(input);
  shape.sources = input.asked.sources;
  record.add("sources_of_batch", input.asked.sources);
  run_batches(input, shape, record);
}

void run_delete(const graph_case_input& input, json_object& record) {
  if (input.graph.edges() == 0) throw case_skipped("the graph has no edge to remove");
  checked_graph graph(input);
  graph.assign();
  change_figures figures;
  edge_counts ignored;
  for (std::uint64_t round = 0; round <= input.asked.iterations; ++round) {
    const csr_arrays<void> rows = graph.graph().to_csr();
    const edge_batch batch =
        draw_present(rows.view(), rows.neighbours.size(), input.asked.batch, seed_of(input, round));
    const bool timed = round != 0;
    const double removing = graph.remove(batch, timed ? figures.removed : ignored);
    const double adding = graph.add(batch, timed ? figures.added : ignored);
    if (timed) figures.take(adding, removing);
  }
  figures.describe(record, input.asked);
  graph.describe(record);
}

void run_sliding(const graph_case_input& input, json_object& record) {
  checked_graph graph(input);
  graph.assign();
  change_figures figures;
  edge_counts ignored;
  std::deque<edge_batch> window;
  for (std::uint64_t round = 0; round < input.asked.iterations + window_batches; ++round) {
    window.push_back(draw_batch(shape_of(input), seed_of(input, round)));
    const bool timed = round >= window_batches;
    const double adding = graph.add(window.back(), timed ? figures.added : ignored);
    if (!timed) continue;
    const double removing = graph.remove(window.front(), figures.removed);
    window.pop_front();
    figures.take(adding, removing);
  }
  record.add("window_batches", window_batches);
  figures.describe(record, input.asked);
  graph.describe(record);
}

void run_expansion(const graph_case_input& input, json_object& record) {
  checked_graph graph(input);
  graph.assign();
  change_figures figures;
  edge_counts ignored;
  for (std::uint64_t round = 0; round <= input.asked.iterations; ++round) {
    const edge_batch batch = draw_batch(shape_of(input), seed_of(input, round));
    const double adding = graph.add(batch, round != 0 ? figures.added : ignored);
    if (round != 0) figures.take(adding, 0);
  }
  figures.describe(record, input.asked);
  record.add("edges_after", graph.graph().edges());
  graph.describe(record);
}

// Times of the same work on the dynamic graph and on compressed sparse rows of the same edges.
template <class OnGraph, class OnRows>
void compare_with_rows(const graph_case_input& input, json_object& record, OnGraph on_graph, OnRows on_rows) {
  samples times, times_of_rows;
  for (std::uint64_t round = 0; round <= input.asked.iterations; ++round) {
    const double time = microseconds(on_graph), time_of_rows = microseconds(on_rows);
    if (round == 0) continue;
    times.add(time);
    times_of_rows.add(time_of_rows);
  }
  record.add("time_us", *times.summary()).add("csr_us", *times_of_rows.summary());
  record.add("over_csr", times.median() / times_of_rows.median());
}

void run_page_ranks(const graph_case_input& input, json_object& record) {
  checked_graph graph(input);
  graph.assign();
  const device_array<float> ranks(input.graph.vertices), ranks_of_rows(input.graph.vertices);
  page_rank_workspace workspace, workspace_of_rows;
  const page_rank_options options{.fixed_iterations = rank_iterations};
  compare_with_rows(
      input, record, [&] { graph.graph().page_rank(options, ranks.data(), workspace); },
      [&] { run_page_rank(input.graph.rows(), options, ranks_of_rows.data(), workspace_of_rows); });
  record.add("rank_iterations", rank_iterations);
  if (graph.model() != nullptr) {
    const std::vector<double> expected = graph.model()->page_rank(options.alpha, rank_iterations);
    const std::vector<float> found = ranks.to_host();
    double worst = 0;
    for (std::size_t v = 0; v < found.size(); ++v) {
      worst = std::max(worst, std::abs(static_cast<double>(found[v]) - expected[v]) / expected[v]);
    }
    if (!(worst < rank_tolerance)) {
      throw verification_failure("a rank is wrong by a share of " + std::to_string(worst));
    }
  }
  graph.describe(record);
}

void run_triangles(const graph_case_input& input, json_object& record) {
  if (!input.graph.undirected) throw case_skipped("the graph is directed; write it with undirected=True");
  checked_graph graph(input);
  graph.assign();
  triangle_workspace workspace, workspace_of_rows;
  triangle_result found{}, of_rows{};
  compare_with_rows(
      input, record, [&] { found = graph.graph().triangle_count(workspace); },
      [&] { of_rows = run_triangle_count(input.graph.rows(), workspace_of_rows); });
  record.add("triangles", found.triangles);
  const std::uint64_t expected = graph.model() != nullptr ? graph.model()->triangles() : of_rows.triangles;
  if (found.triangles != expected || of_rows.triangles != expected) {
    throw verification_failure(std::to_string(found.triangles) + " triangles of the graph, " +
                               std::to_string(of_rows.triangles) + " of its rows, and " + std::to_string(expected) +
                               " expected");
  }
  graph.describe(record);
}

void run_rebuild(const graph_case_input& input, json_object& record) {
  const csr_view<> rows = input.graph.rows();
  const std::uint64_t edges = input.graph.edges();
  const device_array<vertex_id> sources(edges);
  write_sources(rows, sources.data());
  row_builder builder(input.graph.vertices);
  samples times;
  std::uint64_t added = 0;
  for (std::uint64_t round = 0; round <= input.asked.iterations; ++round) {
    const edge_batch batch = draw_batch(shape_of(input), seed_of(input, round));
    std::uint64_t after = 0;
    const double time =
        microseconds([&] { after = builder.build({sources.data(), rows.neighbours(), edges}, batch.view(), false); });
    if (round != 0) {
      times.add(time);
      added += after - edges;
    }
    if (input.asked.verify) {
      graph_model model(on_host(rows, edges));
      const host_rows built = on_host(builder.rows(), after);
      require_equal(model.compare_union(batch.sources.to_host(), batch.targets.to_host(), built));
    }
  }
  record.add("batch_edges", input.asked.batch).add("skewed", input.asked.skewed).add("time_us", *times.summary());
  add_rate(record, "rate", added, sum_of(times));
  if (input.asked.verify) record.add("verified", true);
}

constexpr graph_case cases[] = {
    {"init", "compressed sparse rows in device memory become a graph, on a new heap each time", &run_init},
    {"update", "a batch of random edges is added, and removed", &run_update},
    {"pressure", "the same, with all sources among a few neighbouring vertices", &run_pressure},
    {"delete", "edges of the graph, drawn by their index, are removed, and added again", &run_delete},
    {"sliding", "a batch is added, and the one of four rounds before removed", &run_sliding},
    {"expansion", "batches are added, and none is removed", &run_expansion},
    {"pagerank", "20 iterations of PageRank, beside the same kernels on compressed sparse rows", &run_page_ranks},
    {"triangles", "triangles are counted, beside the same kernels on compressed sparse rows", &run_triangles},
    {"rebuild", "the rival: all edges and a batch are sorted into new compressed sparse rows", &run_rebuild},
};

}  // namespace

std::span<const graph_case> graph_cases() { return cases; }

void require_graph_case(std::string_view name) {
  std::string names;
  for (const graph_case& each : cases) {
    if (each.name == name) return;
    names.append(each.name).append(", ");
  }
  throw graph_usage_error("--case: '" + std::string{name} + "' is unknown; use one of: " + names + "all");
}

}  // namespace warpheap::bench
