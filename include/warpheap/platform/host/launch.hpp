// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tuple>
#include <warpheap/platform/executor.hpp>
#include <warpheap/platform/launch.hpp>

namespace warpheap::target {

// What each lane of a launch calls; lanes copy it, as threads of a GPU have their own copy of kernel arguments.
template <class Body, class... Arguments>
struct closure {
  Body body;
  std::tuple<Arguments...> arguments;

  static void run(void* context, void*) {
    auto own = *static_cast<const closure*>(context);
    std::apply(own.body, own.arguments);
  }
  template <class Shared>
  static void run_with(void* context, void* shared) {
    auto own = *static_cast<const closure*>(context);
    std::apply([&](auto&... each) { own.body(*static_cast<Shared*>(shared), each...); }, own.arguments);
  }
};

template <class Body, class... Arguments>
void launch(grid_shape shape, Body body, Arguments... arguments) {
  using work = closure<Body, Arguments...>;
  work context{body, {arguments...}};
  executor::run(shape.blocks, shape.threads, 0, &work::run, &context);
}

template <class Shared, class Body, class... Arguments>
void launch_with_shared(grid_shape shape, Body body, Arguments... arguments) {
  using work = closure<Body, Arguments...>;
  work context{body, {arguments...}};
  executor::run(shape.blocks, shape.threads, sizeof(Shared), &work::template run_with<Shared>, &context);
}

// A launch on the host has ended, well or not, when it returns.
inline void synchronise() {}

}  // namespace warpheap::target
