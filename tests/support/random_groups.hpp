// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <support/random.hpp>
#include <warpheap/platform.hpp>
#include <warpheap/sync.hpp>

namespace warpheap::test {

/// Groups of lanes for a test of a call that a group makes: its promises hold for one lane and for several.
struct random_groups {
  lane_mask together;  ///< the lanes that came with the caller
  lane_mask mine;      ///< those of them that the caller is to call with

  /// Of the lanes that come together each is alone with a chance of one in `chance`; the others of one `kind`, which is
  /// not `~0`, are a group. Collective over the lanes that come together.
  WARPHEAP_FN static random_groups draw(random_stream& random, std::uint64_t chance, std::uint64_t kind = 0,
                                        call_site site = call_site::current()) {
    const bool is_alone = random.below(chance) == 0;
    const lane_mask together = active_group(site);
    const lane_mask alike = match(together, is_alone ? ~std::uint64_t{0} : kind, site);
    return {together, is_alone ? lane_bit() : alike};
  }

  /// As `one_group_at_a_time`.
  template <class Work>
  WARPHEAP_FN void in_turns(Work work) const {
    one_group_at_a_time(together, mine, work);
  }
};

}  // namespace warpheap::test
