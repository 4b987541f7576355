// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/allocator/device.hpp>
#include <warpheap/designs/dynasoar/detail/blocks.hpp>
#include <warpheap/designs/dynasoar/soa_ref.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/structures.hpp>

namespace warpheap {

template <class... T>
class soa_heap;

/// The object allocator of Springer & Masuhara (DynaSOAr: A parallel memory allocator for object-oriented programming
/// on GPUs with efficient memory access, ECOOP 2019), as a heap of bytes: one type for each size class.
///
/// The design is one for objects of registered types, which it keeps as structures of arrays: that face is `soa_heap`
/// for the host and `soa_ref` for kernels. Here the types are 16, 32, ..., 1,024 bytes, so a block of the heap, which
/// holds 64 objects of the smallest type, has 1 KiB, and no request may be larger.
///
/// Glossary
///   block        a piece of the arena for up to 64 objects of one type
///   type         here a size class
///   slot         the place of an object in a block
///   free, active, allocated   sets of blocks: without objects; of a type and with free slots; of a type
///   header       type, number of free slots and generation in one word, and a bit for each slot
///   create, retire   a free block becomes one of a type; a block without objects becomes free
///
/// Call tree, downwards only; the file of a part has its name
///   malloc                                  free
///   '- blocks: take           take.hpp      '- blocks: give_together       give.hpp
///      |- try_active                           |- slot_bits, slab_entry
///      |- try_free -> create                   '- retire -> slab_sets
///      '- slot_bits, slab_sets
///
/// Lanes of a warp that ask for one type share a search and take their slots together. Headers lie beside the arena,
/// not in the blocks, so objects are aligned to their size. docs/design/dynasoar.md says what differs from the paper,
/// and why.
///
/// Null means that at one moment of the call no slot of the class and no block was free, or that a limited number of
/// searches found none while other threads moved blocks during each of them.
class dynasoar {
  static constexpr std::uint32_t types = 7;
  static constexpr std::uint32_t smallest_bytes = 16;
  static constexpr std::uint32_t block_bytes = 64 * smallest_bytes;

 public:
  static constexpr const char* name = "dynasoar";
  static constexpr allocator_capabilities capabilities{.individual_free = true,
                                                       .knows_size = true,
                                                       .reset = true,
                                                       .host_copy = true,
                                                       .counts_live = true,
                                                       .uses_arena = true,
                                                       .typed_objects = true,
                                                       .stack_bytes = 2560,
                                                       .largest_alignment = block_bytes,
                                                       .largest_bytes = block_bytes};

  /// The typed face: a heap of objects of the types `T...`.
  template <class... T>
  using typed_heap = soa_heap<T...>;

  WARPHEAP_FN static constexpr std::uint64_t metadata_bytes(std::uint64_t bytes) {
    return detail::dynasoar_layout::bytes(types, detail::dynasoar_layout::blocks_of(bytes, block_bytes), false);
  }

  WARPHEAP_FN explicit dynasoar(const arena& from)
      : blocks_(from.metadata, types, detail::dynasoar_layout::blocks_of(from.bytes, block_bytes), false),
        data_(from.data) {}

  /// Bytes of an arena with room for one block.
  WARPHEAP_FN std::uint64_t least_bytes() const { return block_bytes; }
  WARPHEAP_FN void initialise() const { blocks_.initialise(); }

  WARPHEAP_FN void* malloc(std::uint64_t bytes) const {
    if (bytes > block_bytes) return nullptr;
    const std::uint32_t type = type_of(static_cast<std::uint32_t>(bytes));
    const detail::dynasoar_slot got = blocks_.take(blocks_.takers(type), type, 64u >> type);
    if (got.block == detail::dynasoar_slot::none) return nullptr;
    return data_ + std::uint64_t{got.block} * block_bytes + got.slot * bytes_of(type);
  }

  WARPHEAP_FN void* aligned_malloc(std::uint64_t alignment, std::uint64_t bytes) const {
    // An object is aligned to its size, a power of two.
    return malloc(bytes < alignment ? alignment : bytes);
  }

  WARPHEAP_FN void free(void* block) const {
    const std::uint64_t offset = offset_of(block);
    const auto index = static_cast<std::uint32_t>(offset / block_bytes);
    const slab_entry::contents entry = blocks_.header(index).entry.look();
    std::uint32_t slot = blocks_.no_slot;  // a block that holds nothing: it was freed before
    if (entry.is_assigned()) slot = static_cast<std::uint32_t>(offset % block_bytes) / bytes_of(entry.size_class);
    blocks_.give_together(active_group(), index, slot);
  }

  WARPHEAP_FN std::uint64_t usable_size(const void* block) const {
    const auto index = static_cast<std::uint32_t>(offset_of(block) / block_bytes);
    return bytes_of(blocks_.header(index).entry.look().size_class);
  }

  WARPHEAP_FN void count(allocator_counts& counts) const;

 private:
  WARPHEAP_FN static std::uint32_t type_of(std::uint32_t bytes) {
    return bytes <= smallest_bytes ? 0 : static_cast<std::uint32_t>(highest_bit(bytes - 1)) - 3;
  }
  WARPHEAP_FN static constexpr std::uint32_t bytes_of(std::uint32_t type) { return smallest_bytes << type; }
  WARPHEAP_FN std::uint64_t offset_of(const void* block) const {
    return static_cast<std::uint64_t>(static_cast<const std::byte*>(block) - data_);
  }

  detail::dynasoar_blocks blocks_;
  std::byte* data_;
};

WARPHEAP_FN inline void dynasoar::count(allocator_counts& counts) const {
  std::uint64_t live = 0;
  for (std::uint64_t i = grid_thread_index(); i < blocks_.count(); i += grid_threads()) {
    const slab_entry::contents entry = blocks_.header(static_cast<std::uint32_t>(i)).entry.look();
    if (entry.is_assigned()) live += std::uint64_t{entry.capacity - entry.free} * bytes_of(entry.size_class);
  }
  add_to_sum(counts.live_bytes, live);
}

static_assert(device_allocator<dynasoar>);

}  // namespace warpheap

#if WARPHEAP_COMPILES_HOST && WARPHEAP_COMPILES_KERNELS
#include <warpheap/designs/dynasoar/soa_heap.hpp>
#endif
