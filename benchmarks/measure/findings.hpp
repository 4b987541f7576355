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
  std::optional<json_object> memory;  ///< of the last judged round

  bool flawless() const { return fault.empty() && failures == 0; }

  /// A measure from its samples, null in the record if there are none: the design lacks the operation.
  void add(const char* name, measure_kind kind, const samples& of);
  /// A measure from the summary of its figures, null in the record if there is none.
  void add(const char* name, measure_kind kind, std::optional<json_object> summary);
  /// A measure of one value.
  void add(const char* name, measure_kind kind, double value);
  /// A value for each round.
  void add_series(const char* name, measure_kind kind, const std::vector<double>& values);

  /// Writes everything. Of a case that is not flawless no measure and no series.
  void report(json_object& record) const;

 private:
  json_object measures_;
  std::optional<json_object> series_;
};

}  // namespace warpheap::bench
