// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#include "items.hpp"

namespace warpheap::bench {
namespace {

struct write_kernel {
  WARPHEAP_FN void operator()(requests asked, void* const* blocks) const {
    const std::uint64_t index = asked.mine();
    if (index == requests::none || blocks[index] == nullptr) return;
    item::write(blocks[index], index, asked.bytes(index));
  }
};

struct read_kernel {
  WARPHEAP_FN void operator()(requests asked, void* const* blocks, bool every_word, std::uint64_t* wrong) const {
    const std::uint64_t index = asked.mine();
    if (index == requests::none || blocks[index] == nullptr) return;
    const std::uint64_t bytes = asked.bytes(index);
    const bool right =
        every_word ? item::is_whole(blocks[index], index, bytes) : item::adds_up(blocks[index], index, bytes);
    // Counted, not ordered: the host reads the sum after the launch.
    if (!right) atomic_view{*wrong}.fetch_add(1, memory_order::relaxed, thread_scope::device);
  }
};

}  // namespace

void write_items(const requests& asked, void* const* blocks) { launch(asked.grid(), write_kernel{}, asked, blocks); }

void read_items(const requests& asked, void* const* blocks, std::uint64_t* wrong) {
  launch(asked.grid(), read_kernel{}, asked, blocks, false, wrong);
}

void check_items(const requests& asked, void* const* blocks, std::uint64_t* wrong) {
  launch(asked.grid(), read_kernel{}, asked, blocks, true, wrong);
}

}  // namespace warpheap::bench
