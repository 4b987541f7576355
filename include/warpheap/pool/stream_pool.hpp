// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <unordered_map>
#include <utility>
#include <vector>
#include <warpheap/platform.hpp>
#include <warpheap/pool/pool.hpp>
#include <warpheap/pool/stream_order.hpp>

namespace warpheap {

/// A stream that the pool cannot serve: it is being captured into a graph, which would run with addresses that others
/// have by then. Nothing has changed.
class stream_refused : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// How a stream pool deals out its memory.
struct stream_pool_options {
  /// A stream takes this many bytes from the pool when it has none that fit, or what it needs, if that is more.
  std::uint64_t span_bytes = std::uint64_t{32} << 20;
  /// Figures of the common pool.
  pool_options pool = {};
};

/// What a stream pool has taken and handed out, at one moment, in bytes.
struct stream_pool_statistics {
  std::uint64_t reserved_bytes;   ///< addresses that the pool can grow over
  std::uint64_t committed_bytes;  ///< of them with memory
  std::uint64_t live_bytes;       ///< in blocks that were not taken back
  std::uint64_t live_blocks;      ///< such blocks
  std::uint64_t stream_bytes;     ///< free, and kept for the stream that freed them
  std::uint64_t common_bytes;     ///< free, for any stream
  std::uint64_t streams;          ///< streams that the pool knows
  std::uint64_t gatherings;       ///< times that the streams' free memory was put together
  std::uint64_t waits;            ///< times that a stream was told to wait for another
};

/// A pool in stream order: a block may be taken back while work on its stream still uses it.
///
/// Memory that is taken back on a stream can be handed out on that stream at once, as work there runs in order. Another
/// stream gets it only after an event: its work waits, on the device, until the work is done that came before. The
/// host never waits but in `trim` and at the end.
///
/// Each stream has spans of addresses with a book and a lock of its own, so threads on different streams seldom meet.
/// What its spans cannot hold is taken from a pool in common, which grows; when that has nothing either, free memory of
/// all streams is put together there, after an event of each, and merges before a request fails. So a request fails
/// only if no stretch of free memory, whichever stream freed it, can hold it.
///
/// All members can be called by any host thread at any time. Streams that are being captured are refused. Before a
/// stream is destroyed, `forget` it.
template <stream_order Streams, segment_engine Engine = segregated_fit>
class basic_stream_pool {
 public:
  /// Names a stream.
  using stream = typename Streams::stream;

  /// A pool over `space`, which it owns. Throws what `basic_pool` throws.
  explicit basic_stream_pool(std::unique_ptr<pool_space> space, stream_pool_options options = {}, Streams streams = {});
  basic_stream_pool(const basic_stream_pool&) = delete;
  basic_stream_pool& operator=(const basic_stream_pool&) = delete;
  /// Waits for the work before the last `deallocate` on each stream, and gives all memory back. No stream of the pool
  /// may be captured then: its work could not be waited for.
  ~basic_stream_pool();

  /// A block of at least `bytes` bytes for work on `on`, at a multiple of `alignment`, a power of two, and of the
  /// granule. Throws `out_of_memory` if nothing can hold it, `std::invalid_argument` for an alignment that is no power
  /// of two, and `stream_refused` for a stream that is being captured.
  void* allocate(stream on, std::uint64_t bytes, std::uint64_t alignment = 1);
  /// Takes a block back, after all work that `on` was given so far; null is ignored. It need not be the stream that
  /// the block was handed out on, but work of others that uses the block must come before, as for a launch on `on`. (It
  /// then takes time with the logarithm of the number of spans.) Throws `unknown_block` if no block begins there, and
  /// `stream_refused` as `allocate` does; nothing has changed then.
  void deallocate(stream on, void* block);

  /// Puts what the stream has free into the common pool, after an event, and forgets the stream; another that is made
  /// later may have its name. Blocks that were handed out on it stay, and are taken back on another. What the pool kept
  /// for the stream is given back, the event when it is reached. Throws `stream_refused` for a stream that is being
  /// captured, and what the streams throw; the stream is not forgotten then.
  void forget(stream which);
  /// Gives memory that no block lies in back to the machine, after all work that came before it was freed is done;
  /// returns how many bytes. Streams that are being captured keep theirs. Waits without a lock, so other threads go on;
  /// if they put memory together again and again meanwhile, nothing is given back.
  std::uint64_t trim();
  /// What the pool has taken and handed out.
  stream_pool_statistics statistics() const;
  /// The pool that streams take spans from: its snapshot and picture show spans as live.
  const basic_pool<Engine>& common() const { return pool_; }

 private:
  using event = typename Streams::event;
  // Shared with `trim`, which waits without a lock. A mark that another shares is not recorded again.
  using mark_pointer = std::shared_ptr<event>;

  // What a stream has: parts of spans, free in the stream's order, and blocks. Processors fetch cache lines in pairs,
  // so threads on different streams share none.
  struct alignas(128) engine_of_its_own : Engine {
    using Engine::Engine;
  };
  struct alignas(128) shard {
    shard(stream named, std::uint64_t granule) : name(named), book(make_book(granule)) {}
    static auto make_book(std::uint64_t granule) { return std::make_unique<engine_of_its_own>(granule); }

    std::optional<std::uint64_t> key;  // none as long as it serves no stream
    stream name;
    std::unique_ptr<engine_of_its_own> book;  // null without a key, except of `orphans_`
    mark_pointer mark;
    bool has_mark = false;    // there is memory in the common pool that is free only after the mark
    bool is_shared = true;    // the mark can be recorded by any thread; else each deallocation does
    std::uint64_t moved = 0;  // bytes that came from other streams since its memory was last gathered
    mutable host_mutex mutex;
  };
  struct span {
    std::uint64_t bytes;
    shard* owner;
  };
  using span_map = std::map<std::uint64_t, span>;

  static std::uint64_t number(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

  [[noreturn]] static void refuse();
  void refuse_capture(stream which);
  std::pair<shard*, host_lock> own_shard(stream which);
  shard* find_or_make(std::uint64_t key, stream which);
  std::vector<shard*> all_shards() const;

  // Looks for a span, or lets the pool grow by one. Null if no span is large enough. Called without a lock or with
  // `common_`.
  void* take_span(std::uint64_t bytes, std::uint64_t alignment);
  void* grow_span(std::uint64_t bytes, std::uint64_t alignment);

  // The following are called with `common_` held; a shard's lock may be taken then, and never the other way round.
  void* refill(stream on, void* span, std::uint64_t bytes);
  void wait_for_marks(shard& own);
  void drop_reached_marks();
  void gather(shard& from);
  void gather_all();
  void move_block(shard& own, void* block);
  typename span_map::iterator isolate(std::uint64_t begin, std::uint64_t bytes);
  typename span_map::iterator cut(typename span_map::iterator whole, std::uint64_t at);
  // These with the shard's lock too.
  void record_mark(shard& of);
  void gather_locked(shard& from);
  void orphan_blocks(shard& of);

  Streams streams_;
  stream_pool_options options_;
  std::uint64_t serial_ = new_serial();
  basic_pool<Engine> pool_;

  mutable host_mutex common_;
  span_map spans_;
  std::vector<mark_pointer> left_marks_;  // of forgotten streams, until they are reached
  std::unique_ptr<shard> orphans_;        // blocks of forgotten streams; null if it has none
  std::uint64_t gatherings_ = 0;
  std::uint64_t waits_ = 0;

  // Threads remember shards, so one that was made stays until the pool ends, and serves another stream when its own is
  // forgotten.
  mutable host_mutex registry_;
  std::vector<std::unique_ptr<shard>> shards_;
  std::vector<shard*> spare_;  // those without a key; as many as there are shards fit in
  std::unordered_map<std::uint64_t, shard*> by_key_;
};

/// The pool in the order of the machine's streams.
using stream_pool = basic_stream_pool<device_streams>;

}  // namespace warpheap

#include <warpheap/pool/detail/stream_pool.hpp>
#include <warpheap/pool/detail/stream_spans.hpp>
