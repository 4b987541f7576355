// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nv/target>
#include <warpheap/platform/annotation.hpp>
#include <warpheap/platform/standard.hpp>

namespace warpheap::target {

// The call is direct, so ptxas and nvlink count its stack. The function takes its own address, since a function whose
// address is taken must keep the calling convention of the ABI: ptxas then gives it, and all that it calls, registers
// of their own. (Otherwise ptxas 13.0 lays the frames of the whole chain into registers side by side: malloc of
// warp_slab takes 126 of them instead of 32. With a call through a pointer nobody counts the stack.) A function that is
// compiled apart from its kernel keeps the convention anyhow, and its address would count as a call of all functions of
// this type. LTO-IR is compiled apart and then together with its kernel: what becomes LTO-IR defines
// WARPHEAP_OPTIMISED_AT_LINK.
template <class Body>
WARPHEAP_COLD_FN std::invoke_result_t<const Body&> cold_entry(const Body* body) {
#if !defined(__CUDACC_RDC__) || defined(WARPHEAP_OPTIMISED_AT_LINK)
  [[maybe_unused]] const auto self = &cold_entry<Body>;
  NV_IF_TARGET(NV_IS_DEVICE, (asm volatile("" : : "l"(self));))
#endif
  return (*body)();
}

// Holds the body, so that kernels need no frame for it: its address would be with them from their first instruction on.
template <class Body>
WARPHEAP_COLD_FN auto cold_gate(Body body) {
  return cold_entry(&body);
}

template <class Body>
WARPHEAP_FN auto cold_call(const Body& body) {
  return cold_gate(body);
}

}  // namespace warpheap::target
