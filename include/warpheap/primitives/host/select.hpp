// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform.hpp>

namespace warpheap::target {

template <class Predicate>
std::uint64_t select_work(std::uint32_t) {
  return 1;
}

template <class Predicate>
void select(work_memory, Predicate predicate, std::uint32_t count, std::uint32_t* places, std::uint32_t* selected) {
  std::uint32_t found = 0;
  for (std::uint32_t place = 0; place < count; ++place) {
    if (predicate(place)) places[found++] = place;
  }
  *selected = found;
}

}  // namespace warpheap::target
