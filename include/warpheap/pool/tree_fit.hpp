// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/pool/detail/segment_book.hpp>
#include <warpheap/pool/detail/tree_index.hpp>
#include <warpheap/pool/engine.hpp>

namespace warpheap {

/// The engine of the paper: best fit by two balanced trees (Aknesil and Unat, "MAM: a memory allocation manager for
/// GPUs", 2017). One holds all segments by address, the other the free ones by size; both are red-black.
///
/// A request takes the smallest free segment that can hold it, of several the one at the lowest address. Each operation
/// takes O(log n) steps for n segments, except that a request with an alignment above the granule looks at each free
/// segment that is large enough by its size and not by its place. 48 bytes of host memory a segment.
class tree_fit : public pool_detail::segment_book<pool_detail::tree_index> {
  using segment_book::segment_book;
};
static_assert(segment_engine<tree_fit>);

}  // namespace warpheap
