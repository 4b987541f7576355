// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/device.hpp>

namespace warpheap {

/// How often a search is made that finds nothing and cannot be certain that there was nothing, because others gave and
/// moved things meanwhile.
struct retry_limit {
  static constexpr std::uint32_t endless = ~std::uint32_t{0};  ///< until it is certain

  std::uint32_t searches = endless;  ///< at most, 1 or more
};

}  // namespace warpheap
