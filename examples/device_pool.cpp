// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The guide's example of a pool, whole: device memory from the host, first by any thread, then in the order of streams.

// [guide]
#include <iostream>
#include <memory>
#include <warpheap/pool.hpp>

int main() {
  constexpr std::uint64_t mib = 1 << 20;
  // Addresses for 1 GiB of device memory; memory is taken as blocks need it, and lies in one range.
  warpheap::pool blocks(std::make_unique<warpheap::device_space>(1024 * mib));
  void* const a = blocks.allocate(3 * mib);
  void* const b = blocks.allocate(1000, 4096);  // at a multiple of 4,096; others of 256
  std::cout << blocks.picture(64) << "\n" << blocks.snapshot() << "\n";
  blocks.deallocate(a);
  blocks.deallocate(b);
  blocks.trim();  // what no block lies in goes back to the machine

  // In stream order a block is taken back while kernels still use it. Work that the stream does later may use it again.
  warpheap::stream_pool ordered(std::make_unique<warpheap::device_space>(1024 * mib));
  const warpheap::device_streams::stream stream = {};  // the default stream; cudaStream_t on a GPU
  void* const c = ordered.allocate(stream, 3 * mib);
  ordered.deallocate(stream, c);
  void* const d = ordered.allocate(stream, 3 * mib);
  std::cout << (c == d ? "the same block again\n" : "another block\n");
  ordered.deallocate(stream, d);

  try {
    blocks.allocate(2048 * mib);
  } catch (const warpheap::out_of_memory& full) {
    std::cout << full.what() << "\n";
  }
  // [guide]
  return c == d && blocks.statistics().live_blocks == 0 && blocks.statistics().committed_bytes == 0 ? 0 : 1;
}
