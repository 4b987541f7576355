// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
// `device_blocks` of warpheap.torch as functions that ctypes calls: see test_torch_blocks.py.

#include "device_blocks.hpp"

using warpheap_torch::device_blocks;
using warpheap_torch::pool_functions;

namespace {

struct probe {
  probe(const char* library, wh_pool* pool) : functions(library), blocks(functions, pool) {}
  pool_functions functions;
  device_blocks blocks;
  int waits = 0;
};

std::size_t copy(const std::vector<void*>& from, void** to) {
  std::copy(from.begin(), from.end(), to);
  return from.size();
}

}  // namespace

extern "C" {

probe* probe_make(const char* library, wh_pool* pool) {
  try {
    return new probe(library, pool);
  } catch (const std::runtime_error&) {
    return nullptr;
  }
}
void probe_end(probe* own) { delete own; }
void* probe_allocate(probe* own, std::size_t bytes, void* stream) {
  void* block = nullptr;
  return own->blocks.allocate(bytes, stream, &block) == WH_POOL_OK ? block : nullptr;
}
int probe_deallocate(probe* own, void* block) { return own->blocks.deallocate(block); }
int probe_note_use(probe* own, void* block, void* stream) { return own->blocks.note_use(block, stream); }
std::size_t probe_requested(probe* own, void* block) { return own->blocks.requested(block); }
int probe_has(probe* own, void* block) { return own->blocks.has(block) ? 1 : 0; }
/** Streams whose number is `stream` belong. */
int probe_begin(probe* own, unsigned long long name, void* stream) {
  return own->blocks.begin({name, 1}, [stream](void* other) { return other == stream; });
}
int probe_end_pool(probe* own, unsigned long long name) { return own->blocks.end({name, 1}); }
void probe_add_use(probe* own, unsigned long long name) { own->blocks.add_use({name, 1}); }
int probe_remove_use(probe* own, unsigned long long name) { return own->blocks.remove_use({name, 1}) ? 1 : 0; }
std::size_t probe_uses(probe* own, unsigned long long name) { return own->blocks.uses({name, 1}); }
int probe_collect(probe* own) {
  return own->blocks.collect([own] { ++own->waits; }) ? 1 : 0;
}
int probe_waits(probe* own) { return own->waits; }
int probe_are_live(probe* own, unsigned long long name, void** blocks, std::size_t count) {
  const std::unordered_set<void*> expected(blocks, blocks + count);
  return own->blocks.are_live({name, 1}, expected) ? 1 : 0;
}
device_blocks::checkpoint* probe_take(probe* own, unsigned long long name) {
  return new device_blocks::checkpoint(own->blocks.take_checkpoint({name, 1}));
}
/** Writes freed blocks, then live ones; returns the number of the first, and of all in `*both`. */
std::size_t probe_restore(probe* own, device_blocks::checkpoint* taken, void** blocks, std::size_t* both) {
  const auto done = own->blocks.restore(*taken);
  const std::size_t freed = copy(done.freed, blocks);
  *both = freed + copy(done.live, blocks + freed);
  return freed;
}
void probe_forget(probe* own, device_blocks::checkpoint* taken) {
  own->blocks.forget(*taken);
  delete taken;
}
/** Writes address, bytes, requested, stream, first number of the pool's name, and live for each block. */
std::size_t probe_entries(probe* own, std::uint64_t* numbers) {
  std::size_t count = 0;
  for (const auto& each : own->blocks.entries()) {
    for (const std::uint64_t number :
         {static_cast<std::uint64_t>(each.address), static_cast<std::uint64_t>(each.bytes),
          static_cast<std::uint64_t>(each.requested),
          static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(each.stream)),
          static_cast<std::uint64_t>(each.pool.first), static_cast<std::uint64_t>(each.live)}) {
      numbers[count++] = number;
    }
  }
  return count / 6;
}
/** Writes the sums of bytes asked for, of sizes and of blocks, each now, peak, in and out; then what is held. */
void probe_counts(probe* own, std::uint64_t* numbers) {
  const auto counts = own->blocks.figures();
  for (const auto& each : {counts.requested, counts.bytes, counts.blocks}) {
    for (const std::uint64_t number : {each.now, each.peak, each.in, each.out}) *numbers++ = number;
  }
  *numbers++ = counts.held_blocks;
  *numbers = counts.held_bytes;
}
void probe_reset_peak(probe* own) { own->blocks.reset_peaks(); }
int probe_routed(probe* own) { return own->blocks.is_routed() ? 1 : 0; }
}
