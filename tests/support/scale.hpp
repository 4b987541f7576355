// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <warpheap/platform.hpp>

namespace warpheap::test {

/// How much work tests do: the one place that scales them.
///
/// `WARPHEAP_TEST_SCALE` is `normal`, or `small` for runs under tools that slow a program down, such as
/// compute-sanitizer, or `full` for what takes minutes and is run now and then. `WARPHEAP_TEST_SEEDS` sets the number
/// of seeds.
enum class work_scale { small, normal, full };

inline work_scale scale_in_force() {
  const char* const text = std::getenv("WARPHEAP_TEST_SCALE");
  const std::string name = text == nullptr ? "normal" : text;
  if (name == "normal") return work_scale::normal;
  if (name == "small") return work_scale::small;
  if (name == "full") return work_scale::full;
  throw std::invalid_argument("WARPHEAP_TEST_SCALE: use small, normal or full, not '" + name + "'");
}

/// An amount of work, such as threads or steps: what a host executor on one core can do in passing, and what gives a
/// GPU enough to do. A small scale takes a fourth of the former, a 32nd of the latter.
inline std::uint64_t scaled(std::uint64_t host, std::uint64_t gpu) {
  const bool small = scale_in_force() == work_scale::small;
  if constexpr (this_backend == backend::host) return std::max<std::uint64_t>(small ? host / 4 : host, 1);
  return std::max<std::uint64_t>(small ? gpu / 32 : gpu, 1);
}

/// A size of blocks with which a heap is filled: `bytes`, or at a small scale eight times as much, for an eighth of
/// them.
inline std::uint64_t scaled_block(std::uint64_t bytes) {
  return scale_in_force() == work_scale::small ? 8 * bytes : bytes;
}

/// An amount of work on the host that says itself what `full` means; a test that has nothing to say does the normal
/// one.
inline std::uint64_t scaled_up_to(std::uint64_t normal, std::uint64_t full) {
  return scale_in_force() == work_scale::full ? full : scaled(normal, normal);
}

/// By how much less a GPU test asks of `A`: the design says so in `A::work_divisor`; the toolkit's own heap is slow.
template <class A>
constexpr std::uint64_t work_divisor() {
  if constexpr (requires { A::work_divisor; }) {
    return A::work_divisor;
  } else {
    return A::capabilities.uses_arena ? 1 : 64;
  }
}

/// True if a request that `A` refuses looks at each chunk of the heap, as the design says by its member of this name.
/// Tests that fill a heap then take fewer threads and a smaller heap: their work is threads times chunks.
template <class A>
constexpr bool refuses_in_linear_time() {
  if constexpr (requires { A::refuses_in_linear_time; }) {
    return A::refuses_in_linear_time;
  } else {
    return false;
  }
}

/// As `scaled`, for work that `A` does: less on a GPU if `A` is slow, never below a few warps.
template <class A>
std::uint64_t scaled_for(std::uint64_t host, std::uint64_t gpu) {
  if constexpr (this_backend == backend::host) return scaled(host, gpu);
  return std::max<std::uint64_t>(scaled(host, gpu) / work_divisor<A>(), std::min<std::uint64_t>(gpu, 128));
}

}  // namespace warpheap::test
