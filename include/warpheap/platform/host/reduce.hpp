// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/reduce.hpp>

namespace warpheap::target {

// The host reduces with shuffles, by the code that a GPU runs for words it has no instruction for.
template <class T, class Combine>
inline constexpr bool reduces_natively = false;

template <class T, class Combine>
T reduce(lane_mask group, T value, Combine combine, call_site site) = delete;

}  // namespace warpheap::target
