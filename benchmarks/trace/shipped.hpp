// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <warpheap/trace.hpp>

#include "../options.hpp"

namespace warpheap::bench {

/// The text of the shipped trace of that name, which is built into the program. There is one.
std::string_view shipped_trace_text(std::string_view name);

/// The trace that `options` ask for: the file that they name, or the shipped one that their mode
/// names. Throws `usage_error` if the file is no trace.
trace trace_of(const run_options& options);

/// The mode of a run that replays the file that `options` name: `file:` and its name without folders and ending.
/// Throws `usage_error` if the file is no trace, or if a mode is named beside it.
std::string mode_of_file(const run_options& options);

}  // namespace warpheap::bench
