// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <warpheap/designs/dynasoar/detail/kernels.hpp>
#include <warpheap/designs/dynasoar/dynasoar.hpp>
#include <warpheap/platform.hpp>

namespace warpheap {

/// A heap of objects of the types `T...` in device memory, which it keeps as structures of arrays: blocks of up to 64
/// objects of one type, with an array for each field. Kernels make and destroy objects through `ref()`, and
/// `parallel_do` runs a function on all objects of a type. <warpheap/allocator/typed_objects.hpp> tells how a type is
/// declared; `dynasoar` tells the design.
///
/// All members are for the host. Heaps are independent of each other. One heap is not to be used by two host threads at
/// once. A heap is of the device that was current when it was made, and its members use that device.
template <class... T>
class soa_heap {
  using types = detail::soa_types<T...>;

 public:
  /// A heap whose blocks lie in `bytes` bytes, 2^25 blocks at most. Raises the limit for a thread's stack by what a
  /// call takes. Throws `launch_failure` (GPU) or a `std::system_error` (host) when the machine refuses the memory, and
  /// `std::invalid_argument` if `bytes` are fewer than `block_bytes()`.
  explicit soa_heap(std::uint64_t bytes)
      : blocks_(blocks_in(bytes)),
        data_(std::uint64_t{blocks_} * block_bytes()),
        metadata_(detail::dynasoar_layout::bytes(types::count, blocks_, true)),
        list_(blocks_),
        counts_(2) {
    reserve_call_stack(dynasoar::capabilities.stack_bytes);
    initialise();
  }

  /// Bytes of a block: those of 64 objects of the smallest type.
  static constexpr std::uint64_t block_bytes() { return types::block_bytes(); }
  /// Objects of `U` that a block has room for, at most 64.
  template <class U>
  static constexpr std::uint32_t objects_of_block() {
    return types::template capacity<U>();
  }
  /// Number of blocks.
  std::uint64_t blocks() const { return blocks_; }

  /// The handle for kernels.
  soa_ref<T...> ref() const {
    return {data_.data(), detail::dynasoar_blocks{metadata_.data(), types::count, blocks_, true}};
  }

  /// Runs `body(object, arguments...)` for each object of `U` and of types that derive from it, a `soa_object` of its
  /// own type, that lives when the launch begins. `body` is a function object that kernels can run.
  ///
  /// `body` may make objects, which are not visited, destroy the object that it was called with, and destroy objects
  /// that this call does not visit. Returns when the launches have been started, as `launch` does.
  template <class U, class Body, class... Arguments>
  void parallel_do(Body body, Arguments... arguments) {
    static_assert((soa_kind_of<T, U> || ...), "soa_heap: no registered type is of this kind");
    const scoped_device own{device_};
    (visit<U, T>(body, arguments...), ...);
  }

  /// Makes `count` objects of `U`, each with the fields `values...` as `soa_ref::make` takes them. Waits for the launch
  /// and returns how many were made: fewer if the heap has no room.
  template <class U, class... Values>
  std::uint64_t parallel_new(std::uint64_t count, Values... values) {
    return made(count, detail::soa_new_kernel<U>{}, values...);
  }
  /// Makes `count` objects of `U`, whose fields `body(object, i)` writes for the i-th of them, a `soa_object<U>`. Waits
  /// for the launch and returns how many were made: fewer if the heap has no room.
  template <class U, class Body>
    requires std::is_invocable_v<Body, soa_object<U>, std::uint64_t>
  std::uint64_t parallel_new(std::uint64_t count, Body body) {
    return made(count, detail::soa_new_with_kernel<U>{}, body);
  }

  /// Number of objects of `U` and of types that derive from it. Waits for all launches.
  template <class U>
  std::uint64_t count() const {
    const scoped_device own{device_};
    const device_array<std::uint64_t> sum{1};
    const auto add = [&]<class V>() {
      if constexpr (soa_kind_of<V, U>) {
        launch(walk(), detail::soa_count_kernel{}, ref(), types::template index<V>(), sum.data());
      }
    };
    (add.template operator()<T>(), ...);
    return sum.at(0);
  }

  /// Number of blocks that hold objects. Waits for all launches.
  std::uint64_t blocks_in_use() const {
    const scoped_device own{device_};
    const device_array<std::uint64_t> sum{1};
    launch(walk(), detail::soa_used_kernel{}, ref(), sum.data());
    return sum.at(0);
  }

  /// Ends all objects at once. Waits for the launches before; no kernel uses the heap meanwhile.
  void reset() {
    const scoped_device own{device_};
    synchronise();
    metadata_.clear();
    initialise();
  }

 private:
  static std::uint32_t blocks_in(std::uint64_t bytes) {
    if (bytes < block_bytes()) {
      throw std::invalid_argument("warpheap: a heap of " + std::to_string(bytes) + " bytes has no room for a block: " +
                                  "these types need " + std::to_string(block_bytes()) + " bytes at least");
    }
    return detail::dynasoar_layout::blocks_of(bytes, block_bytes());
  }
  // A grid that keeps every multiprocessor busy.
  static grid_shape walk() { return {describe_machine().multiprocessors * std::uint64_t{8}, 256}; }

  void initialise() {
    launch(walk(), detail::soa_initialise_kernel{}, ref());
    synchronise();
  }

  // Visits the objects of exactly `V`, if it is of the kind `U`. The snapshot uses one of two counts and prepares the
  // other one for the next snapshot.
  template <class U, class V, class Body, class... Arguments>
  void visit(Body body, Arguments... arguments) {
    if constexpr (soa_kind_of<V, U>) {
      turn_ = 1 - turn_;
      launch(walk(), detail::soa_snapshot_kernel{}, ref(), types::template index<V>(), list_.data(), counts_.data(),
             turn_);
      launch(walk(), detail::soa_visit_kernel<V>{}, ref(), list_.data(), counts_.data() + turn_, body, arguments...);
    }
  }

  template <class Kernel, class... Arguments>
  std::uint64_t made(std::uint64_t count, Kernel kernel, Arguments... arguments) {
    const scoped_device own{device_};
    const device_array<std::uint64_t> refused{1};
    launch(grid_shape::covering(count), kernel, ref(), count, refused.data(), arguments...);
    return count - refused.at(0);
  }

  device_context device_ = device_context::current();
  std::uint32_t blocks_;
  device_array<std::byte> data_;
  device_array<std::byte> metadata_;
  device_array<std::uint32_t> list_;    // blocks that a `parallel_do` visits
  device_array<std::uint32_t> counts_;  // how many, for this turn and the next
  std::uint32_t turn_ = 0;
};

}  // namespace warpheap
