// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <new>
#include <stdexcept>
#include <vector>
#include <warpheap/platform/memory_space.hpp>
#include <warpheap/platform/shared_memory.hpp>

namespace warpheap {

inline device_range::device_range(std::uint64_t bytes, range_options options) : place_(options.place) {
  if (bytes == 0) return;
  require_size(bytes, "a range");
  require_size(options.piece_bytes, "a piece of a range");
  context_ = device_context::current();
  const std::uint64_t granularity = options.plain ? 0 : target::mapping_granularity(place_);
  mapped_ = granularity != 0;
  piece_ = mapped_ ? align_up(next_power_of_two(options.piece_bytes), granularity) : bytes;
  if (mapped_) {
    piece_ = piece_ < bytes ? piece_ : align_up(bytes, granularity);
    reserved_ = divide_up(bytes, piece_) * piece_;
    data_ = static_cast<std::byte*>(target::reserve_addresses(reserved_, granularity));
  } else {
    constexpr std::uint64_t alignment = 4096;
    plain_ = place_ == memory_place::device ? target::device_allocate(bytes + alignment)
                                            : target::pinned_allocate(bytes + alignment);
    data_ = reinterpret_cast<std::byte*>(align_up(reinterpret_cast<std::uint64_t>(plain_), alignment));
    reserved_ = committed_ = bytes;
  }
}

inline device_range::~device_range() {
  if (data_ == nullptr) return;
  const scoped_device own{context_, std::nothrow};
  if (!own.is_current()) return;  // the memory went with the device
  if (!mapped_) {
    place_ == memory_place::device ? target::device_release(plain_) : target::pinned_release(plain_);
    return;
  }
  for (auto& [offset, memory] : pieces_) target::unmap(data_ + offset, piece_, memory);
  target::release_addresses(data_, reserved_);
}

inline void device_range::swap(device_range& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(plain_, other.plain_);
  std::swap(reserved_, other.reserved_);
  std::swap(committed_, other.committed_);
  std::swap(piece_, other.piece_);
  std::swap(mapped_, other.mapped_);
  std::swap(place_, other.place_);
  std::swap(context_, other.context_);
  peers_.swap(other.peers_);
  pieces_.swap(other.pieces_);
}

inline void device_range::commit(std::uint64_t offset, std::uint64_t bytes) {
  if (offset > reserved_ || bytes > reserved_ - offset) {
    throw std::out_of_range("warpheap: commit reaches past the reserved range: reserve more when the range is made");
  }
  if (!mapped_ || bytes == 0) return;
  const scoped_device own{context_};
  std::vector<std::uint64_t> added;
  std::uint64_t mapped = 0;  // of them, those that have memory
  try {
    for (std::uint64_t at = align_down(offset, piece_); at < offset + bytes; at += piece_) {
      if (pieces_.contains(at)) continue;
      added.push_back(at);
      auto& memory = pieces_[at];
      memory = target::map(data_ + at, piece_, place_);
      ++mapped;
      for (const int peer : peers_) target::grant_peer(data_ + at, piece_, peer);
    }
  } catch (...) {
    // The machine refused the last piece, or the host has no memory to note it.
    for (std::uint64_t i = 0; i < added.size(); ++i) {
      if (i < mapped) target::unmap(data_ + added[i], piece_, pieces_[added[i]]);
      pieces_.erase(added[i]);
    }
    throw;
  }
  committed_ += added.size() * piece_;
}

inline void device_range::allow_peer(int device) {
  if (data_ == nullptr) return;
  const scoped_device own{context_};
  target::require_peer(context_.device(), device);
  if (device == context_.device() || std::find(peers_.begin(), peers_.end(), device) != peers_.end()) return;
  peers_.reserve(peers_.size() + 1);
  if (!mapped_) target::grant_peer_all(context_.device(), device);
  std::uint64_t granted = 0;
  try {
    for (const auto& [offset, memory] : pieces_) {
      target::grant_peer(data_ + offset, piece_, device);
      ++granted;
    }
  } catch (...) {
    for (auto at = pieces_.begin(); granted != 0; ++at, --granted) {
      target::revoke_peer(data_ + at->first, piece_, device);
    }
    throw;
  }
  peers_.push_back(device);
}

inline std::uint64_t device_range::decommit(std::uint64_t offset, std::uint64_t bytes) {
  if (offset > reserved_ || bytes > reserved_ - offset) {
    throw std::out_of_range("warpheap: decommit reaches past the reserved range");
  }
  if (!mapped_) return 0;
  const scoped_device own{context_};
  std::uint64_t given_back = 0;
  for (std::uint64_t at = align_up(offset, piece_); at + piece_ <= offset + bytes; at += piece_) {
    const auto piece = pieces_.find(at);
    if (piece == pieces_.end()) continue;
    target::unmap(data_ + at, piece_, piece->second);
    pieces_.erase(piece);
    given_back += piece_;
  }
  committed_ -= given_back;
  return given_back;
}

}  // namespace warpheap
