// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <warpheap/trace/trace.hpp>

namespace warpheap {

/// `of` as text, as docs/traces.md describes it. Equal traces give equal texts.
std::string to_text(const trace& of);

/// The trace that `text` describes. Throws `trace_error` that names the line if it is no trace, one of another version,
/// cut off, or one that breaks a rule of `examine`.
trace parse_trace(std::string_view text);

/// Writes `of` to `path`. Throws `trace_error` if the file cannot be written.
void write_trace(const std::string& path, const trace& of);

/// The trace in the file `path`. Throws `trace_error`, which names the file, if it cannot be read, and as
/// `parse_trace`.
trace read_trace(const std::string& path);

}  // namespace warpheap

#include <warpheap/trace/detail/trace_file.hpp>
