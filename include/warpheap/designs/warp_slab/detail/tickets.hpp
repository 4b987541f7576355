// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/warp_slab/detail/forecast.hpp>
#include <warpheap/designs/warp_slab/detail/maker.hpp>
#include <warpheap/designs/warp_slab/size_classes.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/structures.hpp>

namespace warpheap::detail {

/// Blocks by tickets of a class's ledger: growth for all requests at once. One lane makes each slab, side by side with
/// the makers of others, without a lock.
///
/// A group that asks for several sizes draws some more blocks than it wants, while a class is small. Nobody claims
/// these, so probes find them: requests for one size vary from launch to launch by the square root of their number, and
/// the last free blocks of a class are found slowly.
///
/// Invariant: a lane that drew the first ticket of a place settles the place before any lane of its group waits for
/// a place. So no wait for a slab is for a lane that a barrier holds up.
///
/// Collective. A ticket's holder waits for the lane that makes its slab, which waits for no other thread.
class slab_tickets {
 public:
  using classes = slab_classes;

  WARPHEAP_FN explicit slab_tickets(const arena& from) : maker_(from) {}
  WARPHEAP_FN const slab_maker& maker() const { return maker_; }
  WARPHEAP_FN const slab_runs& runs() const { return maker_.runs(); }
  WARPHEAP_FN const slab_reclamation& reclamation() const { return maker_.reclamation(); }
  WARPHEAP_FN const slab_ledger& ledger() const { return maker_.ledger(); }
  WARPHEAP_FN const slab_sharing& sharing() const { return maker_.sharing(); }
  WARPHEAP_FN const slab_probes& probes() const { return maker_.probes(); }
  WARPHEAP_FN const slab_claims& claims() const { return maker_.claims(); }
  WARPHEAP_FN const slab_hints& hints() const { return maker_.hints(); }
  WARPHEAP_FN const slab_store& store() const { return maker_.store(); }

  /// Draws tickets for the lanes of `group` that ask, for blocks of class `c` of each: `found`, or a block, or null.
  /// `there` tells lanes that ask whether the first slab of their leader's draw was found. If not, and the lane got no
  /// block, the class is to be extended in another way. Collective.
  WARPHEAP_COLD_FN void* take(lane_mask group, std::uint32_t c, bool asks, void* found, bool& there) const {
    const lane_mask of_class = match(group, asks ? c : classes::count);
    const lane_mask peers = asks_for_many(group, of_class, c, asks) ? of_one_slab(group, of_class, c) : of_class;
    const bool leads = asks && is_leader(peers);
    slab_ticket mine{};
    if (leads) mine = draw(c, static_cast<std::uint32_t>(group_size(peers)), of_class != group);
    make_slabs(group, c, mine);
    sync(group);  // other warps wait for these slabs, so none of the group waits before they are settled
    slab_claim first;
    slab_claim second;
    if (mine.wanted != 0) claim_alone(c, mine, first, second);
    const lane_mask reconverged = reconverge(group);  // what the leaders acquired is acquired for all
    void* const block = deal(reconverged, peers, c, first, second);
    if (!asks) return found;
    there = first.word != slab_claim::nowhere;
    return block;
  }
  /// As `take`, for the lanes `wanting` of `group`, which all want class `c`, of whole words: a block or null for
  /// these, and `found` for all others. One lane draws for all, and no more than they want. That lane makes a slab, and
  /// waits for one, by itself: the shorter this way is, the sooner a class has its first slabs. Collective.
  WARPHEAP_COLD_FN void* take_for_one_class(lane_mask group, lane_mask wanting, std::uint32_t c, void* found) const {
    slab_claim first;
    slab_claim second;
    if (lane_bit() == lowest_alone(wanting)) {
      const slab_ticket mine = draw_first(c, static_cast<std::uint32_t>(group_size(wanting)));
      if (mine.wanted != 0) claim(c, mine, 32, first, second);
    }
    const lane_mask reconverged = reconverge(group);  // what the leader acquired is acquired for all
    void* const block = deal(reconverged, wanting, c, first, second);
    return (wanting & lane_bit()) != 0 ? block : found;  // a lane that wants another class may have none yet
  }

  /// Draws tickets for the blocks of `slabs` slabs, as the leader says, and makes these slabs as far as units are
  /// found. No thread waits for them, and probes find their blocks. All lanes of `group` help. False, and nothing is
  /// made, if the class has no tickets or its ledger is closed. Collective.
  WARPHEAP_COLD_FN bool make_ahead(lane_mask group, std::uint32_t c, std::uint32_t slabs) const {
    slab_ticket mine{};
    if (is_leader(group) && ledger().serves(c) && !ledger().look(c).is_closed()) {
      mine.all = slabs * store().blocks_of(c);
      mine.drawn = ledger().draw(c, mine.all);
      mine.wanted = mine.drawn.is_closed() ? 0 : 1;
    }
    make_slabs(group, c, mine);
    sync(group);  // the leader releases with its generation what all lanes did
    return any(group, mine.wanted != 0);
  }

 private:
  // Tickets of a lane for its peers: the `wanted` first of the `all` that were drawn of the ledger `drawn`. In memory,
  // so that it needs no registers.
  struct slab_ticket {
    slab_ledger_word drawn;
    std::uint32_t wanted;
    std::uint32_t all;
  };

  // True if the lanes of `group` together ask for more blocks of some class than a slab of it has. Collective.
  WARPHEAP_FN bool asks_for_many(lane_mask group, lane_mask of_class, std::uint32_t c, bool asks) const {
    return any(group, asks && static_cast<std::uint32_t>(group_size(of_class)) > store().blocks_of(c));
  }
  // The caller's part of the lanes `of_class`, which want class `c`: parts of as many lanes as a slab has blocks. So
  // the blocks that the leader of a part draws lie in two words at most. Collective over `group`.
  WARPHEAP_COLD_FN lane_mask of_one_slab(lane_mask group, lane_mask of_class, std::uint32_t c) const {
    return match(group, static_cast<std::uint32_t>(group_rank(of_class)) / store().blocks_of(c)) & of_class;
  }
  // Tickets for `wanted` blocks of class `c`, at most 32 and at most a slab's, or none; `mixed`: lanes that called
  // with the caller want other sizes, or have their blocks. One lane.
  WARPHEAP_COLD_FN slab_ticket draw(std::uint32_t c, std::uint32_t wanted, bool mixed) const {
    constexpr std::uint32_t few = 8;  // slabs: `slabs_ahead` adds none to fewer
    const slab_ledger_word seen = ledger().look(c);
    if (seen.is_closed() || !ledger().serves(c)) return {};
    std::uint32_t all = wanted;
    if (mixed && seen.blocks() < few * store().blocks_of(c)) all += blocks_in_store(seen.blocks(), wanted);
    if (all > 32) all = 32;
    const bool again =
        slab_contention{store().contention().load(memory_order::relaxed, thread_scope::device)}.looked_again();
    all += ledger().slabs_ahead(c, again) * store().blocks_of(c);
    const slab_ledger_word drawn = ledger().draw(c, all);
    if (drawn.is_closed()) return {};
    return {drawn, wanted, all};
  }
  // How many blocks are drawn beside `wanted` ones of a class of `blocks` blocks, at random so that the mean is right:
  // of all together about six times their square root, and a 32nd at least. A launch differs from the one before by the
  // square root of twice the number, and hardly ever by four times that. One lane.
  WARPHEAP_COLD_FN static std::uint32_t blocks_in_store(std::uint64_t blocks, std::uint32_t wanted) {
    // Each of n blocks adds 3 / sqrt(n), within a factor of the square root of 2, and a quarter at most; in units of
    // 2^-16.
    const int root = blocks == 0 ? 0 : (highest_bit(blocks) + 1) / 2;
    const std::uint32_t each = root < 4 ? 1u << 14 : root > 6 ? 1u << 11 : 3u << (16 - root);
    return (wanted * each + (spread(grid_warp_index() + static_cast<std::uint32_t>(blocks)) >> 16)) >> 16;
  }
  // Tickets for `wanted` blocks of class `c`, at most 32 and at most a slab's, or none; makes the slab whose first
  // block is among them. One lane.
  WARPHEAP_COLD_FN slab_ticket draw_first(std::uint32_t c, std::uint32_t wanted) const {
    const std::uint32_t blocks = store().blocks_of(c);
    if (!ledger().serves(c)) return {};
    const slab_ledger_word drawn = ledger().draw(c, wanted);
    if (drawn.is_closed()) return {};
    const std::uint32_t place = ledger().place_of(c, drawn.blocks() + blocks - 1);
    if (ledger().place_of(c, drawn.blocks() + blocks - 1 + wanted) != place) {
      stop_point("warp_slab.draw_first.drawn");
      make_slab(c, place);
    }
    return {drawn, wanted, wanted};
  }
  // Makes the slabs whose first blocks are among those that lanes of `group` drew. A lane that drew one makes it by
  // itself; all lanes help where a lane drew several. Collective.
  WARPHEAP_COLD_FN void make_slabs(lane_mask group, std::uint32_t c, const slab_ticket& mine) const {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
    if (mine.wanted != 0) {
      const std::uint64_t round_up = mine.drawn.blocks() + ledger().first_of(c, 1) - 1;
      first = ledger().place_of(c, round_up);
      count = ledger().place_of(c, round_up + mine.all) - first;
    }
    if (count != 0) stop_point("warp_slab.make_slabs.drawn");
    if (count == 1) make_slab(c, first);
    const auto lanes = static_cast<std::uint32_t>(group_size(group));
    for (lane_mask left = ballot(group, count > 1); left != 0; left &= left - 1) {  // not a spin: a turn a lane
      const int whose = leader(left);
      const std::uint32_t of_class = shuffle(group, c, whose);
      const std::uint32_t begin = shuffle(group, first, whose);
      const std::uint32_t end = begin + shuffle(group, count, whose);
      for (std::uint32_t place = begin + static_cast<std::uint32_t>(group_rank(group)); place < end; place += lanes) {
        make_slab(of_class, place);
      }
      sync(group);
    }
  }
  // Makes the slab at `place`, which the caller or a lane of its group drew, and settles the place. One lane.
  WARPHEAP_COLD_FN void make_slab(std::uint32_t c, std::uint32_t place) const {
    if (place == 0) ledger().note_begin(c);
    ledger().settle(c, maker().make_slab_at(c, place));
  }
  // As `claim`, also for slabs of less than a word, with registers of its own. One lane.
  WARPHEAP_COLD_FN void claim_alone(std::uint32_t c, const slab_ticket& mine, slab_claim& first,
                                    slab_claim& second) const {
    claim(c, mine, store().blocks_of(c) < 32 ? store().blocks_of(c) : 32, first, second);
  }
  // Claims what was drawn: of one word, of which the class uses `bits` bits, and of the next one if it goes on there.
  // One lane.
  WARPHEAP_FN void claim(std::uint32_t c, const slab_ticket& mine, std::uint32_t bits, slab_claim& first,
                         slab_claim& second) const {
    const std::uint64_t from = mine.drawn.blocks();
    const std::uint32_t room = bits - static_cast<std::uint32_t>(from % bits);
    const std::uint32_t here = mine.wanted < room ? mine.wanted : room;
    first = claim_of(c, mine.drawn, from, here);
    if (here != mine.wanted) second = claim_next(c, mine.drawn, from + here, mine.wanted - here);
  }
  // As `claim_of`, with registers of its own: most draws are of one word. One lane.
  WARPHEAP_COLD_FN slab_claim claim_next(std::uint32_t c, slab_ledger_word drawn, std::uint64_t from,
                                         std::uint32_t count) const {
    return claim_of(c, drawn, from, count);
  }
  // Claims the blocks of `count` tickets from number `from` on, which lie in one word, or other blocks of that word in
  // their place. Waits for the slab; an empty claim if it is not made. One lane.
  WARPHEAP_COLD_FN slab_claim claim_of(std::uint32_t c, slab_ledger_word drawn, std::uint64_t from,
                                       std::uint32_t count) const {
    const std::uint32_t place = ledger().place_of(c, from);
    const std::uint32_t entry = ledger().entry_of(c, place, drawn);
    if (entry == 0) return {};
    const auto in_slab = static_cast<std::uint32_t>(from - ledger().first_of(c, place));
    const std::uint32_t free_bits = low_bits(static_cast<int>(count)) << in_slab % 32;
    return claims().claim_drawn(c, {word_number::make(entry - 1, in_slab / 32), free_bits}, count);
  }

  // The caller's block, by its rank among `peers`, of the claims `first` and `second` of their leader, or null. `first`
  // becomes that of the leader. Collective.
  WARPHEAP_FN void* deal(lane_mask reconverged, lane_mask peers, std::uint32_t c, slab_claim& first,
                         slab_claim second) const {
    first = {shuffle(reconverged, first.word, leader(peers)), shuffle(reconverged, first.blocks, leader(peers))};
    second = {shuffle(reconverged, second.word, leader(peers)), shuffle(reconverged, second.blocks, leader(peers))};
    const int rank = group_rank(peers);
    const int later = rank - popcount(first.blocks);
    const slab_claim mine = later < 0 ? first : second;
    const int nth = later < 0 ? rank : later;
    return nth < popcount(mine.blocks) ? claims().block_of(classes::bytes(c), mine, nth) : nullptr;
  }

  slab_maker maker_;
};

}  // namespace warpheap::detail
