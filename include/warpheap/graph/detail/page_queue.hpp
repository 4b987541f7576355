// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <warpheap/structures.hpp>

namespace warpheap::detail {

// What a `page_queue_heap` keeps. Zero bytes are a heap of which no page was handed out.
struct page_queue_state {
  index_ring::state freed;
  // Pages from here on were never handed out. It may stand above the number of pages: requests that found none added
  // to it. 64 bits, so it never wraps.
  alignas(128) std::uint64_t begun;
};

}  // namespace warpheap::detail
