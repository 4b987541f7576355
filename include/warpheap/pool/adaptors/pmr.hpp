// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory_resource>
#include <warpheap/pool/adaptors/source.hpp>

namespace warpheap {

/// Lets containers of `std::pmr` use a source whose memory the host can touch: a pool over plain, pinned or managed
/// memory. Two are equal if they stand on the same source.
template <block_source Source>
class pmr_adaptor final : public std::pmr::memory_resource {
 public:
  /// Over `source`, which outlives it and all containers that use it.
  explicit pmr_adaptor(Source& source) : source_(source) {}

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override { return source_.allocate(bytes, alignment); }
  void do_deallocate(void* block, std::size_t, std::size_t) override { source_.deallocate(block); }
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    const auto* const same = dynamic_cast<const pmr_adaptor*>(&other);
    return same != nullptr && &same->source_ == &source_;
  }
  Source& source_;
};

}  // namespace warpheap
