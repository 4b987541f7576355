// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <warpheap/platform.hpp>
#include <warpheap/pool.hpp>

#include "../watch/board.h"

// What `warpheap watch` sees of pools: each has a row of the process's board while it lives. A pool whose row cannot be
// had, or whose process has no board, works as any other.

namespace warpheap::interface {

/// Writes the row of one pool. It is made before the pool and ends after it.
class pool_watch final : public usage_observer {
 public:
  /// Takes a row for a pool on the device with that number, or none if all are taken.
  pool_watch(int device, bool is_common)
      : device_(device), flags_(is_common ? BOARD_COMMON_POOL : 0), slot_(rows().take()), number_(rows().next()) {}
  pool_watch(const pool_watch&) = delete;
  pool_watch& operator=(const pool_watch&) = delete;
  ~pool_watch() override {
    if (slot_ < BOARD_ROWS) {
      if (board* const page = board_if_open()) board_store(&page->row[slot_].kind, BOARD_NOTHING);
    }
    rows().give_back(slot_);
  }

  void usage_changed(const usage_figures& now) noexcept override {
    board_row* const row = find_row();
    if (row == nullptr) return;
    board_store(&row->peak_live_bytes, now.peak_live_bytes);
    board_store(&row->peak_live_blocks, now.peak_live_blocks);
    board_store(&row->allocations, now.allocations);
    board_store(&row->deallocations, now.deallocations);
    board_store(&row->allocated_bytes, now.allocated_bytes);
    board_store(&row->deallocated_bytes, now.deallocated_bytes);
    show(*row);
  }

  /// Number of times that the pool's space was asked to commit memory or to give it back.
  std::uint64_t changes_of_memory() const { return changes_.value(); }
  /// Called by the space, and so by one thread at a time.
  void count_change_of_memory() { changes_.set(changes_.value() + 1); }

  /// Writes what the pool has of its space, and its failures.
  void memory_changed(const stream_pool& pool) {
    const host_lock lock(mutex_);  // an older look must not be written after a newer one
    const pool_statistics now = pool.common().statistics();
    board_row* const row = find_row();
    if (row == nullptr) return;
    board_store(&row->committed_bytes, now.committed_bytes);
    board_store(&row->peak_committed_bytes, now.peak_committed_bytes);
    board_store(&row->failures, now.failures);
    show(*row);
  }

 private:
  // Which rows of the board pools have. A forked child has its parent's pools, and so their rows.
  class row_table {
   public:
    unsigned take() {
      const host_lock lock(mutex_);
      for (unsigned slot = 0; slot < BOARD_ROWS; ++slot) {
        if ((taken_ >> slot & 1) != 0) continue;
        taken_ |= std::uint32_t{1} << slot;
        return slot;
      }
      tell_unshown(++unshown_);
      return BOARD_ROWS;
    }
    void give_back(unsigned slot) {
      const host_lock lock(mutex_);
      if (slot < BOARD_ROWS) {
        taken_ &= ~(std::uint32_t{1} << slot);
      } else {
        tell_unshown(--unshown_);
      }
    }
    std::uint64_t next() {
      const host_lock lock(mutex_);
      return ++last_;
    }

   private:
    static void tell_unshown(std::uint64_t count) {
      if (board* const page = board_if_open()) board_store(&page->unshown, count);
    }

    host_mutex mutex_;
    std::uint32_t taken_ = 0;
    std::uint64_t unshown_ = 0;
    std::uint64_t last_ = 0;
  };
  // Never ended: pools may end later than any static object.
  static row_table& rows() {
    static auto& table = *new row_table;
    return table;
  }

  board_row* find_row() const {
    if (slot_ == BOARD_ROWS) return nullptr;
    board* const page = board_of(BOARD_OF_POOLS, backend_name(this_backend));
    return page == nullptr ? nullptr : &page->row[slot_];
  }

  // Says whose row it is, once in a process.
  void show(board_row& row) const {
    if (board_load(&row.kind) == BOARD_POOL) return;
    board_store(&row.device, static_cast<std::uint64_t>(device_));
    board_store(&row.number, number_);
    board_store(&row.flags, flags_);
    board_publish(&row, BOARD_POOL);
  }

  const int device_;
  const std::uint64_t flags_;
  const unsigned slot_;
  const std::uint64_t number_;
  host_count changes_;
  host_mutex mutex_;
};

/// A space that counts how often its memory changes.
class watched_space final : public pool_space {
 public:
  watched_space(std::unique_ptr<pool_space> space, pool_watch& watch)
      : pool_space(space->data(), space->bytes(), space->piece_bytes()), space_(std::move(space)), watch_(watch) {}
  void commit(std::uint64_t offset, std::uint64_t bytes) override {
    watch_.count_change_of_memory();
    space_->commit(offset, bytes);
  }
  void decommit(std::uint64_t offset, std::uint64_t bytes) override {
    watch_.count_change_of_memory();
    space_->decommit(offset, bytes);
  }
  void allow_peer(int device) override { space_->allow_peer(device); }

 private:
  std::unique_ptr<pool_space> space_;
  pool_watch& watch_;
};

/// One call of a pool. If its memory changed meanwhile, or the call failed, the row gets the new figures.
class watched_call {
 public:
  watched_call(pool_watch* watch, const stream_pool& pool)
      : watch_(watch), pool_(pool), before_(watch == nullptr ? 0 : watch->changes_of_memory()) {}
  watched_call(const watched_call&) = delete;
  watched_call& operator=(const watched_call&) = delete;
  ~watched_call() {
    if (watch_ != nullptr && (!is_done_ || watch_->changes_of_memory() != before_)) watch_->memory_changed(pool_);
  }
  /// The call did what it was asked for.
  void done() { is_done_ = true; }

 private:
  pool_watch* const watch_;
  const stream_pool& pool_;
  const std::uint64_t before_;
  bool is_done_ = false;
};

}  // namespace warpheap::interface
