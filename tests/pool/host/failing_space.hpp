// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <warpheap/pool.hpp>

namespace warpheap::test {

/// What a test sees of a space, and how it lets calls of it fail.
struct space_watch {
  std::atomic<std::uint64_t> calls{0};    ///< commits and decommits so far
  std::atomic<std::uint64_t> fail_at{0};  ///< the call with this number throws
  std::function<void()> on_commit = [] {};
  std::function<void(const void*, std::uint64_t)> on_decommit = [](const void*, std::uint64_t) {};  ///< of these bytes
  std::function<void()> on_end = [] {};  ///< before the memory is given back
};

/// Host memory in pieces of 64 KiB that does what its watch says.
class failing_space final : public pool_space {
 public:
  failing_space(std::uint64_t bytes, space_watch& watch) : pool_space(nullptr, 0, 0), range_(bytes), watch_(watch) {
    lies_at(range_.data(), range_.reserved_bytes(), std::uint64_t{64} << 10);
  }
  ~failing_space() override { watch_.on_end(); }
  void commit(std::uint64_t offset, std::uint64_t bytes) override {
    call();
    watch_.on_commit();
    range_.commit(offset, bytes);
  }
  void decommit(std::uint64_t offset, std::uint64_t bytes) override {
    call();
    watch_.on_decommit(data() + offset, bytes);
    range_.decommit(offset, bytes);
  }

 private:
  void call() {
    if (++watch_.calls == watch_.fail_at) {
      throw std::runtime_error("the call of the space number " + std::to_string(watch_.fail_at));
    }
  }
  host_range range_;
  space_watch& watch_;
};

}  // namespace warpheap::test
