// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#include "holdings.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "payload.hpp"

namespace warpheap::bench {
namespace {

// Some requests of a round, and what kernels know of their blocks. Few threads walk over many blocks, so that each adds
// to the sums once.
struct walk {
  placement where;
  std::uint64_t first;  // the first request; each `step`th after it is next
  std::uint64_t step;
  std::uint64_t count;
  block_ledger ledger;

  grid_shape grid() const { return grid_shape::covering(std::min(count, std::uint64_t{1} << 17)); }

  // Calls `visit(place, block)` for the caller's part of the blocks that are not null.
  template <class Visitor>
  WARPHEAP_FN void each_block(Visitor visit) const {
    for (std::uint64_t i = grid_thread_index(); i < count; i += grid_threads()) {
      const std::uint64_t place = where.place(first + step * i);
      if (ledger.blocks[place] != nullptr) visit(place, ledger.blocks[place]);
    }
  }
  WARPHEAP_FN std::uint64_t bytes(std::uint64_t place) const { return ledger.asked.bytes(ledger.requests[place]); }

  // Sums are added, not ordered: the host reads them after the launch.
  WARPHEAP_FN static void add(std::uint64_t& to, std::uint64_t value) {
    if (value != 0) atomic_view{to}.fetch_add(value, memory_order::relaxed, thread_scope::device);
  }
  WARPHEAP_FN static void raise(std::uint64_t& to, std::uint64_t value) {
    if (value != 0) atomic_view{to}.fetch_max(value, memory_order::relaxed, thread_scope::device);
  }
  WARPHEAP_FN void report(const block_sums& own) const {
    add(ledger.found->blocks, own.blocks);
    add(ledger.found->bytes, own.bytes);
    add(ledger.found->wrong, own.wrong);
    raise(ledger.found->inverted_place, own.inverted_place);
    raise(ledger.found->inverted_lowest, own.inverted_lowest);
    raise(ledger.found->highest, own.highest);
  }
  WARPHEAP_FN static void accuse(block_sums& own, std::uint64_t place) {
    ++own.wrong;
    if (own.inverted_place < ~place) own.inverted_place = ~place;
  }
};

struct take_blocks {
  WARPHEAP_FN void operator()(walk over, std::uint64_t first_request, std::uint64_t alignment) const {
    for (std::uint64_t i = grid_thread_index(); i < over.count; i += grid_threads()) {
      over.ledger.requests[over.where.place(i)] = first_request + i;
    }
    block_sums own{};
    over.each_block([&](std::uint64_t place, void* block) {
      const auto address = reinterpret_cast<std::uint64_t>(block);
      const std::uint64_t bytes = over.bytes(place);
      ++own.blocks;
      own.bytes += bytes;
      if (address % alignment != 0) walk::accuse(own, place);
      if (own.inverted_lowest < ~address) own.inverted_lowest = ~address;
      if (own.highest < address + bytes) own.highest = address + bytes;
    });
    over.report(own);
  }
};

struct fill_blocks {
  WARPHEAP_FN void operator()(walk over) const {
    over.each_block([&](std::uint64_t place, void* block) {
      const std::uint64_t bytes = over.bytes(place);
      auto* const words = static_cast<std::uint32_t*>(block);
      auto* const tail = static_cast<unsigned char*>(block);
      for (std::uint64_t i = 0; i < bytes / 4; ++i) words[i] = fill_payload::word(over.ledger.requests[place], i);
      for (std::uint64_t i = bytes / 4 * 4; i < bytes; ++i) tail[i] = last_byte(over.ledger.requests[place], i);
    });
  }

  // Byte `i` of a block, where no whole word is left.
  WARPHEAP_FN static unsigned char last_byte(std::uint64_t request, std::uint64_t i) {
    return static_cast<unsigned char>(fill_payload::word(request, i / 4) >> (8 * (i % 4)));
  }
};

// True if the block of that place holds what `fill_blocks` wrote.
WARPHEAP_FN bool is_intact(const walk& over, std::uint64_t place, const void* block) {
  const std::uint64_t bytes = over.bytes(place);
  const auto* const words = static_cast<const std::uint32_t*>(block);
  const auto* const tail = static_cast<const unsigned char*>(block);
  bool whole = true;
  for (std::uint64_t i = 0; i < bytes / 4; ++i) {
    whole = whole && words[i] == fill_payload::word(over.ledger.requests[place], i);
  }
  for (std::uint64_t i = bytes / 4 * 4; i < bytes; ++i) {
    whole = whole && tail[i] == fill_blocks::last_byte(over.ledger.requests[place], i);
  }
  return whole;
}

struct check_blocks {
  WARPHEAP_FN void operator()(walk over) const {
    block_sums own{};
    over.each_block([&](std::uint64_t place, void* block) {
      ++own.blocks;
      own.bytes += over.bytes(place);
      if (!is_intact(over, place, block)) walk::accuse(own, place);
    });
    over.report(own);
  }
};

struct remove_blocks {
  WARPHEAP_FN void operator()(walk over, std::uint64_t spare, std::uint64_t salt, void** removed) const {
    block_sums own{};
    over.each_block([&](std::uint64_t place, void* block) {
      if (spare != 0 && mix(salt ^ place) % spare == 0) return;
      ++own.blocks;
      own.bytes += over.bytes(place);
      if (!is_intact(over, place, block)) walk::accuse(own, place);
      removed[place] = block;
      over.ledger.blocks[place] = nullptr;
    });
    over.report(own);
  }
};

struct mark_blocks {
  WARPHEAP_FN void operator()(walk over, std::uint64_t lowest, std::uint64_t alignment, std::uint32_t* marks) const {
    block_sums own{};
    over.each_block([&](std::uint64_t place, void* block) {
      const std::uint64_t begin = reinterpret_cast<std::uint64_t>(block) - lowest;
      const std::uint64_t end = (begin + over.bytes(place) - 1) / alignment + 1;
      bool shared = false;
      for (std::uint64_t at = begin / alignment; at < end;) {
        const std::uint64_t bit = at % 32;
        const std::uint64_t count = end - at < 32 - bit ? end - at : 32 - bit;
        const std::uint32_t units = low_bits(static_cast<int>(count)) << bit;
        // Nothing is published by a mark: of two blocks that share a unit, one finds the other's, whatever the order.
        shared |=
            (atomic_view{marks[at / 32]}.fetch_or(units, memory_order::relaxed, thread_scope::device) & units) != 0;
        at += count;
      }
      if (shared) walk::accuse(own, place);
    });
    over.report(own);
  }
};

// An array of at least `size` elements that begins as `from` does.
template <class T>
device_array<T> enlarged(const device_array<T>& from, std::uint64_t size) {
  device_array<T> larger(size);
  device_copy(larger.data(), from.data(), from.size() * sizeof(T));
  return larger;
}

std::string hexadecimal(std::uint64_t value) {
  std::string digits;
  for (; value != 0; value /= 16) digits.insert(digits.begin(), "0123456789abcdef"[value % 16]);
  return "0x" + digits;
}

}  // namespace

holdings::holdings(const request_stream& asked, std::uint64_t alignment, std::uint64_t most_span, std::uint64_t places)
    : asked_(asked),
      alignment_(alignment),
      most_span_(most_span),
      blocks_(places + asked.count),
      requests_(places + asked.count),
      sums_(1) {}

placement holdings::in_order() { return {0, 0, {free_order::as_allocated, 1, 0}}; }

placement holdings::plan(std::uint64_t round, std::uint64_t exchanges) {
  if (places_ + asked_.count > blocks_.size()) {
    const std::uint64_t size = 2 * (places_ + asked_.count);
    blocks_ = enlarged(blocks_, size);
    requests_ = enlarged(requests_, size);
  }
  if (places_ == 0) return in_order();
  return {places_, std::min(exchanges, places_), {free_order::shuffled, places_, mix(asked_.seed ^ mix(~round))}};
}

block_sums holdings::collect() {
  synchronise();
  const block_sums found = sums_.at(0);
  sums_.clear();
  return found;
}

void holdings::blame(const block_sums& seen, const std::string& what) {
  if (seen.wrong == 0 || !fault_.empty()) return;
  const std::uint64_t place = ~seen.inverted_place;
  const std::uint64_t request = requests_.at(place);
  fault_ = std::to_string(seen.wrong) + " of " + std::to_string(seen.blocks == 0 ? held_.blocks : seen.blocks) +
           " blocks " + what + ", such as that of request " + std::to_string(request % asked_.count) + " of round " +
           std::to_string(request / asked_.count) + " (" +
           hexadecimal(std::bit_cast<std::uint64_t>(blocks_.at(place))) + ", " + std::to_string(asked_.bytes(request)) +
           " bytes)";
}

holdings::amount holdings::give_back(const placement& where) {
  const walk given = {where, 1, 2, where.exchanges, known()};
  launch(given.grid(), check_blocks{}, given);
  const block_sums seen = collect();
  blame(seen, "lost what was written to them while they were held");
  held_.blocks -= seen.blocks;
  held_.bytes -= seen.bytes;
  return {seen.blocks, seen.bytes};
}

holdings::amount holdings::take(const placement& where, std::uint64_t round, std::uint64_t count) {
  const walk taken = {where, 0, 1, count, known()};
  launch(taken.grid(), take_blocks{}, taken, round * asked_.count, alignment_);
  places_ = std::max(places_, where.used + count - where.exchanges);
  const block_sums seen = collect();
  held_.blocks += seen.blocks;
  held_.bytes += seen.bytes;
  blame(seen, "are not aligned to " + std::to_string(alignment_) + " bytes");
  lowest_ = std::min(lowest_, ~seen.inverted_lowest);
  highest_ = std::max(highest_, seen.highest);
  if (span_bytes() > most_span_ && fault_.empty()) {
    fault_ = "blocks lie " + std::to_string(span_bytes()) + " bytes apart from end to end, which is more than the " +
             std::to_string(most_span_) + " that they come out of";
  }
  // A heap that never refuses would be asked for ever.
  if (held_.bytes > most_span_ && fault_.empty()) {
    fault_ = "blocks overlap: " + std::to_string(held_.bytes) + " bytes of them are held out of " +
             std::to_string(most_span_);
  }
  return {seen.blocks, seen.bytes};
}

void holdings::fill(const placement& where, std::uint64_t count) {
  if (!fault_.empty()) return;
  const walk filled = {where, 0, 1, count, known()};
  launch(filled.grid(), fill_blocks{}, filled);
}

void holdings::judge_overlap() {
  if (!fault_.empty() || held_.blocks == 0) return;
  const std::uint64_t from = align_down(lowest_, alignment_);
  const device_array<std::uint32_t> marks(divide_up(highest_ - from, 32 * alignment_));
  const walk all = {in_order(), 0, 1, places_, known()};
  launch(all.grid(), mark_blocks{}, all, from, alignment_, marks.data());
  blame(collect(), "overlap another one");
}

void holdings::judge_contents() {
  if (!fault_.empty()) return;
  const walk all = {in_order(), 0, 1, places_, known()};
  launch(all.grid(), check_blocks{}, all);
  blame(collect(), "lost what was written to them though no two overlap");
}

holdings::removed holdings::remove(std::uint64_t spare, std::uint64_t salt) {
  removed out{{}, device_array<void*>(places_)};
  const walk all = {in_order(), 0, 1, places_, known()};
  launch(all.grid(), remove_blocks{}, all, spare, salt, out.blocks.data());
  const block_sums seen = collect();
  blame(seen, "lost what was written to them while they were held");
  held_.blocks -= seen.blocks;
  held_.bytes -= seen.bytes;
  out.what = {seen.blocks, seen.bytes};
  return out;
}

void* holdings::any_block() const {
  for (void* const block : blocks_.to_host()) {
    if (block != nullptr) return block;
  }
  return nullptr;
}

void holdings::clear() {
  places_ = 0;
  held_ = {};
  lowest_ = ~std::uint64_t{0};
  highest_ = 0;
}

}  // namespace warpheap::bench
