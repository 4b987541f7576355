// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "churn.hpp"

namespace warpheap::bench {

/// A log of `logging_adaptor`, read before the clock starts: the time of all its calls together, a call each.
struct logged_call {
  std::uint64_t id;
  std::uint64_t bytes;
  bool takes_back;
};
inline std::vector<logged_call> read_log(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read the log " + path);
  std::vector<logged_call> calls;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    char kind = 0;
    logged_call call{};
    std::uint64_t alignment = 0;
    words >> kind;
    if (kind == '!') continue;
    call.takes_back = kind == '-';
    words >> call.id;
    if (!call.takes_back) words >> call.bytes >> alignment;
    if (!words || (kind != '+' && kind != '-')) throw std::runtime_error("not a line of a log: " + line);
    calls.push_back(call);
  }
  if (calls.empty()) throw std::runtime_error("the log " + path + " is empty");
  return calls;
}

template <class Subject>
void measure_replay(const char* name, const settings& with) {
  const std::vector<logged_call> calls = read_log(with.log);
  std::uint64_t last = 0;
  for (const logged_call& call : calls) last = std::max(last, call.id);
  timings each;
  for (repetitions left(with); left.another();) {
    Subject subject(with.bytes);
    std::vector<void*> held(last + 1);
    const auto start = clock::now();
    for (const logged_call& call : calls) {
      if (call.takes_back) {
        subject.deallocate(std::exchange(held[call.id], nullptr), 0);
      } else {
        held[call.id] = churn::must(subject.allocate(call.bytes, 0));
      }
    }
    each.add(nanoseconds_since(start) / static_cast<double>(calls.size()));
    for (void* const block : held) {
      if (block != nullptr) subject.deallocate(block, 0);
    }
  }
  json_object record = begin_record("replay", name);
  record.add("log", with.log).add("calls", calls.size());
  each.write(record, "call");
  print(record);
}

}  // namespace warpheap::bench
