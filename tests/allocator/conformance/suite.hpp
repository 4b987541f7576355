// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <allocator/conformance/alignment.hpp>
#include <allocator/conformance/call_stacks.hpp>
#include <allocator/conformance/calloc.hpp>
#include <allocator/conformance/churn.hpp>
#include <allocator/conformance/disjointness.hpp>
#include <allocator/conformance/divergence.hpp>
#include <allocator/conformance/edge_requests.hpp>
#include <allocator/conformance/exchange.hpp>
#include <allocator/conformance/exhaustion.hpp>
#include <allocator/conformance/growth.hpp>
#include <allocator/conformance/hand_over.hpp>
#include <allocator/conformance/host_copy.hpp>
#include <allocator/conformance/objects.hpp>
#include <allocator/conformance/oversubscription.hpp>
#include <allocator/conformance/realloc.hpp>
#include <allocator/conformance/relocation.hpp>
#include <allocator/conformance/reset.hpp>
#include <allocator/conformance/returns.hpp>
#include <allocator/conformance/several_heaps.hpp>
#include <allocator/conformance/small_heaps.hpp>
#include <allocator/conformance/statistics.hpp>
#include <allocator/conformance/trimming.hpp>
#include <allocator/conformance/typed_objects.hpp>
#include <allocator/conformance/warp_arenas.hpp>
#include <exception>
#include <vector>

namespace warpheap::test {

/// One promise of an allocator and the check that finds what breaks it.
struct behaviour {
  const char* name;
  void (*check)(findings&);
};

namespace detail {

// A check for designs whose blocks stay their owners' whatever is asked for later; others skip it.
template <class A, void (*Check)(findings&)>
void of_lasting_blocks(findings& found) {
  if constexpr (A::capabilities.reuses_live_memory) {
    found.skip("distinct live blocks once requests have gone around the heap (reuses_live_memory)");
  } else {
    Check(found);
  }
}

}  // namespace detail

/// All that a design must keep, whichever it is. What depends on a capability asks for it. A behaviour that fills a
/// heap, or takes more from it than it has, is one of lasting blocks.
template <class A>
const std::vector<behaviour>& conformance_suite() {
  static const std::vector<behaviour> all{
#define WARPHEAP_BEHAVIOUR(name) {#name, &name<A>}
#define WARPHEAP_LASTING_BEHAVIOUR(name) {#name, &detail::of_lasting_blocks<A, &name<A>>}
      WARPHEAP_BEHAVIOUR(blocks_are_aligned),
      WARPHEAP_BEHAVIOUR(aligned_blocks_are_aligned),
      WARPHEAP_BEHAVIOUR(impossible_alignments_give_null),
      WARPHEAP_BEHAVIOUR(small_blocks_are_disjoint),
      WARPHEAP_BEHAVIOUR(mixed_blocks_are_disjoint),
      WARPHEAP_BEHAVIOUR(nothing_is_a_size),
      WARPHEAP_BEHAVIOUR(impossible_sizes_give_null),
      WARPHEAP_BEHAVIOUR(large_blocks_are_served),
      WARPHEAP_LASTING_BEHAVIOUR(calloc_gives_zeros),
      WARPHEAP_BEHAVIOUR(realloc_keeps_contents),
      WARPHEAP_BEHAVIOUR(usable_size_is_usable),
      WARPHEAP_BEHAVIOUR(objects_begin_and_end),
      WARPHEAP_BEHAVIOUR(small_heaps_serve_what_fits),
      WARPHEAP_BEHAVIOUR(heaps_that_serve_nothing_are_refused),
      WARPHEAP_LASTING_BEHAVIOUR(full_heap_gives_null),
      WARPHEAP_LASTING_BEHAVIOUR(full_heap_serves_after_frees),
      WARPHEAP_LASTING_BEHAVIOUR(everything_comes_back),
      WARPHEAP_LASTING_BEHAVIOUR(failed_requests_cost_nothing),
      WARPHEAP_LASTING_BEHAVIOUR(other_lanes_may_free),
      WARPHEAP_LASTING_BEHAVIOUR(other_warps_may_free),
      WARPHEAP_LASTING_BEHAVIOUR(other_blocks_and_launches_may_free),
      WARPHEAP_LASTING_BEHAVIOUR(freed_blocks_are_there_at_once),
      WARPHEAP_LASTING_BEHAVIOUR(freed_memory_is_there_at_once),
      WARPHEAP_BEHAVIOUR(free_without_promise_does_nothing),
      WARPHEAP_BEHAVIOUR(any_lanes_may_call),
      WARPHEAP_BEHAVIOUR(lanes_may_loop_differently),
      WARPHEAP_BEHAVIOUR(lanes_may_branch_differently),
      WARPHEAP_LASTING_BEHAVIOUR(churn_with_room),
      WARPHEAP_LASTING_BEHAVIOUR(churn_when_full),
      WARPHEAP_LASTING_BEHAVIOUR(blocks_pass_between_threads),
      WARPHEAP_BEHAVIOUR(grids_may_exceed_the_machine),
      WARPHEAP_LASTING_BEHAVIOUR(kernels_may_have_frames),
      WARPHEAP_LASTING_BEHAVIOUR(calls_may_recurse),
      WARPHEAP_LASTING_BEHAVIOUR(reset_takes_back_everything),
      WARPHEAP_LASTING_BEHAVIOUR(growth_keeps_blocks_and_adds_room),
      WARPHEAP_BEHAVIOUR(plain_memory_cannot_grow),
      WARPHEAP_LASTING_BEHAVIOUR(relocation_keeps_blocks_and_adds_room),
      WARPHEAP_BEHAVIOUR(trimming_gives_back_what_no_block_is_in),
      WARPHEAP_BEHAVIOUR(operations_follow_each_other),
      WARPHEAP_BEHAVIOUR(plain_memory_stays),
      WARPHEAP_BEHAVIOUR(heaps_are_independent),
      WARPHEAP_BEHAVIOUR(heaps_can_move),
      WARPHEAP_BEHAVIOUR(host_can_copy_blocks),
      WARPHEAP_BEHAVIOUR(statistics_agree),
      WARPHEAP_BEHAVIOUR(warps_release_what_they_took),
      WARPHEAP_BEHAVIOUR(typed_objects_keep_their_fields),
#undef WARPHEAP_LASTING_BEHAVIOUR
#undef WARPHEAP_BEHAVIOUR
  };
  return all;
}

/// Runs one check. An exception, such as a launch that failed, is a finding like any other.
inline void run_check(const behaviour& which, findings& found) {
  try {
    which.check(found);
  } catch (const std::exception& error) {
    found.add(error.what());
  }
}

}  // namespace warpheap::test
