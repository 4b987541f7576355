// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Steps of the parts of `warp_slab`, for tests that put a heap into states which malloc and free seldom reach.

#include <cstdint>
#include <exploration/host/private_member.hpp>
#include <warpheap/designs/warp_slab/warp_slab.hpp>

namespace warpheap::test::slab_parts {

WARPHEAP_TEST_PRIVATE(top, warp_slab::extension)
WARPHEAP_TEST_PRIVATE(extension_add_or_search, detail::slab_extension::add_or_search)
WARPHEAP_TEST_PRIVATE(walk_look_through, detail::slab_walk::look_through)
WARPHEAP_TEST_PRIVATE(reclamation_take_words, detail::slab_reclamation::take_words)
WARPHEAP_TEST_PRIVATE(reclamation_reclaim_slab, detail::slab_reclamation::reclaim_slab)
WARPHEAP_TEST_PRIVATE(claims_claim, detail::slab_claims::claim)
WARPHEAP_TEST_PRIVATE(claims_without_stale, detail::slab_claims::without_stale)
WARPHEAP_TEST_PRIVATE(hints_show, detail::slab_hints::show)

// As the lock's holder does: no ticket of the class counts meanwhile.
inline void close_ledger(const warp_slab& self, lane_mask group, std::uint32_t c) {
  top(self).reclamation().compaction().close_ledger(group, c);
}
inline const detail::slab_ledger& ledger_of(const warp_slab& self) { return top(self).maker().ledger(); }
inline std::uint32_t places_of(const warp_slab& self, std::uint32_t c) {
  return atomic_view{top(self).store().of_class(c).places}.load(memory_order::acquire, thread_scope::device);
}
inline std::uint32_t entry_of(const warp_slab& self, std::uint32_t c, std::uint32_t place) {
  return top(self).store().table(c, place).load(memory_order::relaxed, thread_scope::device);
}
// A block for the caller alone, or null if there is no slab for its ticket.
inline void* take_by_ticket(const warp_slab& self, std::uint32_t c) {
  bool there = false;
  return top(self).growth().tickets().take(lane_bit(), c, true, nullptr, there);
}
// As `take_by_ticket`, on the way of a warp without a cache entry, in the launch in which the class begins.
inline void* take_for_one_class(const warp_slab& self, std::uint32_t c) {
  return top(self).growth().tickets().take_for_one_class(lane_bit(), lane_bit(), c, nullptr);
}
inline bool add_slabs(const warp_slab& self, lane_mask group, std::uint32_t c, std::uint32_t slabs) {
  close_ledger(self, group, c);
  const bool added = top(self).maker().add_slabs(group, c, slabs);
  sync(group);
  if (is_leader(group)) top(self).maker().ledger().open(c);
  return added;
}
// For a request that began just now, so that no sweep before it counts.
inline auto add_or_search(const warp_slab& self, lane_mask group, lane_mask wanting, std::uint32_t c,
                          std::uint32_t slabs, void*& found) {
  const std::uint64_t earlier =
      atomic_view{top(self).store().control().attempts}.load(memory_order::relaxed, thread_scope::device);
  return extension_add_or_search(top(self), group, wanting, c, slabs, earlier, found);
}
inline slab_claim claim(const warp_slab& self, std::uint32_t c, std::uint32_t at, std::uint32_t chosen,
                        std::uint32_t& left) {
  return claims_claim(top(self).claims(), c, at, chosen, left);
}
inline slab_claim claim_drawn(const warp_slab& self, std::uint32_t c, slab_look look, std::uint32_t wanted) {
  return top(self).claims().claim_drawn(c, look, wanted);
}
inline slab_claim without_stale(const warp_slab& self, slab_claim got) {
  return claims_without_stale(top(self).claims(), got);
}
inline bit_tree free_units(const warp_slab& self) { return top(self).store().free_units(); }
inline void put_back(const warp_slab& self, slab_claim blocks) { top(self).hints().put_back(blocks); }
inline void show(const warp_slab& self, std::uint32_t at, std::uint32_t c) { hints_show(top(self).hints(), at, c); }
inline void hide(const warp_slab& self, std::uint32_t c, std::uint32_t place, std::uint32_t unit) {
  top(self).hints().hide(c, place, unit);
}
inline slab_look look_through(const warp_slab& self, std::uint32_t c, std::uint32_t place, std::uint32_t& unit) {
  return walk_look_through(top(self).search().walk(), c, place, unit);
}
inline void* search(const warp_slab& self, lane_mask group, lane_mask wanting, std::uint32_t c) {
  return top(self).search().find(group, wanting, c);
}
inline bool take_words(const warp_slab& self, std::uint32_t c, std::uint32_t unit) {
  return reclamation_take_words(top(self).reclamation(), c, unit);
}
inline bool reclaim_slab(const warp_slab& self, std::uint32_t c, std::uint32_t place) {
  return reclamation_reclaim_slab(top(self).reclamation(), c, place);
}
// As the lock's holder does; false if no class has a fully free slab.
inline bool reclaim(const warp_slab& self, lane_mask group, std::uint32_t units) {
  return top(self).reclamation().reclaim(group, units);
}
inline bool has_work(const warp_slab& self) { return top(self).reclamation().has_work(lane_bit()); }
// As a group does that waits for the lock.
inline void help(const warp_slab& self) { top(self).reclamation().help(lane_bit()); }
inline std::uint32_t slab_units_of(const warp_slab& self) {
  return atomic_view{top(self).store().control().slab_units}.load(memory_order::relaxed, thread_scope::device);
}
inline std::uint32_t words_of(const warp_slab& self, std::uint32_t c) { return top(self).store().words_of(c); }
inline std::uint64_t& word_of(const warp_slab& self, std::uint32_t word) { return top(self).store().word_of(word); }

}  // namespace warpheap::test::slab_parts
