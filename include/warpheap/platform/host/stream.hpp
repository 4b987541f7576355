// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace warpheap::target {

using stream = void*;
struct event {};

inline std::uint64_t stream_key(stream which) { return reinterpret_cast<std::uintptr_t>(which); }
inline bool stream_is_shared(stream) { return true; }
inline bool stream_is_capturing(stream) { return false; }
inline void record(event&, stream) {}
inline void stream_wait(stream, event&) {}
inline bool is_finished(event&) { return true; }
inline void synchronise(event&) {}

}  // namespace warpheap::target
