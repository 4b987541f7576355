// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace warpheap::bench {

/// A call of a recording. Blocks and streams are numbered from 0 in the order in which they first appear.
struct recorded_call {
  std::uint64_t block;
  std::uint64_t bytes;  ///< of a block that is handed out
  int stream;
  bool takes_back;
};

/// The calls of one process, as `warpheap run --mode trace` writes them (docs/run.md), read before the
/// clock starts. Calls that were refused are passed over. Throws `std::runtime_error` that names the
/// line for a file that holds anything else, and for blocks of several processes.
class recording {
 public:
  explicit recording(const std::string& path) : path_(path) {
    std::ifstream file(path);
    std::string text;
    if (!file || !std::getline(file, text)) throw std::runtime_error("cannot read the recording " + path);
    if (text != "warpheap driver calls 1") {
      throw std::runtime_error(path + " is no trace of 'warpheap run': its first line says so");
    }
    for (number_ = 2; std::getline(file, text) && !file.eof(); ++number_) read(text);
    if (calls_.empty()) throw std::runtime_error("the recording " + path + " has no calls");
  }

  const std::vector<recorded_call>& calls() const { return calls_; }
  std::uint64_t blocks() const { return blocks_; }
  /// How many streams the calls name.
  int streams() const { return static_cast<int>(streams_.size()); }
  /// The most bytes that were live at once, as they were asked for.
  std::uint64_t peak_live_bytes() const { return peak_; }

 private:
  struct live_block {
    std::uint64_t number;
    std::uint64_t bytes;
  };

  void read(const std::string& text) {
    std::istringstream words(text);
    std::uint64_t time = 0, process = 0, thread = 0, id = 0, bytes = 0;
    std::string what, kind, call, stream, more;
    words >> time >> process >> thread >> what;
    if (words && (what == "!" || what == "?")) return;
    words >> id;
    if (what == "+") words >> bytes >> kind;
    words >> call >> stream;
    if (!words || (what != "+" && what != "-") || words >> more) fail("is not as 'warpheap run' writes it");
    if (process_ != 0 && process != process_) fail("is of another process; write a recording of one");
    process_ = process;
    const int on = streams_.emplace(stream, static_cast<int>(streams_.size())).first->second;
    const auto known = live_.find(id);
    if ((known != live_.end()) != (what == "-")) fail("takes back a block that is not live, or hands out one that is");
    if (what == "-") {
      calls_.push_back({known->second.number, 0, on, true});
      live_bytes_ -= known->second.bytes;
      live_.erase(known);
      return;
    }
    live_.emplace(id, live_block{blocks_, bytes});
    calls_.push_back({blocks_++, bytes, on, false});
    live_bytes_ += bytes;
    peak_ = std::max(peak_, live_bytes_);
  }
  [[noreturn]] void fail(const std::string& why) const {
    throw std::runtime_error("line " + std::to_string(number_) + " of the recording " + path_ + " " + why);
  }

  std::string path_;
  std::uint64_t number_ = 0;
  std::uint64_t process_ = 0;
  std::uint64_t blocks_ = 0;
  std::uint64_t live_bytes_ = 0;
  std::uint64_t peak_ = 0;
  std::map<std::string, int> streams_;
  std::unordered_map<std::uint64_t, live_block> live_;  // by ID
  std::vector<recorded_call> calls_;
};

}  // namespace warpheap::bench
