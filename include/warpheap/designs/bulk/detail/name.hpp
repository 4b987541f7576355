// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace warpheap::detail {

/// Name of the design over the buddy system `Buddy`: "bulk" and the suffix that the system gives. It ends with a zero.
template <class Buddy>
inline constexpr auto bulk_name = [] {
  constexpr std::string_view stem = "bulk";
  constexpr std::string_view suffix = Buddy::design_suffix;
  std::array<char, stem.size() + suffix.size() + 1> name{};
  std::copy(suffix.begin(), suffix.end(), std::copy(stem.begin(), stem.end(), name.begin()));
  return name;
}();

}  // namespace warpheap::detail
