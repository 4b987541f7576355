// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Failure injection. The host backend refuses the n-th call that takes something of the device, as a machine does that
// has no more of it. The calls are those of the platform: reserving addresses, committing memory, allocating memory,
// and calls about streams and events.
//
// A test runs an operation once for each call that the operation makes, and looks at what the operation left:
//
//   for (std::uint64_t n = 0;; ++n) {
//     heap<A> tested{size};
//     const refused ended = with_failure_after(n, [&] { tested.grow(larger); });
//     if (ended == refused::never) break;  // the operation makes n calls: each of them has failed once
//     ...                                  // a call failed: what holds now?
//   }

#include <cstdint>
#include <exception>
#include <warpheap/platform.hpp>

namespace warpheap::host {

/// Calls that can fail: `device_calls::commit | device_calls::allocate` names both.
struct device_calls {
  std::uint32_t bits;  ///< of `target::device_call`

  static const device_calls reserve;   ///< reserving addresses; throws `std::system_error`
  static const device_calls commit;    ///< mapping memory to reserved addresses; throws `std::system_error`
  static const device_calls allocate;  ///< device, pinned and managed memory; throws `std::system_error`
  static const device_calls stream;    ///< recording, waiting and asking; throws `launch_failure`
  static const device_calls memory;    ///< the first three
  static const device_calls all;       ///< all of them

  friend constexpr device_calls operator|(device_calls a, device_calls b) { return {a.bits | b.bits}; }
};

inline constexpr device_calls device_calls::reserve{static_cast<std::uint32_t>(target::device_call::reserve)};
inline constexpr device_calls device_calls::commit{static_cast<std::uint32_t>(target::device_call::commit)};
inline constexpr device_calls device_calls::allocate{static_cast<std::uint32_t>(target::device_call::allocate)};
inline constexpr device_calls device_calls::stream{static_cast<std::uint32_t>(target::device_call::stream)};
inline constexpr device_calls device_calls::memory = reserve | commit | allocate;
inline constexpr device_calls device_calls::all = memory | stream;

/// Lets calls of the device fail, from its construction to its end. One at a time; the counter is shared by all
/// threads.
class fail_after {
 public:
  /// More failures than a test can make.
  static constexpr std::uint64_t all_later = ~std::uint64_t{0};

  /// The first `calls` calls of these kinds succeed, the next `failures` fail, and later ones succeed again.
  explicit fail_after(std::uint64_t calls, device_calls kinds = device_calls::memory, std::uint64_t failures = 1) {
    target::failure_plan& plan = target::planned_failure();
    require(plan.kinds.load() == 0, "fail_after: another one is still in force");
    plan.calls.store(0);
    plan.first.store(calls);
    plan.failures.store(failures);
    plan.kinds.store(kinds.bits);
  }
  ~fail_after() { target::planned_failure().kinds.store(0); }
  fail_after(const fail_after&) = delete;
  fail_after& operator=(const fail_after&) = delete;

  /// Calls of these kinds so far, the failed ones included.
  std::uint64_t calls() const { return target::planned_failure().calls.load(); }
  /// True if a call has failed.
  bool has_failed() const { return calls() > target::planned_failure().first.load(); }
};

/// What came of an operation under `with_failure_after`.
enum class refused {
  never,   ///< the operation made fewer calls, so none failed, and it did not throw
  caught,  ///< a call failed, and the operation did not throw
  thrown,  ///< a call failed, and the operation threw
};

/// Runs `operation` with the failures that `fail_after` describes, and returns how it ended. An exception without a
/// failed call before is no injected one and goes on to the caller.
template <class Operation>
refused with_failure_after(std::uint64_t calls, Operation operation, device_calls kinds = device_calls::memory,
                           std::uint64_t failures = 1) {
  const fail_after plan(calls, kinds, failures);
  try {
    operation();
  } catch (const std::exception&) {
    if (!plan.has_failed()) throw;
    return refused::thrown;
  }
  return plan.has_failed() ? refused::caught : refused::never;
}

}  // namespace warpheap::host
