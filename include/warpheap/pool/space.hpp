// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <utility>
#include <warpheap/platform.hpp>

namespace warpheap {

/// The memory that a pool hands out: a range of addresses, which never moves, of which pieces can have memory.
///
/// Derive from it to put a pool over memory of another kind. A pool owns its space and calls it from one thread at a
/// time. It commits whole pieces counted from `data()`, and hands out no byte that is not committed; the pool's granule
/// must divide the piece and that address. While a space works, other threads use the memory that is there. It may call
/// a `basic_pool` that it works for, which serves it from that memory too and does not grow; it must not call
/// `release`, nor a stream pool that it works for.
class pool_space {
 public:
  virtual ~pool_space() = default;
  pool_space(const pool_space&) = delete;
  pool_space& operator=(const pool_space&) = delete;

  /// Gives memory to the pieces of `[offset, offset + bytes)`; pieces that have it keep it and their contents.
  /// Throws anything derived from `std::exception` when memory is refused, and has then changed nothing that was
  /// committed before.
  virtual void commit(std::uint64_t offset, std::uint64_t bytes) = 0;
  /// Gives the memory of the pieces of `[offset, offset + bytes)` back; nobody uses it any more. Only called where
  /// `can_map()`.
  virtual void decommit(std::uint64_t offset, std::uint64_t bytes) = 0;

  /// Lets another device reach the memory, also what is committed later. Throws `std::logic_error` for memory of a kind
  /// for which that cannot be said, and `launch_failure` if the device cannot; nothing has changed then.
  virtual void allow_peer(int) {
    throw std::logic_error("warpheap: the memory of this space cannot be given to other devices one by one");
  }

  std::byte* data() const { return data_; }             ///< start of the range
  std::uint64_t bytes() const { return bytes_; }        ///< size of the range
  std::uint64_t piece_bytes() const { return piece_; }  ///< unit of commit and decommit, in bytes
  /// True if pieces are committed and given back; else all memory is there from the start and stays.
  bool can_map() const { return piece_ != 0; }

 protected:
  /// A range at `data` of `bytes` bytes, committed in pieces of `piece` bytes; all of it committed for a piece of 0.
  pool_space(std::byte* data, std::uint64_t bytes, std::uint64_t piece) : data_(data), bytes_(bytes), piece_(piece) {}
  /// For ranges that are made after the base: says where the range lies.
  void lies_at(std::byte* data, std::uint64_t bytes, std::uint64_t piece) {
    data_ = data;
    bytes_ = bytes;
    piece_ = piece;
  }

 private:
  std::byte* data_;
  std::uint64_t bytes_;
  std::uint64_t piece_;
};

/// Device memory: up to `bytes`, rounded up to pieces, at addresses that are reserved at once. Memory is taken as the
/// pool grows, where the machine can map memory; else all at once. Throws what `device_range` throws.
class device_space final : public pool_space {
 public:
  /// Reserves the addresses; the options are those of `device_range`.
  explicit device_space(std::uint64_t bytes, range_options options = {})
      : pool_space(nullptr, 0, 0), range_(make_range(bytes, options)) {
    lies_at(range_.data(), range_.reserved_bytes(), range_.can_map() ? range_.piece_bytes() : 0);
  }
  void commit(std::uint64_t offset, std::uint64_t bytes) override { range_.commit(offset, bytes); }
  void decommit(std::uint64_t offset, std::uint64_t bytes) override { range_.decommit(offset, bytes); }
  void allow_peer(int device) override { range_.allow_peer(device); }

 private:
  static device_range make_range(std::uint64_t bytes, const range_options& options) {
    const relaxed_capture_mode mode;
    return device_range(bytes, options);
  }

  device_range range_;
};

/// Plain host memory: up to `bytes`, rounded up to pages, taken in pieces of `piece_bytes`, a multiple of the page, as
/// the pool grows. It begins at a page, so a pool's granule of up to a page fits. Throws what `host_range` throws, and
/// `std::invalid_argument` for a piece of 0 bytes or of no whole pages.
class host_space final : public pool_space {
 public:
  /// Reserves the addresses.
  explicit host_space(std::uint64_t bytes, std::uint64_t piece_bytes = std::uint64_t{4} << 20)
      : pool_space(nullptr, 0, 0), range_(bytes) {
    if (piece_bytes == 0 || piece_bytes % host_range::page_bytes() != 0) {
      throw std::invalid_argument("warpheap: host memory is taken in pieces of whole pages: choose a multiple of 4096");
    }
    lies_at(range_.data(), range_.reserved_bytes(), piece_bytes);
  }
  void commit(std::uint64_t offset, std::uint64_t bytes) override { range_.commit(offset, bytes); }
  void decommit(std::uint64_t offset, std::uint64_t bytes) override { range_.decommit(offset, bytes); }

 private:
  host_range range_;
};

/// Pinned host memory: up to `bytes`, rounded up to pieces of `piece_bytes`, at addresses that are reserved at once.
/// Memory is taken as the pool grows, where the driver can map host memory (from CUDA 12.2 on, if the machine can);
/// else all at once, since it cannot add to `cudaMallocHost`'s in place.
class pinned_space final : public pool_space {
 public:
  /// Reserves the addresses, or takes the memory; throws what `device_range` throws.
  explicit pinned_space(std::uint64_t bytes, std::uint64_t piece_bytes = std::uint64_t{32} << 20)
      : pool_space(nullptr, 0, 0), range_(pinned_range(bytes, piece_bytes)) {
    lies_at(range_.data(), range_.reserved_bytes(), range_.can_map() ? range_.piece_bytes() : 0);
  }
  void commit(std::uint64_t offset, std::uint64_t bytes) override { range_.commit(offset, bytes); }
  void decommit(std::uint64_t offset, std::uint64_t bytes) override { range_.decommit(offset, bytes); }

 private:
  // A machine may say that it can, and then refuse, as in some containers: the first piece tells.
  static device_range pinned_range(std::uint64_t bytes, std::uint64_t piece_bytes) {
    const relaxed_capture_mode mode;
    range_options options{.piece_bytes = piece_bytes, .place = memory_place::pinned};
    try {
      device_range range(bytes, options);
      if (range.reserved_bytes() != 0) range.commit(0, 1);
      range.decommit(0, range.reserved_bytes());
      return range;
    } catch (const launch_failure&) {
      options.plain = true;
      return device_range(bytes, options);
    }
  }

  device_range range_;
};

/// Managed memory: `bytes` of addresses, to which the driver gives pages where they are first used. So a space can
/// be as large as the pool may ever grow, and costs what is used; its pages stay until the pool ends, as the driver
/// takes none back. It is of the device that was current when it was made.
class managed_space final : public pool_space {
 public:
  /// Takes the memory; throws what `managed_allocate` throws, and `std::length_error` for more than `most_bytes`.
  explicit managed_space(std::uint64_t bytes) : pool_space(nullptr, 0, 0), context_(device_context::current()) {
    require_size(bytes, "a managed_space");
    const relaxed_capture_mode mode;
    lies_at(static_cast<std::byte*>(managed_allocate(bytes)), bytes, 0);
  }
  ~managed_space() override {
    if (context_.is_alive()) managed_release(data());  // else the memory went with the device
  }
  void commit(std::uint64_t, std::uint64_t) override {}
  void decommit(std::uint64_t, std::uint64_t) override {}

 private:
  device_context context_;
};

/// Memory of the caller's own, `[memory, memory + bytes)` of any kind, which outlives the pool. The pool takes nothing
/// more and gives nothing back.
class borrowed_space final : public pool_space {
 public:
  /// Over that memory.
  borrowed_space(void* memory, std::uint64_t bytes) : pool_space(static_cast<std::byte*>(memory), bytes, 0) {}
  void commit(std::uint64_t, std::uint64_t) override {}
  void decommit(std::uint64_t, std::uint64_t) override {}
};

}  // namespace warpheap
