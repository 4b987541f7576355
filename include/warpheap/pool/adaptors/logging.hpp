// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <istream>
#include <map>
#include <ostream>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <warpheap/platform.hpp>
#include <warpheap/pool/adaptors/source.hpp>

namespace warpheap {

/// Writes each call to a stream, a line each, so that it can be replayed on another source:
///
/// - `+ ID BYTES ALIGNMENT`: block number ID was handed out;
/// - `! BYTES ALIGNMENT`: a request failed;
/// - `- ID`: the block was taken back.
///
/// IDs count from 1 and name no address. The lines are in the order in which the source was called.
template <block_source Source>
class logging_adaptor {
 public:
  /// Over `source`, writing to `log`, which must outlive it.
  logging_adaptor(Source& source, std::ostream& log) : source_(source), log_(log) {}

  /// As the source's.
  void* allocate(std::uint64_t bytes, std::uint64_t alignment = 1) {
    const host_lock lock(mutex_);
    void* block = nullptr;
    try {
      block = source_.allocate(bytes, alignment);
    } catch (...) {
      log_ << "! " << bytes << ' ' << alignment << '\n';
      throw;
    }
    try {
      ids_[block] = ++last_;
    } catch (...) {
      source_.deallocate(block);
      throw;
    }
    log_ << "+ " << last_ << ' ' << bytes << ' ' << alignment << '\n';
    return block;
  }
  /// As the source's.
  void deallocate(void* block) {
    if (block == nullptr) return;
    const host_lock lock(mutex_);
    source_.deallocate(block);
    const auto known = ids_.find(block);
    if (known == ids_.end()) return;  // handed out below this adaptor
    log_ << "- " << known->second << '\n';
    ids_.erase(known);
  }
  /// As the source's.
  std::uint64_t block_bytes(const void* block) const { return source_.block_bytes(const_cast<void*>(block)); }

 private:
  Source& source_;
  std::ostream& log_;
  std::unordered_map<void*, std::uint64_t> ids_;
  std::uint64_t last_ = 0;
  host_mutex mutex_;
};

/// Makes the calls that a log tells of on `source`, which need only have `allocate` and `deallocate`. Requests that failed
/// when the log was written are left out. Blocks that the log leaves live are taken back at the end. Returns the number
/// of calls. Throws `std::runtime_error` with the number of a line that is none, and what the source throws.
template <class Source>
std::uint64_t replay_log(std::istream& log, Source& source) {
  struct live_blocks {
    Source& source;
    std::map<std::uint64_t, void*> by_id;
    ~live_blocks() {
      for (const auto& [id, block] : by_id) source.deallocate(block);
    }
  } live{source, {}};
  std::uint64_t calls = 0;
  std::uint64_t line = 0;
  const auto must = [&](bool is_sound) {
    if (!is_sound)
      throw std::runtime_error("warpheap: line " + std::to_string(line) + " of the log cannot be replayed");
  };
  for (char kind; log >> kind;) {
    ++line;
    std::uint64_t id = 0;
    std::uint64_t bytes = 0;
    std::uint64_t alignment = 0;
    if (kind == '+') {
      must(static_cast<bool>(log >> id >> bytes >> alignment) && !live.by_id.contains(id));
      live.by_id[id] = source.allocate(bytes, alignment);
      ++calls;
    } else if (kind == '-') {
      must(static_cast<bool>(log >> id) && live.by_id.contains(id));
      source.deallocate(live.by_id[id]);
      live.by_id.erase(id);
      ++calls;
    } else {
      must(kind == '!' && static_cast<bool>(log >> bytes >> alignment));
    }
  }
  return calls;
}

}  // namespace warpheap
