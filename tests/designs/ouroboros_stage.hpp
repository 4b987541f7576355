// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <allocator/conformance/relocation.hpp>
#include <allocator/conformance/trial.hpp>
#include <cstdint>
#include <string>
#include <support/payload.hpp>
#include <support/random.hpp>
#include <support/scale.hpp>
#include <support/schedules.hpp>
#include <utility>
#include <vector>
#include <warpheap/designs/ouroboros/ouroboros.hpp>
#include <warpheap/heap.hpp>

/// What the tests of the Ouroboros designs share: a heap whose blocks the host directs.
namespace warpheap::test::directed {

inline constexpr std::uint64_t chunk_bytes = 8192;

/// A request and, once it was served, its block.
struct request {
  std::uint64_t bytes;
  std::uint64_t alignment = 1;
  void* block = nullptr;
  std::uint64_t usable = 0;
};

/// A block with contents, or null. Here and below, one copy of the design's code for all kernels: it takes long to
/// compile.
template <class A>
WARPHEAP_COLD_FN void* take_block(const watched_heap<A>& heap, std::uint64_t alignment, std::uint64_t bytes) {
  void* const block = heap.aligned_malloc(alignment, bytes);
  if (block != nullptr) payload{block, bytes, 0}.write();
  return block;
}

template <class A>
WARPHEAP_COLD_FN void check_and_free(const watched_heap<A>& heap, void* block, std::uint64_t bytes) {
  heap.log.expect(payload{block, bytes, 0}.intact(), problem::damaged, bytes, block);
  heap.free(block, bytes);
}

/// Thread i serves request i.
struct serve_kernel {
  template <class A>
  WARPHEAP_FN void operator()(watched_heap<A> heap, request* requests, std::uint64_t count) const {
    for (std::uint64_t i = grid_thread_index(); i < count; i += grid_threads()) {
      request& mine = requests[i];
      mine.block = take_block(heap, mine.alignment, mine.bytes);
      if (mine.block != nullptr) mine.usable = heap.heap.usable_size(mine.block);
    }
  }
};

/// Each thread takes blocks until it gets none.
struct take_all_kernel {
  template <class A>
  WARPHEAP_FN void operator()(watched_heap<A> heap, block_list_view list, std::uint64_t bytes) const {
    for (;;) {
      void* const block = take_block(heap, 1, bytes);
      if (block == nullptr || !heap.log.expect(list.push(block), problem::granted, bytes, block)) return;
    }
  }
};

/// Thread i frees the block of request i. To recycle, a third of the warps do it, all lanes together, and a few single
/// lanes of the others; and each takes another block at once.
struct free_kernel {
  bool recycles;

  template <class A>
  WARPHEAP_FN void operator()(watched_heap<A> heap, request* requests, std::uint64_t count, std::uint64_t seed) const {
    for (std::uint64_t i = grid_thread_index(); i < count; i += grid_threads()) {
      request& mine = requests[i];
      const bool together = mix(seed ^ mix(i / warp_width)) % 3 == 0;
      if (recycles && !together && mix(seed ^ mix(~i)) % 4 != 0) continue;
      check_and_free(heap, mine.block, mine.bytes);
      if (recycles) mine.block = take_block(heap, 1, mine.bytes);
    }
  }
};

/// Writes all of each block, or follows it to where it moved and watches it there.
struct move_kernel {
  bool follows;

  template <class A>
  WARPHEAP_FN void operator()(watched_heap<A> heap, request* requests, std::uint64_t count, relocation by) const {
    for (std::uint64_t i = grid_thread_index(); i < count; i += grid_threads()) {
      request& mine = requests[i];
      const payload before{mine.block, mine.bytes, 0};
      if (follows) {
        mine.block = by.moved(mine.block);
        heap.log.expect(followed(mine.block, before, mine.bytes), problem::damaged, mine.bytes, mine.block);
        heap.watch(mine.block, mine.bytes, mine.alignment);
        mine.usable = heap.heap.usable_size(mine.block);
      }
      payload{mine.block, mine.bytes, 0}.write_all();
    }
  }
};

/// Threads take and free small blocks, pages of several chunks and runs, all together.
struct traffic_kernel {
  static constexpr std::uint64_t slots = 4;

  template <class A>
  WARPHEAP_FN void operator()(watched_heap<A> heap, std::uint64_t seed, std::uint64_t steps) const {
    request held[slots] = {};
    random_stream random{seed, grid_thread_index()};
    for (std::uint64_t step = 0; step < steps + slots; ++step) {
      const bool ends = step >= steps;
      request& chosen = held[ends ? step - steps : random.below(slots)];
      if (chosen.block != nullptr) {
        check_and_free(heap, chosen.block, chosen.bytes);
        chosen.block = nullptr;
      } else if (!ends) {
        chosen.bytes = size(random);
        chosen.block = take_block(heap, 1, chosen.bytes);
      }
    }
  }

 private:
  WARPHEAP_FN static std::uint64_t size(random_stream& random) {
    switch (random.below(16)) {
      case 0: return 65537 + random.below(200'000);
      case 1: return 65536;
      case 2: return 32768;
      case 3: return 16384;
      case 4: return 8192;
      case 5: return 4096;
      default: return random.size(2048);
    }
  }
};

inline std::uint64_t page_bytes(std::uint64_t bytes) { return std::max<std::uint64_t>(next_power_of_two(bytes), 16); }

/// Bytes of a block for a request of `bytes`.
inline std::uint64_t block_bytes(std::uint64_t bytes) {
  return bytes > 65536 ? align_up(bytes, chunk_bytes) : page_bytes(bytes);
}

/// A heap whose blocks the host directs. What kernels find wrong fails the test when the stage ends.
template <class A>
class stage {
 public:
  explicit stage(std::uint64_t bytes, heap_options options = {}) : trial_(found_, bytes, options) {}
  ~stage() {
    for (const std::string& text : found_.texts()) ADD_FAILURE() << text;
  }

  warpheap::heap<A>& heap() { return trial_.heap(); }
  std::uint64_t live() { return heap().statistics().live_bytes.value(); }
  bool failed() const { return !found_.empty() || testing::Test::HasFailure(); }

  /// Serves all requests at once.
  void serve(std::vector<request>& requests) { direct(serve_kernel{}, requests); }
  /// Up to `count` blocks of `bytes`.
  std::vector<request> take(std::uint64_t bytes, std::uint64_t count) {
    std::vector<request> requests(count, request{bytes});
    serve(requests);
    drop_refused(requests);
    return requests;
  }
  /// Blocks of `bytes` until there are no more, by address.
  std::vector<request> fill(std::uint64_t bytes) {
    block_list list = list_for(trial_, bytes);
    trial_.run(threads(), take_all_kernel{}, list.view(), bytes);
    std::vector<void*> blocks(list.size());
    device_copy(blocks.data(), list.view().blocks, blocks.size() * sizeof(void*));
    std::sort(blocks.begin(), blocks.end());
    std::vector<request> requests;
    for (void* const block : blocks) requests.push_back({.bytes = bytes, .block = block});
    return requests;
  }
  /// Frees all blocks at once, neighbours in the list by neighbours in a warp.
  void free(std::vector<request> requests) { direct(free_kernel{.recycles = false}, requests, std::uint64_t{0}); }
  /// Frees some of the blocks and takes others for them, all at once; drops those that found no room.
  void recycle(std::vector<request>& requests, std::uint64_t seed) {
    direct(free_kernel{.recycles = true}, requests, seed);
    drop_refused(requests);
  }
  void traffic(std::uint64_t threads, std::uint64_t seed, std::uint64_t steps) {
    trial_.run(threads, traffic_kernel{}, seed, steps);
  }
  /// Takes back all blocks.
  void reset() { trial_.reset(); }
  /// Moves the heap to a place of `bytes`; the blocks, all that there are, follow.
  void relocate(std::vector<request>& requests, std::uint64_t bytes, relocation_options options = {}) {
    trial_.share_owners();  // blocks are at more than one place
    direct(move_kernel{.follows = false}, requests, relocation{});
    const relocation by = heap().relocate(bytes, options);
    first_chunk_ = chunks_end_ = 0;
    trial_.owners().clear();
    direct(move_kernel{.follows = true}, requests, by);
  }
  /// Bytes of the longest run of chunks that can be had now; it is freed again.
  std::uint64_t longest_run(std::uint64_t chunk = chunk_bytes) {
    for (std::uint64_t bytes = align_down(heap().size(), chunk); bytes != 0; bytes -= chunk) {
      std::vector<request> run = take(bytes, 1);
      if (run.empty()) continue;
      first_chunk_ = reinterpret_cast<std::uint64_t>(run[0].block);
      chunks_end_ = std::max(chunks_end_, first_chunk_ + bytes);
      free(std::move(run));
      return bytes;
    }
    return 0;
  }
  /// Blocks for requests of `bytes` that the chunks have room for which the longest runs lay in. Pages of several
  /// chunks are aligned to their size.
  std::uint64_t room_for(std::uint64_t bytes) const {
    const std::uint64_t each = block_bytes(bytes);
    const std::uint64_t begin = bytes > 65536 ? first_chunk_ : align_up(first_chunk_, each);
    return begin < chunks_end_ ? (chunks_end_ - begin) / each : 0;
  }

 private:
  static std::uint64_t threads() { return scaled(256, 1 << 16); }
  template <class Kernel, class... Arguments>
  void direct(Kernel kernel, std::vector<request>& requests, Arguments... arguments) {
    if (requests.empty()) return;
    const device_array<request> on_device{requests};
    trial_.run(std::min(requests.size(), threads()), kernel, on_device.data(), requests.size(), arguments...);
    requests = on_device.to_host();
  }
  static void drop_refused(std::vector<request>& requests) {
    std::erase_if(requests, [](const request& each) { return each.block == nullptr; });
  }

  findings found_;
  trial<A> trial_;
  std::uint64_t first_chunk_ = 0;
  std::uint64_t chunks_end_ = 0;
};

inline void sort(std::vector<request>& requests) {
  std::sort(requests.begin(), requests.end(), [](const request& a, const request& b) { return a.block < b.block; });
}

inline void shuffle(std::vector<request>& requests, std::uint64_t seed) {
  random_stream random{seed, 0};
  for (std::uint64_t i = requests.size(); i > 1; --i) std::swap(requests[i - 1], requests[random.below(i)]);
}

/// Takes a random part of `from` out, about one of `every`.
inline std::vector<request> pick(std::vector<request>& from, std::uint64_t every, std::uint64_t seed) {
  random_stream random{seed, 1};
  const auto middle =
      std::stable_partition(from.begin(), from.end(), [&](const request&) { return random.below(every) != 0; });
  std::vector<request> picked(middle, from.end());
  from.erase(middle, from.end());
  return picked;
}

inline void append(std::vector<request>& to, const std::vector<request>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

/// A size of a heap, or an amount of work in it: what a host executor does in passing, and what a GPU does. At a small
/// scale a GPU does an eighth, and no less than the host.
inline std::uint64_t bytes_for(std::uint64_t host, std::uint64_t gpu) {
  if (this_backend == backend::host) return host;
  return scale_in_force() == work_scale::small ? std::max(host, gpu / 8) : gpu;
}

/// The schedules of these tests: many sequences of few steps.
template <class Body>
void each_schedule(Body body) {
  for_each_schedule(body, 1);
}

/// No block is left, and the chunks are all there and all together.
template <class A>
void expect_empty(stage<A>& s, std::uint64_t whole) {
  EXPECT_EQ(s.live(), 0u);
  EXPECT_EQ(s.longest_run(), whole) << "chunks got lost, or wait in queues";
}

/// All of the paper's, or the one that this translation unit is for. Under a sanitizer each kind of queue and of what
/// it holds: the others are made of the same parts, and their conformance suites run there, too.
#if defined(WARPHEAP_TEST_DESIGN)
using designs = testing::Types<WARPHEAP_TEST_DESIGN>;
#elif defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
using designs = testing::Types<ouroboros_s_p, ouroboros_va_c, ouroboros_vl_p>;
#else
using designs =
    testing::Types<ouroboros_s_p, ouroboros_va_p, ouroboros_vl_p, ouroboros_s_c, ouroboros_va_c, ouroboros_vl_c>;
#endif

/// Tests are named after their design.
struct design_names {
  template <class A>
  static std::string GetName(int) {
    return A::name;
  }
};

}  // namespace warpheap::test::directed
