// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/annotation.hpp>

namespace warpheap {

/// A place in the source, taken where a function with a defaulted `call_site` argument is called.
///
/// The host executor gathers lanes by it and names it when it reports where a lane is parked. Device code never reads
/// it, so it costs nothing there.
struct call_site {
  const char* file;  ///< path as the compiler was given it
  unsigned line;     ///< line of the call

  /// The place where the innermost call with this default argument stands.
  WARPHEAP_FN static constexpr call_site current(const char* file = __builtin_FILE(),
                                                 unsigned line = __builtin_LINE()) {
    return {file, line};
  }
};

}  // namespace warpheap
