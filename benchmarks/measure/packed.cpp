// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#include "packed.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "items.hpp"

namespace warpheap::bench {
namespace {

struct size_kernel {
  // Writes a size of zero after the last, so that the sum up to there is that of all.
  WARPHEAP_FN void operator()(requests asked, std::uint32_t* sizes) const {
    const std::uint64_t index = asked.mine();
    if (index == requests::none) return;
    sizes[index] = static_cast<std::uint32_t>(asked.bytes(index));
    if (index == 0) sizes[asked.count] = 0;
  }
};

struct write_packed_kernel {
  WARPHEAP_FN void operator()(requests asked, const std::uint64_t* offsets, unsigned char* data) const {
    const std::uint64_t index = asked.mine();
    if (index != requests::none) item::write(data + offsets[index], index, asked.bytes(index));
  }
};

struct point_kernel {
  WARPHEAP_FN void operator()(requests asked, const std::uint64_t* offsets, unsigned char* data, void** blocks) const {
    const std::uint64_t index = asked.mine();
    if (index != requests::none) blocks[index] = data + offsets[index];
  }
};

}  // namespace

packed_items::packed_items(std::uint64_t count, std::uint64_t largest_bytes, memory policy)
    : count_(count), policy_(policy), sizes_(count + 1), offsets_(count + 1), sum_(count + 1) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
  if (largest_bytes > most) throw usage_error("--size: use at most " + std::to_string(most) + " with this case");
}

packed_items::~packed_items() { device_release(data_); }

std::uint64_t packed_items::place(const requests& asked) {
  launch(asked.grid(), size_kernel{}, asked, sizes_.data());
  sum_.run(sizes_.data(), offsets_.data());
  const std::uint64_t total = offsets_.at(count_);
  reserve(total);
  return total;
}

void packed_items::reserve(std::uint64_t bytes) {
  if (policy_ == memory::taken_anew) {
    release();
    data_ = static_cast<unsigned char*>(device_allocate(bytes));
    return;
  }
  if (bytes <= capacity_) return;
  device_release(data_);
  data_ = nullptr;
  // Rounds differ a little in what they need; some room to spare, and later ones need not take memory again.
  constexpr std::uint64_t least = std::uint64_t{1} << 20;
  capacity_ = std::max(least, bytes + bytes / 8);
  data_ = static_cast<unsigned char*>(device_allocate(capacity_));
}

void packed_items::write(const requests& asked) {
  launch(asked.grid(), write_packed_kernel{}, asked, static_cast<const std::uint64_t*>(offsets_.data()), data_);
}

void packed_items::point(const requests& asked, void** blocks) const {
  launch(asked.grid(), point_kernel{}, asked, static_cast<const std::uint64_t*>(offsets_.data()), data_, blocks);
}

void packed_items::release() {
  if (policy_ == memory::kept) return;
  device_release(data_);
  data_ = nullptr;
}

}  // namespace warpheap::bench
