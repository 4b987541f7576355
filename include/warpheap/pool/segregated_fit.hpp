// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/pool/detail/segment_book.hpp>
#include <warpheap/pool/detail/segregated_index.hpp>
#include <warpheap/pool/engine.hpp>

namespace warpheap {

/// The engine of constant time: two-level segregated fit (Masmano, Ripoll, Crespo and Real, "TLSF: a new dynamic memory
/// allocator for real-time systems", 2004), with its book beside the memory and not in it.
///
/// Free segments lie in lists by size: each power of two of granules is cut into 32 of equal width, so that two
/// segments of a list differ by less than a 32nd. A request looks at the first four of the list of its own size, and
/// else takes the first of the first list all of whose segments hold it. Where best fit takes the smallest segment that
/// holds the request, this promises good fit: if `s` is any free segment that exceeds the request by a 32nd or more,
/// the one that is taken is smaller than `s` and a 32nd. (The bytes that an alignment above the granule may skip count
/// as requested.) Where no list is certain to do, all segments that might are looked at before the request fails; that
/// is the only step whose time grows with the number of segments.
///
/// A live segment is found by its begin in a hash table. At most 64 bytes of host memory a segment, beside 10 KiB for
/// the lists: 32 for the record, and up to 16 for the cells of the table, which doubles in one step when half of them
/// would be used. What the book has taken it keeps until it is destroyed.
class segregated_fit : public pool_detail::segment_book<pool_detail::segregated_index> {
  using segment_book::segment_book;
};
static_assert(segment_engine<segregated_fit>);

}  // namespace warpheap
