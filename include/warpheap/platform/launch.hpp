// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <warpheap/platform/annotation.hpp>
#include <warpheap/platform/bits.hpp>
#include <warpheap/platform/schedule.hpp>

namespace warpheap {

/// A one-dimensional grid.
struct grid_shape {
  std::uint64_t blocks;   ///< blocks of the grid; none is fine
  std::uint32_t threads;  ///< threads of a block, 1 to 1024

  /// A grid of blocks of `threads_per_block` with at least `threads` threads in all.
  static constexpr grid_shape covering(std::uint64_t threads, std::uint32_t threads_per_block = 256) {
    return {divide_up(threads, threads_per_block), threads_per_block};
  }
};

namespace detail {

/// A body that says for which blocks it is compiled.
template <class Body>
concept says_largest_block = requires {
  { Body::largest_block } -> std::convertible_to<std::uint32_t>;
};

}  // namespace detail
}  // namespace warpheap

#if defined(WARPHEAP_BACKEND_CUDA)
#include <warpheap/platform/cuda/launch.hpp>
#else
#include <warpheap/platform/host/launch.hpp>
#endif

namespace warpheap {

/// Runs `body(arguments...)` in each thread of a grid. `body` is a function object whose call operator is `const` and
/// marked `WARPHEAP_FN`; it and the arguments travel by value and are trivially copyable.
///
/// On a GPU the launch goes to the default stream and returns at once; `synchronise` waits for it and reports how it
/// ended. On the host it returns when the grid is done. A grid of no blocks does nothing. Throws `launch_failure`.
///
/// A GPU refuses a block whose threads need more registers than a multiprocessor has: one of 1,024 threads if a thread
/// of the body needs more than 64. A body with `static constexpr std::uint32_t largest_block` is compiled so that
/// blocks of up to that many threads fit, with fewer registers where it must. Larger blocks are then refused by any
/// backend.
template <class Body, class... Arguments>
void launch(grid_shape shape, Body body, Arguments... arguments) {
  static_assert((std::is_trivially_copyable_v<Body> && ... && std::is_trivially_copyable_v<Arguments>),
                "launch: the body and its arguments are copied to the device bit by bit");
  if (shape.blocks == 0) return;
  if constexpr (detail::says_largest_block<Body>) {
    static_assert(Body::largest_block >= 1 && Body::largest_block <= 1024, "launch: a block has 1 to 1,024 threads");
    if (shape.threads > Body::largest_block) {
      throw launch_failure("warpheap: this kernel is compiled for blocks of up to " +
                           std::to_string(Body::largest_block) + " threads, not " + std::to_string(shape.threads) +
                           ": start more and smaller blocks");
    }
  }
  target::launch(shape, body, arguments...);
}

/// As `launch`, and each block has a `Shared`, zeroed before the block starts: `body(shared, arguments...)`. The body
/// says no largest block.
template <class Shared, class Body, class... Arguments>
void launch_with_shared(grid_shape shape, Body body, Arguments... arguments) {
  static_assert(!detail::says_largest_block<Body>, "launch_with_shared: the body cannot say its largest block");
  static_assert(std::is_trivially_copyable_v<Shared>, "launch_with_shared: storage of a block starts as zero bytes");
  static_assert((std::is_trivially_copyable_v<Body> && ... && std::is_trivially_copyable_v<Arguments>),
                "launch_with_shared: the body and its arguments are copied to the device bit by bit");
  if (shape.blocks != 0) target::launch_with_shared<Shared>(shape, body, arguments...);
}

/// Waits for all launches. Throws `launch_failure` if one failed; on a GPU the context is then lost, as CUDA has it.
inline void synchronise() { target::synchronise(); }

}  // namespace warpheap
