// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>
#include <warpheap/heap.hpp>

#include "../json.hpp"
#include "../measure/oracle.hpp"
#include "../measure/payload.hpp"
#include "../measure/requests.hpp"
#include "../measure/samples.hpp"
#include "../options.hpp"

namespace warpheap::bench {

/// Every thread that has a request to make makes it.
template <device_allocator A>
struct malloc_kernel {
  WARPHEAP_FN void operator()(heap_ref<A> heap, requests asked, void** blocks) const {
    const std::uint64_t index = asked.mine();
    if (index != requests::none) blocks[index] = heap.malloc(asked.bytes(index));
  }
};

/// Every thread that made a request gives its block back.
template <device_allocator A>
struct free_kernel {
  WARPHEAP_FN void operator()(heap_ref<A> heap, requests asked, void* const* blocks) const {
    const std::uint64_t index = asked.mine();
    if (index != requests::none) heap.free(blocks[index]);
  }
};

/// How long a kernel takes in which every thread asks for a block, and one in which every thread gives its block back.
///
/// The heap is made once and stays warm. Each round is a malloc kernel and a free kernel, or a reset where the design
/// has no individual free. Times are those of the whole kernel, its start included. A round is judged before its blocks
/// are freed, outside the times: see `verify_policy`. A case that is not flawless has no times.
struct throughput {
  static constexpr const char* name = "throughput";
  static constexpr const char* summary = "a kernel of mallocs, then a kernel of frees; thread, warp or mixed";

  /// Measures; adds to `record`. Returns why the case is not ok, or nothing if it is.
  template <device_allocator A>
  static std::string run(const run_options& options, json_object& record);

 private:
  template <device_allocator A>
  class course;
};

}  // namespace warpheap::bench

#include "throughput_course.hpp"
