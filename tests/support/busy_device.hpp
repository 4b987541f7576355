// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <support/scale.hpp>
#include <warpheap/platform.hpp>

namespace warpheap::test {

struct add_up {
  WARPHEAP_FN void operator()(std::uint32_t* cell, std::uint64_t times) const {
    // Each addition waits for the one before, whose result it looks at.
    const atomic_view sum{*cell};
    while (times != 0 && sum.fetch_add(1, memory_order::relaxed, thread_scope::device) != ~0u) --times;
  }
};

/// Keeps a GPU busy from each `begin` on, for as long as 200,000 additions take that wait for each other. So what is
/// started after it runs late. On the host a launch has ended when it returns, and nothing runs late.
class busy_device {
 public:
  busy_device() : cell_(1) {}
  void begin() const { launch(grid_shape{1, 32}, add_up{}, cell_.data(), scaled(10, 200'000)); }

 private:
  device_array<std::uint32_t> cell_;
};

}  // namespace warpheap::test
