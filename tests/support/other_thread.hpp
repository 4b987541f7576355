// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <utility>
#include <vector>

namespace warpheap::test {

/// Makes calls on another thread, to find out whether the caller holds a lock that they need.
class other_thread {
 public:
  /// True if the call ends while the caller waits for it. Else it ends at the latest before this object does, when the
  /// lock is free.
  bool ends(std::function<void()> call) {
    auto made = std::async(std::launch::async, std::move(call));
    if (made.wait_for(std::chrono::seconds(5)) == std::future_status::ready) {
      made.get();
      return true;
    }
    late_.push_back(std::move(made));
    return false;
  }

 private:
  std::vector<std::future<void>> late_;
};

}  // namespace warpheap::test
