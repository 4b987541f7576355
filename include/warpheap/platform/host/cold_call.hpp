// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/annotation.hpp>

namespace warpheap::target {

template <class Body>
auto cold_call(const Body& body) {
  return body();
}

}  // namespace warpheap::target
