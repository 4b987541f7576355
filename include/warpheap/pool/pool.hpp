// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>
#include <warpheap/platform.hpp>
#include <warpheap/pool/engine.hpp>
#include <warpheap/pool/errors.hpp>
#include <warpheap/pool/segregated_fit.hpp>
#include <warpheap/pool/space.hpp>
#include <warpheap/pool/statistics.hpp>

namespace warpheap {

/// How a pool deals out its memory.
struct pool_options {
  /// Sizes are rounded up to multiples of this many bytes, and blocks begin at multiples of it: a power of two, at
  /// least 16. Where the space takes memory piece by piece, it must divide the piece and the address of the space.
  std::uint64_t granule_bytes = 256;
  /// Bytes to commit at once when the pool is made, where the space takes memory piece by piece.
  std::uint64_t initial_bytes = 0;
  /// The pool grows by at least this many bytes where addresses and memory allow, else by what a request needs.
  std::uint64_t growth_bytes = 0;
  /// The pool never commits more than this many bytes, where the space takes memory piece by piece. (What the space
  /// fails to give back does not count.) Addresses may be more: memory that is given back in one place can then be had
  /// in another.
  std::uint64_t most_bytes = ~std::uint64_t{0};
};

/// A pool: hands out parts of one range of memory, of any kind, from the host.
///
/// All it knows it keeps in host memory, in an engine; it never reads or writes the range. It grows in place, by
/// giving memory to more of the range's addresses, so that blocks of all ages lie in one range and merge with each
/// other. After Aknesil and Unat, "MAM: a memory allocation manager for GPUs" (2017), which takes one chunk and never
/// grows.
///
/// All members can be called by any host thread at any time. A block that is taken back may be handed out by the next
/// call: its caller sees to it that nothing uses the block any more, launches included. `stream_pool` sees to it
/// itself.
template <segment_engine Engine>
class basic_pool {
 public:
  /// A pool over `space`, which it owns. Throws `std::invalid_argument` for options that do not fit, and what the space
  /// throws when it cannot commit `initial_bytes`.
  explicit basic_pool(std::unique_ptr<pool_space> space, pool_options options = {});
  basic_pool(const basic_pool&) = delete;
  basic_pool& operator=(const basic_pool&) = delete;
  /// Gives all memory back, that of live blocks too.
  ~basic_pool() {
    const relaxed_capture_mode mode;
    space_.reset();
  }

  /// A block of at least `bytes` bytes that begins at a multiple of `alignment`, a power of two; the granule unless
  /// more is asked for. No bytes are one granule. Its contents are anything. Throws `out_of_memory` if no free segment
  /// can hold it and the pool cannot grow enough, and `std::invalid_argument` for an alignment that is no power of two;
  /// the pool is then as before, except that it may have grown.
  void* allocate(std::uint64_t bytes, std::uint64_t alignment = 1);
  /// As `allocate`, but returns null where that throws `out_of_memory`, and does not count as a failure. With
  /// `may_grow` false only memory that the pool has already is looked at.
  void* try_allocate(std::uint64_t bytes, std::uint64_t alignment = 1, bool may_grow = true);
  /// Grows until a free segment can hold a block of that size and alignment, but hands out none. False where
  /// `try_allocate` would return null.
  bool provide(std::uint64_t bytes, std::uint64_t alignment = 1);
  /// As `try_allocate` where the pool may not grow, but the block has what is free after it, too, up to `most` bytes in
  /// all.
  void* try_allocate_stretch(std::uint64_t bytes, std::uint64_t most, std::uint64_t alignment = 1);
  /// Takes a block back; null is ignored. Throws `unknown_block` if no block begins there; nothing has changed then.
  void deallocate(void* block);
  /// Makes two blocks of one: the first `bytes` bytes, rounded up to granules, and the rest, which it returns. Each is
  /// taken back for itself. Throws `unknown_block` if no block begins there, and `std::invalid_argument` if one of the
  /// two would be empty.
  void* split(void* block, std::uint64_t bytes);
  /// Bytes of the block that begins there, its rounding included; 0 if none does.
  std::uint64_t block_bytes(const void* block) const;

  /// Gives memory that no block lies in back to the machine, in whole pieces, as long as at least `keep_bytes` stay
  /// committed; returns how many bytes. Addresses stay reserved. Waits for nothing: see `deallocate`. Throws what the
  /// space throws; what it did not give back can be handed out again.
  std::uint64_t trim(std::uint64_t keep_bytes = 0);
  /// Takes all blocks back at once, and gives all memory back to the machine where the space can; returns how many
  /// bytes that is.
  std::uint64_t release();

  /// From now on the pool grows to no more than this many bytes, as if they were `pool_options::most_bytes`. What it
  /// has above that it keeps until `trim`. Throws `std::invalid_argument` where the space takes all memory at once.
  void limit(std::uint64_t most_bytes);

  /// Lets another device reach all blocks, those that are handed out later too. Throws what the space throws.
  void allow_peer(int device);

  /// What the pool has taken and handed out. Takes time with the number of free segments of the largest sizes.
  pool_statistics statistics() const;
  /// Makes each peak of the figures what it is a peak of now.
  void reset_peaks();
  /// All segments in the order of their addresses.
  std::vector<segment_view> segments() const;
  /// All segments in the order of their addresses, as one JSON object. Its members are `base`, a hexadecimal address as
  /// text, `reserved_bytes`, `granule_bytes`, and `segments`: objects with `offset`, `bytes`, and `state`, which is
  /// `live`, `free` or `absent`.
  std::string snapshot() const;
  /// The range of addresses in `columns` characters: a hash sign where all is live, a plus where some is, a dot where
  /// all is free, and a blank where there is no memory.
  std::string picture(std::uint64_t columns = 80) const;

  /// True if `address` lies in the range that the pool hands out.
  bool contains(const void* address) const { return number(address) - begin_ < end_ - begin_; }
  /// The lowest address that the pool hands out.
  const void* data() const { return reinterpret_cast<const void*>(static_cast<std::uintptr_t>(begin_)); }
  /// Bytes of addresses that the pool hands out at most.
  std::uint64_t reserved_bytes() const { return end_ - begin_; }
  /// Memory is taken from the space and given back in multiples of this many bytes; 0 if the space takes all at once.
  std::uint64_t piece_bytes() const { return space_->can_map() ? space_->piece_bytes() : 0; }
  /// Bytes of whole pieces in `[begin, begin + bytes)`, addresses of the pool: what `trim` gives back if it is free.
  std::uint64_t bytes_in_pieces(std::uint64_t begin, std::uint64_t bytes) const {
    const std::uint64_t end = piece_below(begin + bytes);
    return end - std::min(piece_above(begin), end);
  }
  /// Blocks ever handed out.
  std::uint64_t allocations() const {
    const host_lock lock(mutex_);
    return allocations_;
  }
  /// Committed bytes above a limit that was lowered, in whole pieces: the pool grows only after as many were given
  /// back. 0 if the space takes all memory at once.
  std::uint64_t excess_bytes() const {
    const host_lock lock(mutex_);
    if (!space_->can_map()) return 0;
    const std::uint64_t piece = space_->piece_bytes();
    return divide_up(committed() - std::min(committed(), options_.most_bytes), piece) * piece;
  }
  /// Bytes that the pool may commit beside those that it has.
  std::uint64_t unused_bytes() const {
    const host_lock lock(mutex_);
    return may_commit();
  }
  /// Changes so far that may let a request succeed which failed before: blocks were taken back, memory came or went, or
  /// the limit is another one. As long as it is the same, free and absent segments have only lost parts.
  std::uint64_t changes() const {
    const host_lock lock(mutex_);
    return changes_;
  }
  /// Sizes are rounded up to multiples of this many bytes.
  std::uint64_t granule_bytes() const { return engine_.granule(); }

 private:
  // A part of an absent segment that is to get memory.
  struct missing_part {
    segment_handle handle;
    std::uint64_t begin;
    std::uint64_t bytes;
  };
  // A free or absent segment of a row of such, and how many bytes of the row before it have no memory.
  struct row_part {
    segment_view where;
    std::uint64_t absent_before;
  };

  static std::uint64_t number(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }
  std::uint64_t base() const { return number(space_->data()); }
  std::uint64_t committed() const {
    return engine_.bytes_in(segment_state::live) + engine_.bytes_in(segment_state::free);
  }
  // In whole pieces, since no less is committed.
  std::uint64_t may_commit() const {
    const std::uint64_t left = options_.most_bytes - std::min(options_.most_bytes, committed());
    return space_->can_map() ? left / space_->piece_bytes() * space_->piece_bytes() : left;
  }
  // Addresses rounded to borders of pieces, kept inside the range.
  std::uint64_t piece_above(std::uint64_t address) const;
  std::uint64_t piece_below(std::uint64_t address) const;

  // Marks the calling thread as the one that the space works for. Made with the space's lock held, ended with both.
  struct space_use {
    std::uint64_t& user;
    explicit space_use(std::uint64_t& of) : user(of) { user = host_thread_serial(); }
    ~space_use() { user = 0; }
  };

  // `lock` holds `mutex_`, and does so again when these return or throw; the space is called without it.
  void* take(std::uint64_t bytes, std::uint64_t alignment, bool may_grow, std::string& refusal, host_lock& lock);
  segment_handle grow(std::uint64_t bytes, std::uint64_t alignment, std::string& refusal, host_lock& lock);
  void commit(const std::vector<missing_part>& parts, host_lock& lock);
  host_lock lock_space(host_lock& lock);
  bool plan_growth(std::uint64_t bytes, std::uint64_t alignment, std::uint64_t growth,
                   std::vector<missing_part>& parts) const;
  bool cover(segment_handle first, std::uint64_t bytes, std::uint64_t alignment, std::uint64_t growth,
             std::vector<missing_part>& parts) const;
  std::uint64_t aligned_begin(std::uint64_t address, std::uint64_t alignment) const;
  std::uint64_t growth_end(std::uint64_t from, std::uint64_t wanted, std::uint64_t growth) const;
  void fill_row(segment_handle first, std::vector<row_part>& row) const;
  template <class Visit>
  void for_each_cost(const std::vector<row_part>& row, std::uint64_t bytes, std::uint64_t alignment,
                     std::uint64_t growth, Visit visit) const;
  // Counts a block that the engine made live; null for `no_segment`. Called with `mutex_`.
  void* hand_out(segment_handle block);
  segment_handle must_find(const void* block) const;
  [[noreturn]] void fail(std::uint64_t bytes, std::uint64_t alignment, const std::string& refusal);

  std::unique_ptr<pool_space> space_;
  pool_options options_;
  Engine engine_;
  std::uint64_t begin_ = 0;  // the addresses that the engine knows
  std::uint64_t end_ = 0;
  std::uint64_t peak_ = 0;
  std::uint64_t peak_committed_ = 0;
  std::uint64_t allocations_ = 0;
  std::uint64_t failures_ = 0;
  std::uint64_t changes_ = 0;
  mutable host_mutex mutex_;  // of the engine and the figures
  // Held while the space works, and taken before `mutex_`. Absent segments change only under it, so what was planned
  // for them holds while `mutex_` is free.
  host_mutex space_mutex_;
  std::uint64_t space_user_ = 0;  // serial of the thread that the space works for; read and written under `mutex_`
};

/// The pool with the engine of constant time.
using pool = basic_pool<segregated_fit>;

}  // namespace warpheap

#include <warpheap/pool/detail/growth.hpp>
#include <warpheap/pool/detail/pool.hpp>
#include <warpheap/pool/detail/snapshot.hpp>
