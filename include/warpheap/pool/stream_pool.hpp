// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>
#include <warpheap/platform.hpp>
#include <warpheap/pool/detail/joined_stretch.hpp>
#include <warpheap/pool/detail/noted_uses.hpp>
#include <warpheap/pool/detail/usage_meter.hpp>
#include <warpheap/pool/pool.hpp>
#include <warpheap/pool/stream_order.hpp>
#include <warpheap/pool/usage.hpp>

namespace warpheap {

/// A stream that the pool cannot serve: it is being captured into a graph, which would run with addresses that others
/// have by then, and no capture was begun for it. Nothing has changed.
class stream_refused : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// How a stream pool deals out its memory.
struct stream_pool_options {
  /// A stream that has no memory for a request takes what it needs from the pool, and what is free after that, up to
  /// this many bytes in all.
  std::uint64_t span_bytes = std::uint64_t{32} << 20;
  /// As `span_bytes`, for a stream in a capture that was begun: what it does not use is kept with the capture.
  std::uint64_t capture_span_bytes = std::uint64_t{2} << 20;
  /// Count blocks and bytes, and their peaks. All threads then share one more lock, which is held for a few steps.
  bool counts_usage = false;
  /// With `counts_usage`: is told of each change of the figures. Null, or the caller's own, which outlives the pool.
  usage_observer* observer = nullptr;
  /// Figures of the common pool.
  pool_options pool = {};
};

/// Names a capture of a stream pool, and the memory that the pool keeps for it.
struct capture_name {
  std::uint64_t first = 0;   ///< one half of the name
  std::uint64_t second = 0;  ///< the other half
  /// Names are equal if both halves are.
  auto operator<=>(const capture_name&) const = default;
};

/// What a stream pool has taken and handed out, at one moment, in bytes.
struct stream_pool_statistics {
  std::uint64_t reserved_bytes;        ///< addresses that the pool can grow over
  std::uint64_t committed_bytes;       ///< of them with memory
  std::uint64_t live_bytes;            ///< in blocks that were not taken back
  std::uint64_t live_blocks;           ///< such blocks
  std::uint64_t stream_bytes;          ///< free, and kept for the stream that freed them
  std::uint64_t common_bytes;          ///< free, for any stream
  std::uint64_t streams;               ///< streams that the pool knows
  std::uint64_t gatherings;            ///< times that the streams' free memory was put together
  std::uint64_t waits;                 ///< times that a stream was told to wait for another
  std::uint64_t deferred_bytes;        ///< taken back, while streams that were noted may still use them
  std::uint64_t deferred_blocks;       ///< such blocks
  std::uint64_t private_bytes;         ///< free, and kept for captures
  std::uint64_t captures;              ///< captures whose memory is kept
  std::uint64_t failures;              ///< requests that ended as out of memory
  std::uint64_t peak_committed_bytes;  ///< the most since the pool was made or `reset_peaks`
  // The following are 0 unless `stream_pool_options::counts_usage` is set.
  std::uint64_t peak_live_bytes;    ///< the most since the pool was made or `reset_peaks`
  std::uint64_t peak_live_blocks;   ///< the most since the pool was made or `reset_peaks`
  std::uint64_t allocations;        ///< blocks ever handed out
  std::uint64_t allocated_bytes;    ///< in these
  std::uint64_t deallocations;      ///< blocks ever taken back
  std::uint64_t deallocated_bytes;  ///< in these
};

/// A pool in stream order: a block may be taken back while work on its stream still uses it.
///
/// Memory that is taken back on a stream can be handed out on that stream at once, as work there runs in order. Another
/// stream gets it only after an event: its work waits, on the device, until the work is done that came before. The
/// host never waits but in `trim`, at the end, when a capture takes memory that work still uses, and before a request
/// would fail.
///
/// Each stream has spans of addresses with a book and a lock of its own, so threads on different streams seldom meet.
/// What its spans cannot hold is taken from a pool in common, which grows; when that has nothing either, a stretch that
/// streams have free together is put together there, after an event of each. If there is no such stretch, the host
/// waits for the work that used what is free, and whole pieces of it go where addresses lie in a row. So a request
/// fails only if the space has no memory for it, and what is free can hold it neither where it is nor in whole pieces,
/// unless others outside of the pool take what was given back.
///
/// All members can be called by any host thread at any time. For memory of a GPU the memory's device is the current one
/// of that thread: events and default streams are of the current device. Streams that are being captured are refused,
/// unless they belong to a capture that was begun. Before a stream is destroyed, `forget` it.
template <stream_order Streams, segment_engine Engine = segregated_fit>
class basic_stream_pool {
 public:
  /// Names a stream.
  using stream = typename Streams::stream;

  /// A pool over `space`, which it owns. Throws what `basic_pool` throws.
  explicit basic_stream_pool(std::unique_ptr<pool_space> space, stream_pool_options options = {}, Streams streams = {});
  basic_stream_pool(const basic_stream_pool&) = delete;
  basic_stream_pool& operator=(const basic_stream_pool&) = delete;
  /// Waits for the work so far of each stream that is not forgotten, and of those that `note_use` named for a block,
  /// and gives all memory back. (Of a thread's own stream, for the work before the last `deallocate` or `note_use`
  /// there.) No stream of the pool may be captured then: its work could not be waited for.
  ~basic_stream_pool();

  /// A block of at least `bytes` bytes for work on `on`, at a multiple of `alignment`, a power of two, and of the
  /// granule. For a stream that belongs to a capture that was begun it is the capture's own. Throws `out_of_memory` if
  /// nothing can hold it, `std::invalid_argument` for an alignment that is no power of two, `stream_refused` for
  /// another stream that is being captured, and what the streams and the space throw while memory moves for it.
  void* allocate(stream on, std::uint64_t bytes, std::uint64_t alignment = 1);
  /// Takes a block back, after all work that `on` was given so far; null is ignored. It need not be the stream that
  /// the block was handed out on, but work of others that uses the block must come before, as for a launch on `on`. (It
  /// then takes time with the logarithm of the number of spans.) Streams that were noted by `note_use` are waited for:
  /// the memory is handed out when each of them has done what it was given before this call. Throws `unknown_block` if
  /// no block begins there, and `stream_refused` as `allocate` does; nothing has changed then.
  ///
  /// A block of a capture goes back to it: to the stream `on` if that belongs to the capture, else to the stream that
  /// it was handed out on. Graphs of the capture are then launched after the work that used the block. Another block
  /// that is taken back on a stream that belongs to a capture is free when the stream is not captured any more.
  void deallocate(stream on, void* block);
  /// Notes that work of `on` uses the block: work that the stream is given before the block is taken back. Of a stream
  /// that only the calling thread can name, work before this call. Null is ignored. Throws `unknown_block` if no block
  /// begins there, and `stream_refused` for a captured stream that only the calling thread can name.
  void note_use(stream on, void* block);

  /// Begins a capture: from now on streams for which `belongs(stream)` is true take their blocks from memory that is
  /// the capture's own, until the capture is ended. A graph that was captured finds its blocks there each time it runs,
  /// as the pool gives them to nobody else until the capture is released. A block that is taken back is handed out only
  /// to the same stream in captures of the same name: their graphs run one after another. `belongs` is called under a
  /// lock, by the thread that allocates; it must not call the pool. Throws `std::invalid_argument` if a capture of that
  /// name was begun and not ended.
  void begin_capture(capture_name name, std::function<bool(stream)> belongs);
  /// Begins a capture to which `captured` belongs, and each stream that is being captured together with it.
  void begin_capture(capture_name name, stream captured);
  /// Ends a capture; its memory is kept. `belongs` is not called any more when this returns. Throws
  /// `std::invalid_argument` if no capture of that name was begun.
  void end_capture(capture_name name);
  /// Releases what one `begin_capture` of that name kept. After as many releases as there were begins, the capture's
  /// memory is for all streams, after the work that each release's `after` was given by then: runs of the graphs come
  /// before that, as for a launch on `after`. Blocks that are live stay so. Throws `std::invalid_argument` if nothing
  /// is kept under that name or the capture was not ended, and `stream_refused` for a stream that is being captured. A
  /// call that throws can be made again.
  void release_capture(capture_name name, stream after);

  /// Puts what the stream has free into the common pool, after an event, and forgets the stream; another that is made
  /// later may have its name. Blocks that were handed out on it stay, and are taken back on another. What the pool kept
  /// for the stream is given back, the event when it is reached. Throws `stream_refused` for a stream that is being
  /// captured, and what the streams throw; the stream is not forgotten then.
  void forget(stream which);
  /// Gives memory that no block lies in back to the machine, after all work that came before it was freed is done;
  /// returns how many bytes. At least `keep_bytes` stay committed. Captures, and streams that are being captured, keep
  /// theirs. Waits without a lock, so other threads go on; if they put memory together again and again meanwhile,
  /// nothing is given back.
  std::uint64_t trim(std::uint64_t keep_bytes = 0);
  /// From now on the pool grows to no more than this many bytes; what it has above that it keeps until `trim`. Before
  /// a request fails for that, whole pieces of free memory go where they make it fit. Throws `std::invalid_argument`
  /// where the space takes all memory at once.
  void limit(std::uint64_t most_bytes) { pool_.limit(most_bytes); }
  /// Lets another device reach all blocks, those that are handed out later too. Its streams are still none of the
  /// pool's: their work comes between that of streams that are. Throws what the space throws.
  void allow_peer(int device) { pool_.allow_peer(device); }
  /// Bytes of the live block that begins there, its rounding included; 0 if none does.
  std::uint64_t block_bytes(const void* block) const;
  /// Makes each peak of the figures what it is a peak of now.
  void reset_peaks();
  /// All segments in the order of their addresses, as one JSON object. Its members are `base`, a hexadecimal address as
  /// text, `reserved_bytes`, `granule_bytes`, and `segments`: objects with `offset`, `bytes`, and `state`, which is
  /// `live`, `deferred`, `free` or `absent`. Live and free ones that a stream has also have `stream`, its key as
  /// hexadecimal text, and those of a capture have `capture`, the two halves of its name. What another thread takes at
  /// that moment may be left out.
  std::string snapshot() const;
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
    segment_handle adopt(std::uint64_t begin, std::uint64_t bytes, segment_state state) {
      const segment_handle made = Engine::adopt(begin, bytes, state);
      gains += state == segment_state::free;
      return made;
    }
    segment_handle deallocate(segment_handle handle) {
      ++gains;
      return Engine::deallocate(handle);
    }
    std::uint64_t gains = 0;  // times that something became free in the book
  };
  struct private_pool;
  using uses = pool_detail::noted_uses<Streams>;
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
    std::unordered_map<std::uint64_t, uses> notes;  // of its live blocks, by their begin
    private_pool* of = nullptr;                     // the capture that it is a part of
    mutable host_mutex mutex;
  };
  // What a capture keeps: a shard for each stream, none of which has a mark. Used with `common_` held.
  struct private_pool {
    std::uint64_t begun = 0;  // captures of the name that were not released
    bool is_open = false;
    std::map<std::uint64_t, std::unique_ptr<shard>> shards;
    // After work that is in no graph and came before its stream took a block back, and after each release so far.
    std::vector<mark_pointer> last_uses;
  };
  struct open_capture {
    std::shared_ptr<private_pool> of;
    std::function<bool(stream)> belongs;
  };
  // A mark that a thread waits for without a lock.
  struct awaited {
    shard* of;  // null for a mark of `left_marks_`
    mark_pointer mark;
  };
  // Free and absent segments, and which books they are in.
  struct idle_memory {
    std::vector<shard*> shards;
    std::vector<host_lock> locks;
    std::vector<pool_detail::idle_part> parts;  // book `i` is shard `i - 1`
  };
  // A request for which no memory could be put together nor moved, and what `changes` told before the books were looked
  // at.
  struct refusal {
    std::uint64_t changes = 0;
    std::uint64_t bytes = ~std::uint64_t{0};  // more than any request has
    std::uint64_t alignment = 0;

    bool covers(const refusal& other) const {
      return changes == other.changes && bytes <= other.bytes && alignment <= other.alignment;
    }
  };
  struct span {
    std::uint64_t bytes;
    shard* owner;
  };
  using span_map = std::map<std::uint64_t, span>;
  // A block that was taken back while uses of it are not over. It is in no shard's book, so nobody can take it back
  // again, and still live in the common pool's. Its spans are kept here, so that giving them on needs no host memory.
  struct deferred_block {
    std::uint64_t bytes = 0;
    uses until;
    std::vector<typename span_map::node_type> parts;
    shard* home = nullptr;  // of a capture; null: it is for all streams
  };

  static std::uint64_t number(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

  [[noreturn]] static void refuse();
  void refuse_capture(stream which);
  std::pair<shard*, host_lock> own_shard(stream which);
  shard* find_or_make(std::uint64_t key, stream which);
  std::vector<shard*> all_shards() const;

  // Waits for marks, and lets go of them. Called without a lock.
  void await(std::vector<awaited>& unreached);

  // The capture that was begun and that the stream belongs to; null if it belongs to no capture. Called without
  // `common_`.
  std::shared_ptr<private_pool> find_capture(stream which);
  void* allocate_private(private_pool& of, stream on, std::uint64_t bytes, std::uint64_t alignment);
  void open(capture_name name, std::function<bool(stream)> belongs);

  // The following are called with `common_` held; a shard's lock may be taken then, and never the other way round.
  // These let go of `common_` meanwhile.
  void* obtain_span(host_lock& common, std::uint64_t bytes, std::uint64_t alignment, std::uint64_t span_bytes);
  void await_all_marks(host_lock& common);
  bool free_pieces_for(host_lock& common, std::uint64_t bytes, std::uint64_t alignment);
  template <class Keep>
  std::uint64_t trim_after_marks(host_lock& common, Keep keep_bytes);

  void* refill(shard& own, void* span, std::uint64_t bytes);
  void* refill_or_return(stream on, void* span, std::uint64_t bytes, private_pool* of);
  shard& private_shard(private_pool& of, stream on);
  shard& owner_of(const void* block) const;
  void take_back(stream on, void* block, bool is_captured, const private_pool* capture);
  void take_back_private(shard& owner, stream on, std::uint64_t begin, bool is_captured, const private_pool* capture);
  void keep_last_use(private_pool& of, stream which);
  void defer(shard& owner, std::uint64_t begin, uses until);
  void release_deferred();
  bool give_on(deferred_block& each);
  bool gather_deferred();
  void hand_over(shard& from, const std::vector<segment_view>& idle);
  void drop_orphans_without_blocks();
  std::vector<awaited> unreached_marks();
  void wait_for_marks(shard& own);
  void drop_reached_marks();
  void gather(shard& from);
  void gather_all();
  bool gather_for(std::uint64_t bytes, std::uint64_t alignment, std::uint64_t most, bool takes_all);
  idle_memory look_at_idle();
  std::uint64_t changes() const;
  void hand_over(const idle_memory& idle, std::span<const pool_detail::idle_part> parts);
  void move_block(shard& own, void* block);
  typename span_map::iterator isolate(std::uint64_t begin, std::uint64_t bytes);
  typename span_map::iterator cut(typename span_map::iterator whole, std::uint64_t at);
  // These with the registry's lock too. `visit(uses)` sees all uses that are noted, each under its shard's lock, which
  // the caller holds for `locked`.
  template <class Visit>
  void for_each_uses(const shard* locked, Visit visit);
  mark_pointer mark_uses_of(std::uint64_t key, stream which);
  // These with the shard's lock too.
  void record_mark(shard& of);
  bool show_mark(shard& own);
  void gather_locked(shard& from);
  void orphan_blocks(shard& of);

  Streams streams_;
  stream_pool_options options_;
  std::uint64_t serial_ = new_serial();
  basic_pool<Engine> pool_;
  pool_detail::usage_meter meter_{options_.counts_usage, options_.observer};

  mutable host_mutex common_;
  span_map spans_;
  std::vector<mark_pointer> left_marks_;  // of forgotten streams, until they are reached
  std::unique_ptr<shard> orphans_;        // blocks of forgotten streams and released captures; null if it has none
  std::vector<deferred_block> deferred_;
  std::map<capture_name, std::shared_ptr<private_pool>> captures_;
  std::uint64_t gatherings_ = 0;
  std::uint64_t waits_ = 0;
  refusal refused_;  // the latest; under `common_`, as what follows
  std::uint64_t gains_of_forgotten_ = 0;
  std::uint64_t partial_looks_ = 0;  // those that left free memory of a stream out

  // Those that were begun and not ended. The lock is held while it is asked which a stream belongs to, and taken after
  // `common_`.
  host_mutex begun_mutex_;
  std::vector<open_capture> begun_;
  host_count begun_count_;

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

#include <warpheap/pool/detail/stream_captures.hpp>
#include <warpheap/pool/detail/stream_deferral.hpp>
#include <warpheap/pool/detail/stream_gathering.hpp>
#include <warpheap/pool/detail/stream_pool.hpp>
#include <warpheap/pool/detail/stream_snapshot.hpp>
#include <warpheap/pool/detail/stream_spans.hpp>
