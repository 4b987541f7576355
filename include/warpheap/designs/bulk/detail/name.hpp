// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/device.hpp>

namespace warpheap::detail {

/// "bulk" and the suffix that the buddy system `Buddy` gives to a design over it, with a zero at the end.
template <class Buddy>
struct bulk_name_text {
  static constexpr char stem[] = "bulk";
  char text[sizeof(stem) + sizeof(Buddy::design_suffix) - 1] = {};

  constexpr bulk_name_text() {
    char* end = text;
    for (const char* from = stem; *from != 0; ++from) *end++ = *from;
    for (const char* from = Buddy::design_suffix; *from != 0; ++from) *end++ = *from;
  }
};

/// The name of `bulk` over the buddy system `Buddy`.
template <class Buddy>
inline constexpr bulk_name_text<Buddy> bulk_name;

}  // namespace warpheap::detail
