// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The mix of the paper's Algorithm 7, small pages queued one by one and larger ones by their chunk, and another size of
// chunks keep what the registered six keep.

#include <allocators/conformance/fixture.hpp>
#include <warpheap/allocators/ouroboros/ouroboros.hpp>

namespace {

using warpheap::basic_ouroboros;

struct mixed_items : basic_ouroboros<warpheap::pages_up_to<1024>, warpheap::virtual_array> {
  static constexpr const char* name = "ouroboros_va_mixed";
  using basic_ouroboros::basic_ouroboros;
};

struct small_chunks : basic_ouroboros<warpheap::pages_up_to<1024>, warpheap::virtual_list,
                                      warpheap::ouroboros_options{.chunk_bytes = 4096}> {
  static constexpr const char* name = "ouroboros_vl_mixed_4096";
  using basic_ouroboros::basic_ouroboros;
};

const bool registered =
    warpheap::test::register_conformance<mixed_items>() && warpheap::test::register_conformance<small_chunks>();

}  // namespace
