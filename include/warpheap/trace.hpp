// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Traces: what a program asked its heap for, recorded through a wrapper of any design, kept in a file, replayed by the
/// survey. docs/traces.md describes the format.

#include <warpheap/trace/recorded.hpp>
#include <warpheap/trace/recorder.hpp>
#include <warpheap/trace/trace.hpp>
#include <warpheap/trace/trace_file.hpp>
