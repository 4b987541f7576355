// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <fstream>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>
#include <warpheap/pool.hpp>

#include "churn.hpp"

namespace warpheap::bench {

/// A call that a log tells of. Blocks are numbered from 0 in the order in which the log hands them out.
struct logged_call {
  std::uint64_t block;
  std::uint64_t bytes;
  bool takes_back;
};

/// A log of `logging_adaptor`, read before the clock starts. Throws `std::runtime_error` for a file
/// that is no such log.
struct logged_calls {
  std::vector<logged_call> calls;
  std::uint64_t blocks = 0;

  explicit logged_calls(const std::string& path) {
    std::ifstream file(path);
    if (!file) throw std::runtime_error("cannot read the log " + path);
    std::unordered_map<std::uint64_t, std::uint64_t> live;  // by ID
    pool_detail::for_each_log_line(file, [&](const pool_detail::log_line& line, std::uint64_t number) {
      if (line.kind == '!') return;
      const auto known = live.find(line.id);
      if ((known != live.end()) != (line.kind == '-')) {
        throw std::runtime_error("line " + std::to_string(number) + " of the log " + path +
                                 " takes back a block that is not live, or hands out one that is");
      }
      if (line.kind == '-') {
        calls.push_back({known->second, 0, true});
        live.erase(known);
      } else {
        live.emplace(line.id, blocks);
        calls.push_back({blocks++, line.bytes, false});
      }
    });
    if (calls.empty()) throw std::runtime_error("the log " + path + " is empty");
  }
};

/// The time of all calls of a log together, a call each.
template <class Subject>
void measure_replay(const char* name, const settings& with) {
  const logged_calls log(with.log);
  timings each;
  for (repetitions left(with); left.another();) {
    Subject subject(with.bytes);
    std::vector<void*> held(log.blocks);
    const auto start = clock::now();
    for (const logged_call& call : log.calls) {
      if (call.takes_back) {
        subject.deallocate(std::exchange(held[call.block], nullptr), 0);
      } else {
        held[call.block] = churn::must(subject.allocate(call.bytes, 0));
      }
    }
    each.add(nanoseconds_since(start) / static_cast<double>(log.calls.size()));
    for (void* const block : held) {
      if (block != nullptr) subject.deallocate(block, 0);
    }
  }
  json_object record = begin_record("replay", name);
  record.add("log", with.log).add("calls", log.calls.size());
  each.write(record, "call");
  print(record);
}

}  // namespace warpheap::bench
