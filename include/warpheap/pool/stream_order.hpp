// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>
#include <warpheap/platform.hpp>

namespace warpheap {

/// What `stream_pool` needs to know of streams; `device_streams` are those of the machine, and explains each member. A
/// test can put its own in their place. The pool holds locks while it calls them, except `synchronise`, which may take
/// long; so none of them may call the pool. One that throws has changed nothing.
template <class S>
concept stream_order = std::copyable<typename S::stream> && std::movable<typename S::event> &&
                       std::default_initializable<typename S::event> &&
                       requires(S streams, typename S::stream stream, typename S::event event) {
                         { streams.key(stream) } -> std::same_as<std::uint64_t>;
                         { streams.is_shared(stream) } -> std::same_as<bool>;
                         { streams.is_capturing(stream) } -> std::same_as<bool>;
                         { streams.capture_number(stream) } -> std::same_as<std::uint64_t>;
                         { streams.is_finished(event) } -> std::same_as<bool>;
                         streams.record(event, stream);
                         streams.wait(stream, event);
                         streams.synchronise(event);
                       };
static_assert(stream_order<device_streams>);

}  // namespace warpheap
