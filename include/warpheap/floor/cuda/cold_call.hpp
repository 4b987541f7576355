// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nv/target>
#include <type_traits>
#include <warpheap/floor/annotation.hpp>

namespace warpheap::target {

template <class Body, class Result>
struct cold_frame {
  Body body;
  Result result;
  WARPHEAP_FN explicit cold_frame(const Body& of) : body(of) {}
  WARPHEAP_FN void run() { result = body(); }
};
template <class Body>
struct cold_frame<Body, void> {
  Body body;
  WARPHEAP_FN explicit cold_frame(const Body& of) : body(of) {}
  WARPHEAP_FN void run() { body(); }
};

template <class Frame>
WARPHEAP_COLD_FN void cold_entry(Frame* frame) {
  frame->run();
}

// Holds the frame, so that kernels need none: the address of theirs would be with them from their first instruction on.
template <class Body>
WARPHEAP_COLD_FN auto cold_gate(Body body) {
  using result = std::invoke_result_t<const Body&>;
  using frame = cold_frame<Body, result>;
  frame call{body};
  void (*entry)(frame*) = &cold_entry<frame>;
  // The compiler must not know which function it is.
  NV_IF_TARGET(NV_IS_DEVICE, (asm volatile("" : "+l"(entry));))
  entry(&call);
  if constexpr (!std::is_void_v<result>) return call.result;
}

template <class Body>
WARPHEAP_FN auto cold_call(const Body& body) {
  return cold_gate(body);
}

}  // namespace warpheap::target
