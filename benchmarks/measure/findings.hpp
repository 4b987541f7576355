// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "../json.hpp"
#include "samples.hpp"

namespace warpheap::bench {

/// What a figure is.
struct measure_kind {
  const char* unit;
  bool higher_is_better;
  bool timing;  ///< depends on the speed of the machine: means nothing on the host backend
};
inline constexpr measure_kind microseconds{"us", false, true};
inline constexpr measure_kind cycles{"cycles", false, true};
inline constexpr measure_kind operations_per_second{"ops/s", true, true};
inline constexpr measure_kind time_ratio{"ratio", false, true};
inline constexpr measure_kind space_ratio{"ratio", false, false};
inline constexpr measure_kind share_of_heap{"ratio", true, false};
inline constexpr measure_kind bytes_taken{"bytes", false, false};

/// What a case found, on its way into the record. docs/records.md describes the fields.
class findings {
 public:
  std::uint64_t requests = 0;  ///< that were made
  std::uint64_t failures = 0;  ///< that got null though the case gives no reason for it
  std::uint64_t refused = 0;   ///< that got null because the heap was full, as the case wants it
  std::uint64_t rounds = 0;
  std::uint64_t rounds_judged = 0;
  std::string fault;                  ///< what was unsound; empty if nothing was
  std::string refusal;                ///< why the heap did not serve what the case wants; empty if it did
  std::optional<json_object> memory;  ///< of the last judged round

  bool sound() const { return fault.empty(); }                      ///< nothing was unsound so far
  bool flawless() const { return fault.empty() && failures == 0; }  ///< nor was a request refused without a reason

  /// Why the case is not ok: the fault or, without one, the refusal. Empty if it is ok.
  const std::string& reason() const { return fault.empty() ? refusal : fault; }

  /// Adds a measure of samples. Without samples the record has null: the design lacks the
  /// operation.
  void add(const char* name, measure_kind kind, const samples& of);
  /// Adds a measure by the summary of its figures. Without a summary the record has null.
  void add(const char* name, measure_kind kind, std::optional<json_object> summary);
  /// Adds a measure of one value.
  void add(const char* name, measure_kind kind, double value);
  /// Adds a series: a value for each round.
  void add_series(const char* name, measure_kind kind, const std::vector<double>& values);

  /// Writes everything. Of a case that is not flawless no measure and no series.
  void report(json_object& record) const;

 private:
  json_object measures_;
  std::optional<json_object> series_;
};

}  // namespace warpheap::bench
