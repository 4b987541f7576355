// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <warpheap/allocator/checked/detail/byte_pattern.hpp>
#include <warpheap/platform.hpp>

namespace warpheap::detail {

// A block of a design, as `checked` fills it:
//
//   | what the owner asked for | guard bytes, none or some | size word | state word |
//   0                          asked                       room        room + 8     room + 16
//
// The lowest byte of the size word is a guard byte too, so there is one after each block, however well its size fits.
// The state word says that the block is live, or that it was freed, in words that depend on the address, and in a live
// block on the size. So what is written over either is recognised, and so is a trailer that was copied.
//
// Invariant: from the moment a block is handed out until it is the design's again the state word changes once, from
// live to freed, by a compare-exchange. The thread that does it has the block; all others that free it learn that they
// came late.
class guarded_block {
 public:
  static constexpr std::uint64_t trailer_bytes = 16;
  static constexpr std::uint64_t most_guard = 256;  // bytes that are written and looked at; later ones are not
  static constexpr std::uint64_t most_asked = (std::uint64_t{1} << 56) - 2 * trailer_bytes;

  // What the trailer says of its block; `damaged`: nothing that makes sense.
  enum class life { live, freed, damaged };

  // Bytes to take from the design for `asked` bytes, at most `most_asked`.
  WARPHEAP_FN static constexpr std::uint64_t bytes_for(std::uint64_t asked) {
    return align_up(asked, trailer_bytes) + trailer_bytes;
  }

  // The block at `data`, of which the design says that `usable` bytes can be used.
  WARPHEAP_FN guarded_block(void* data, std::uint64_t usable)
      : data_(static_cast<std::byte*>(data)), room_(align_down(usable, trailer_bytes) - trailer_bytes) {}

  // Bytes in front of the trailer.
  WARPHEAP_FN std::uint64_t room() const { return room_; }

  // Makes the block one of `asked` bytes that is live.
  WARPHEAP_FN void begin(std::uint64_t asked) const {
    set_asked(asked);
    view(1).store(live_word(asked), memory_order::relaxed, thread_scope::device);
  }

  // What was asked for, as the trailer says; the owner can have written over it.
  WARPHEAP_FN std::uint64_t asked() const {
    return view(0).load(memory_order::relaxed, thread_scope::device) >> guard_bits;
  }

  WARPHEAP_FN life state() const {
    const std::uint64_t state = view(1).load(memory_order::relaxed, thread_scope::device);
    if (state == freed_word()) return life::freed;
    return state == live_word(asked()) ? life::live : life::damaged;
  }

  // Ends the block's life and returns how the block stood. If that is `freed` somebody else had done it.
  //
  // Relaxed: a free comes after the malloc already, and a free that comes too late does nothing with the block.
  WARPHEAP_FN life end() const {
    using enum memory_order;
    using enum thread_scope;
    std::uint64_t seen = live_word(asked());
    if (view(1).compare_exchange(seen, freed_word(), relaxed, device)) return life::live;
    if (seen == freed_word()) return life::freed;
    // Once more with what is there instead. It only changes if somebody else ends it, or writes over it again.
    return view(1).compare_exchange(seen, freed_word(), relaxed, device) ? life::damaged : life::freed;
  }

  // The thread that ended a life writes the trailer's size and the guard anew, so that no damage is found twice.
  WARPHEAP_FN void set_asked(std::uint64_t asked) const {
    view(0).store(size_word(asked), memory_order::relaxed, thread_scope::device);
    write_pattern(data_, asked, guard_end(asked), guard_byte);
  }
  // True if no thread wrote after the end of the block. `asked` is at most `room()`.
  WARPHEAP_FN bool guard_is_whole(std::uint64_t asked) const {
    return view(0).load(memory_order::relaxed, thread_scope::device) == size_word(asked) &&
           holds_pattern(data_, asked, guard_end(asked), guard_byte);
  }

  // Marks up to `most` bytes of a block that was freed.
  WARPHEAP_FN void poison(std::uint64_t asked, std::uint64_t most) const {
    write_pattern(data_, 0, asked < most ? asked : most, poison_byte);
  }
  // True if no thread wrote there since, nor after the end.
  WARPHEAP_FN bool is_untouched(std::uint64_t asked, std::uint64_t most) const {
    return state() == life::freed && asked <= room_ && guard_is_whole(asked) &&
           holds_pattern(data_, 0, asked < most ? asked : most, poison_byte);
  }

 private:
  static constexpr std::uint8_t guard_byte = 0xfd;
  static constexpr std::uint8_t poison_byte = 0xdb;  // eight of them are no address
  static constexpr int guard_bits = 8;

  WARPHEAP_FN static constexpr std::uint64_t size_word(std::uint64_t asked) { return asked << guard_bits | guard_byte; }
  // Mixed, so that no two blocks have similar words.
  WARPHEAP_FN std::uint64_t live_word(std::uint64_t asked) const { return mix(freed_word() ^ mix(asked)); }
  WARPHEAP_FN std::uint64_t freed_word() const { return mix(reinterpret_cast<std::uint64_t>(data_)); }
  WARPHEAP_FN std::uint64_t guard_end(std::uint64_t asked) const {
    return room_ - asked < most_guard ? room_ : asked + most_guard;
  }
  WARPHEAP_FN atomic_view<std::uint64_t> view(int word) const {
    return atomic_view{*(reinterpret_cast<std::uint64_t*>(data_ + room_) + word)};
  }

  std::byte* data_;
  std::uint64_t room_;
};

}  // namespace warpheap::detail
