// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#include "oracle.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>

namespace warpheap::bench {
namespace {

struct extent {
  std::uint64_t begin;
  std::uint64_t end;
  std::uint64_t request;
};

std::string describe(const extent& block) {
  constexpr char digits[] = "0123456789abcdef";
  std::string address;
  for (std::uint64_t rest = block.begin; rest != 0; rest /= 16) address.insert(address.begin(), digits[rest % 16]);
  return "request " + std::to_string(block.request) + " (0x" + address + ", " +
         std::to_string(block.end - block.begin) + " bytes)";
}

// `bytes_of(i)` are those of the block of request `i`.
template <class BytesOf>
address_findings judge_blocks(BytesOf bytes_of, const std::vector<void*>& blocks, std::uint64_t alignment) {
  address_findings result;
  std::vector<extent> extents;
  extents.reserve(blocks.size());
  for (std::uint64_t i = 0; i < blocks.size(); ++i) {
    if (blocks[i] == nullptr) continue;
    const auto begin = std::bit_cast<std::uint64_t>(blocks[i]);
    extents.push_back({begin, begin + bytes_of(i), i});
    result.requested_bytes += bytes_of(i);
    if (begin % alignment != 0 && result.fault.empty()) {
      result.fault = describe(extents.back()) + " is not aligned to " + std::to_string(alignment) + " bytes";
    }
  }
  result.granted = extents.size();
  if (extents.empty()) return result;
  std::sort(extents.begin(), extents.end(), [](const extent& a, const extent& b) { return a.begin < b.begin; });
  const extent* reaches_highest = &extents.front();
  for (std::size_t i = 1; i < extents.size(); ++i) {
    // Against the block that reaches highest so far, not the one before: a large block can cover several small ones.
    if (extents[i].begin < reaches_highest->end && result.fault.empty()) {
      result.fault = describe(extents[i]) + " overlaps " + describe(*reaches_highest);
    }
    if (extents[i].end > reaches_highest->end) reaches_highest = &extents[i];
  }
  result.span_bytes = reaches_highest->end - extents.front().begin;
  return result;
}

}  // namespace

address_findings judge_addresses(const std::vector<std::uint64_t>& bytes, const std::vector<void*>& blocks,
                                 std::uint64_t alignment) {
  return judge_blocks([&](std::uint64_t i) { return bytes[i]; }, blocks, alignment);
}

address_findings judge_addresses(const requests& asked, const std::vector<void*>& blocks, std::uint64_t alignment) {
  return judge_blocks([&](std::uint64_t i) { return asked.bytes(i); }, blocks, alignment);
}

std::uint64_t count_null(const std::vector<void*>& blocks) {
  return static_cast<std::uint64_t>(std::count(blocks.begin(), blocks.end(), nullptr));
}

}  // namespace warpheap::bench
