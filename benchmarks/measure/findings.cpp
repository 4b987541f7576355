// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#include "findings.hpp"

namespace warpheap::bench {

void findings::add(const char* name, measure_kind kind, const samples& of) { add(name, kind, of.summary()); }

void findings::add(const char* name, measure_kind kind, std::optional<json_object> summary) {
  if (summary) {
    summary->add("unit", kind.unit)
        .add("better", kind.higher_is_better ? "higher" : "lower")
        .add("timing", kind.timing);
  }
  measures_.add(name, summary);
}

void findings::add(const char* name, measure_kind kind, double value) {
  samples one;
  one.add(value);
  add(name, kind, one);
}

void findings::add_series(const char* name, measure_kind kind, const std::vector<double>& values) {
  if (!series_) series_.emplace();
  series_->add(name, json_object{}.add("unit", kind.unit).add("timing", kind.timing).add("values", values));
}

void findings::report(json_object& record) const {
  const bool sound = flawless();
  record.add("failures", failures)
      .add("refused", refused)
      .add("requests", requests)
      .add("verified", fault.empty() && rounds_judged != 0)
      .add("rounds", rounds)
      .add("rounds_judged", rounds_judged)
      .add("measures", sound ? measures_ : json_object{})
      .add("memory", memory);
  if (sound && series_) record.add("series", *series_);
}

}  // namespace warpheap::bench
