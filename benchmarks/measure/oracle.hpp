// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "requests.hpp"

namespace warpheap::bench {

/// What the addresses of a round's blocks say.
struct address_findings {
  std::uint64_t granted = 0;          ///< requests that got a block
  std::uint64_t requested_bytes = 0;  ///< what those asked for
  std::uint64_t span_bytes = 0;       ///< from the first byte of the lowest block to the last of the highest
  std::string fault;                  ///< the first block that is misaligned or overlaps another; empty if none
};

/// As below, for blocks of any sizes: `bytes[i]` are those of `blocks[i]`, at least 1.
address_findings judge_addresses(const std::vector<std::uint64_t>& bytes, const std::vector<void*>& blocks,
                                 std::uint64_t alignment);

/// Checks that all blocks that are not null are aligned to `alignment` and disjoint. An exact check: blocks are sorted
/// by address, wherever they lie.
address_findings judge_addresses(const requests& asked, const std::vector<void*>& blocks, std::uint64_t alignment);

/// Number of blocks that are null.
std::uint64_t count_null(const std::vector<void*>& blocks);

}  // namespace warpheap::bench
