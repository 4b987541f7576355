// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <istream>
#include <map>
#include <ostream>
#include <stdexcept>
#include <string>
#include <utility>
#include <warpheap/platform.hpp>
#include <warpheap/pool/adaptors/source.hpp>
#include <warpheap/pool/detail/allocation_log.hpp>
#include <warpheap/pool/detail/block_book.hpp>

namespace warpheap {

/// Writes each call to a stream, a line each, so that it can be replayed on another source:
///
/// - `+ ID BYTES ALIGNMENT`: block number ID was handed out;
/// - `! BYTES ALIGNMENT`: a request failed;
/// - `- ID`: the block was taken back.
///
/// IDs count from 1 and name no address. Numbers are decimal, whatever the stream's locale and flags are. A block is
/// logged after it was handed out and before it is taken back, so blocks that are live in the log are live, and a
/// replay never needs more memory than the program did. A block that the adaptor did not hand out is passed on and not
/// logged.
///
/// A stream that cannot write says so in its state, as streams do. If it is told to throw (`std::ostream::exceptions`),
/// the call that could not be logged throws that, and has changed nothing. The stream must not call this adaptor.
template <block_source Source>
class logging_adaptor {
 public:
  /// Over `source`, writing to `log`, which must outlive it.
  logging_adaptor(Source& source, std::ostream& log) : source_(source), log_(log) {}

  /// Hands out a block of the source and logs it, or logs a failure. Throws what the source throws, and what the log
  /// throws, after it gave the block back.
  void* allocate(std::uint64_t bytes, std::uint64_t alignment = 1) {
    auto entry = book::make();
    void* block = nullptr;
    try {
      block = source_.allocate(bytes, alignment);
    } catch (...) {
      log_failure(bytes, alignment);
      throw;
    }
    try {
      const host_lock lock(mutex_);
      log_block(block, std::move(entry), bytes, alignment);
    } catch (...) {
      source_.deallocate(block);
      throw;
    }
    return block;
  }
  /// Logs it and gives the block back to the source; null is ignored. Throws what the log throws, and has changed
  /// nothing then, and what the source throws. If the block is still live after that, it is logged again under a new
  /// ID.
  void deallocate(void* block) {
    if (block == nullptr) return;
    auto entry = remove(block);
    pool_detail::give_back(source_, block, [&](bool is_live) {
      if (!entry || !is_live) return;
      const logged_block of = entry.mapped();
      const host_lock lock(mutex_);
      try {
        log_block(block, std::move(entry), of.bytes, of.alignment);
      } catch (...) {
        // What the source threw counts for more. The block is live and the log has lost it.
      }
    });
  }
  /// Bytes that the source's block takes; 0 if none begins there.
  std::uint64_t block_bytes(const void* block) const { return source_.block_bytes(const_cast<void*>(block)); }

 private:
  struct logged_block {
    std::uint64_t id = 0;
    std::uint64_t bytes = 0;
    std::uint64_t alignment = 0;
  };
  using book = pool_detail::block_book<logged_block>;

  // Called with the lock held, which keeps lines whole and IDs in order.
  void log_block(const void* block, typename book::entry entry, std::uint64_t bytes, std::uint64_t alignment) {
    pool_detail::write_log_line(log_, {'+', last_ + 1, bytes, alignment});
    entry.mapped() = {++last_, bytes, alignment};
    blocks_.insert(std::move(entry), block);
  }
  void log_failure(std::uint64_t bytes, std::uint64_t alignment) noexcept {
    try {
      const host_lock lock(mutex_);
      pool_detail::write_log_line(log_, {'!', 0, bytes, alignment});
    } catch (...) {
      // The request's own failure is what the caller has to know.
    }
  }
  typename book::entry remove(const void* block) {
    const host_lock lock(mutex_);
    const logged_block* const known = blocks_.find(block);
    if (known == nullptr) return {};
    const pool_detail::log_line line{.kind = '-', .id = known->id};
    pool_detail::write_log_line(log_, line);
    return blocks_.remove(block);
  }

  Source& source_;
  std::ostream& log_;
  book blocks_;
  std::uint64_t last_ = 0;
  host_mutex mutex_;
};

/// Makes the calls that a log tells of on `source`, which need only have `allocate` and `deallocate`. Requests that
/// failed when the log was written are left out. Blocks that the log leaves live are taken back at the end. Returns the
/// number of calls that the log tells of; 0 for an empty log.
///
/// Throws `std::runtime_error` for a log that cannot be read, such as a file that is not open; with the number of the
/// line for one that `logging_adaptor` does not write, or that takes back a block which is not live there; and what the
/// source throws. Blocks of the log are taken back first.
template <class Source>
std::uint64_t replay_log(std::istream& log, Source& source) {
  struct live_blocks {
    Source& source;
    std::map<std::uint64_t, void*> by_id;
    void give_back(typename std::map<std::uint64_t, void*>::iterator which) {
      void* const block = which->second;
      by_id.erase(which);
      source.deallocate(block);
    }
    ~live_blocks() {
      while (!by_id.empty()) {
        try {
          give_back(by_id.begin());
        } catch (...) {
          // Another exception is on its way, which tells of the first failure.
        }
      }
    }
  } live{source, {}};
  std::uint64_t calls = 0;
  pool_detail::for_each_log_line(log, [&](const pool_detail::log_line& line, std::uint64_t number) {
    if (line.kind == '!') return;
    ++calls;
    const auto known = live.by_id.find(line.id);
    if ((known != live.by_id.end()) != (line.kind == '-')) {
      throw std::runtime_error("warpheap: line " + std::to_string(number) + " of the log cannot be replayed: block " +
                               std::to_string(line.id) +
                               (line.kind == '-' ? " is not live there" : " is live there already"));
    }
    if (line.kind == '-') {
      live.give_back(known);
      return;
    }
    const auto made = live.by_id.emplace(line.id, nullptr).first;  // before the block, as it may throw
    try {
      made->second = source.allocate(line.bytes, line.alignment);
    } catch (...) {
      live.by_id.erase(made);
      throw;
    }
  });
  while (!live.by_id.empty()) live.give_back(live.by_id.begin());
  return calls;
}

}  // namespace warpheap
