// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <ios>
#include <sstream>
#include <string>
#include <vector>
#include <warpheap/platform.hpp>

namespace warpheap::test {

/// What a kernel can find wrong with a block.
enum class problem : std::uint32_t {
  misaligned,
  overlaps,
  not_owned,
  scattered,
  refused,
  granted,
  damaged,
  dirty,
  small,
  moved
};

constexpr const char* describe(problem what) {
  switch (what) {
    case problem::misaligned: return "is not aligned as promised";
    case problem::overlaps: return "overlaps a live block";
    case problem::not_owned: return "is given back but was not, or not wholly, handed out";
    case problem::scattered: return "lies outside the memory of the heap";
    case problem::refused: return "was refused although the heap has room for it";
    case problem::granted: return "was granted although it cannot be served";
    case problem::damaged: return "lost its contents";
    case problem::dirty: return "is not all zero";
    case problem::small: return "has fewer usable bytes than were asked for";
    case problem::moved: return "moved without need";
  }
  return "has an unknown problem";
}

/// One wrong block: the thread that found it, the bytes that were asked for, and where it lies (0: nowhere).
struct finding {
  problem what;
  std::uint64_t thread;
  std::uint64_t bytes;
  std::uint64_t address;
};

/// The kernels' side of a log: keeps the first findings and counts the rest.
class finding_view {
 public:
  struct storage {
    static constexpr std::uint64_t capacity = 8;
    std::uint64_t count;
    finding first[capacity];
  };
  explicit finding_view(storage* log) : log_(log) {}

  WARPHEAP_FN void report(problem what, std::uint64_t bytes, const void* block) const {
    const std::uint64_t index = atomic_view{log_->count}.fetch_add(1, memory_order::relaxed, thread_scope::device);
    if (index >= storage::capacity) return;
    log_->first[index] = {what, grid_thread_index(), bytes, reinterpret_cast<std::uint64_t>(block)};
  }
  /// Reports `what` unless `holds`, which it returns.
  WARPHEAP_FN bool expect(bool holds, problem what, std::uint64_t bytes, const void* block) const {
    if (!holds) report(what, bytes, block);
    return holds;
  }

 private:
  storage* log_;
};

/// What one behaviour of an allocator was found to be: as promised when empty.
class findings {
 public:
  findings() : log_(1) {}

  finding_view view() const { return finding_view{log_.data()}; }

  /// Takes over what kernels found; addresses are told from `base`.
  void collect(std::uint64_t base) {
    const finding_view::storage log = log_.at(0);
    for (std::uint64_t i = 0; i < log.count && i < log.capacity; ++i) {
      const finding& each = log.first[i];
      std::ostringstream text;
      text << "thread " << each.thread << ": block of " << each.bytes << " B";
      if (each.address != 0)
        text << " at " << (each.address < base ? "-0x" : "+0x") << std::hex
             << (each.address < base ? base - each.address : each.address - base);
      add(text.str() + " " + describe(each.what));
    }
    if (log.count > log.capacity) add("… and " + std::to_string(log.count - log.capacity) + " findings more");
    if (log.count != 0) log_.clear();
  }

  void add(std::string text) { texts_.push_back(context_.empty() ? std::move(text) : context_ + ": " + text); }
  /// Adds `text` unless `holds`, which it returns.
  bool expect(bool holds, const std::string& text) {
    if (!holds) add(text);
    return holds;
  }
  /// Says under which circumstances the findings to come are found.
  void under(std::string context) { context_ = std::move(context); }
  /// Says that the design does not promise what the behaviour needs.
  void skip(const char* capability) { skipped_ = capability; }

  bool empty() const { return texts_.empty(); }
  const std::vector<std::string>& texts() const { return texts_; }
  const std::string& skipped() const { return skipped_; }

 private:
  device_array<finding_view::storage> log_;
  std::vector<std::string> texts_;
  std::string context_;
  std::string skipped_;
};

}  // namespace warpheap::test
