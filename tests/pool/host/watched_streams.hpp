// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>
#include <warpheap/pool.hpp>

namespace warpheap::test {

/// Streams that run nothing and know what must come before what: each has a clock for every stream, its own counts its
/// work, and waiting for a mark takes over the clocks that the mark saw. Work that has finished comes before all that
/// any stream is given later.
class stream_world {
 public:
  using clocks = std::map<int, std::uint64_t>;

  /// More work on a stream; returns its number.
  std::uint64_t work(int stream) {
    const std::lock_guard lock(mutex_);
    join(seen_[stream], finished_);
    return ++seen_[stream][stream];
  }
  /// True if the `number`th work of `other` comes before what `stream` is given now.
  bool is_before(int other, std::uint64_t number, int stream) {
    const std::lock_guard lock(mutex_);
    join(seen_[stream], finished_);
    return seen_[stream][other] >= number;
  }
  clocks now(int stream) {
    const std::lock_guard lock(mutex_);
    join(seen_[stream], finished_);
    return seen_[stream];
  }
  void take_over(int stream, const clocks& mark) {
    const std::lock_guard lock(mutex_);
    join(seen_[stream], mark);
  }
  bool is_finished(const clocks& mark) {
    const std::lock_guard lock(mutex_);
    return std::all_of(mark.begin(), mark.end(),
                       [&](const auto& each) { return finished_[each.first] >= each.second; });
  }
  void finish(const clocks& mark) {
    const std::lock_guard lock(mutex_);
    join(finished_, mark);
  }
  /// True if all work of all streams is done.
  bool is_all_finished() {
    const std::lock_guard lock(mutex_);
    return std::all_of(seen_.begin(), seen_.end(), [&](const auto& each) {
      const auto own = each.second.find(each.first);
      return own == each.second.end() || finished_[each.first] >= own->second;
    });
  }
  void finish_all() {
    const std::lock_guard lock(mutex_);
    for (const auto& [stream, clock] : seen_) join(finished_, clock);
  }

  /// What each call about streams does first; it may throw.
  void call(int stream = -1) {
    if (++calls == fail_at) throw std::runtime_error("the call about streams number " + std::to_string(fail_at));
    if (stream == destroyed) ++calls_on_destroyed;
  }

  /// True if the stream is a part of the one capture that there is.
  bool is_captured(int stream) const {
    if (stream == own_of_each_thread) return capturing_thread == host_thread_serial();
    return stream == capturing || (stream >= 0 && stream == joined);
  }

  /// As `cudaStreamPerThread`: each thread names a stream of its own by it.
  static constexpr int own_of_each_thread = 2'000;
  std::uint64_t capturing_thread = 0;  ///< the serial of the thread whose own stream is being captured

  int capturing = -1;        ///< the stream that is being captured
  int joined = -1;           ///< another stream of the same capture
  int private_from = 1'000;  ///< streams from here on are their threads' own
  int destroyed = -1;        ///< a stream that no call may name
  std::function<void()> on_synchronise = [] {};
  std::atomic<int> calls_on_destroyed{0};
  std::atomic<int> records_in_capture{0};  ///< each a part of a graph, and never reached
  std::atomic<int> waits_in_capture{0};    ///< each an error, as what is waited for is no part of the graph
  std::atomic<std::uint64_t> calls{0};     ///< about streams, so far
  std::atomic<std::uint64_t> fail_at{0};   ///< the call with this number throws
  std::atomic<int> events{0};              ///< that were recorded and not given back

 private:
  static void join(clocks& into, const clocks& other) {
    for (const auto& [stream, count] : other) into[stream] = std::max(into[stream], count);
  }
  std::map<int, clocks> seen_;
  clocks finished_;
  std::mutex mutex_;
};

/// A `stream_order` over such a world.
class watched_streams {
 public:
  using stream = int;
  struct event {
    std::shared_ptr<stream_world::clocks> seen;
  };
  explicit watched_streams(stream_world& world) : world_(&world) {}

  std::uint64_t key(stream which) const {
    const auto number = static_cast<std::uint64_t>(which);
    return which == stream_world::own_of_each_thread ? number + host_thread_serial() : number;
  }
  bool is_shared(stream which) const { return which < world_->private_from; }
  bool is_capturing(stream which) const {
    world_->call(which);
    return world_->is_captured(which);
  }
  std::uint64_t capture_number(stream which) const {
    world_->call(which);
    return world_->is_captured(which) ? 77 : 0;
  }
  void record(event& mark, stream which) {
    world_->call(which);
    world_->records_in_capture += world_->is_captured(which);
    ++world_->events;
    mark.seen = {new stream_world::clocks(world_->now(which)), [world = world_](const stream_world::clocks* seen) {
                   --world->events;
                   delete seen;
                 }};
  }
  void wait(stream which, event& mark) {
    world_->call(which);
    world_->waits_in_capture += world_->is_captured(which);
    world_->take_over(which, *mark.seen);
  }
  bool is_finished(event& mark) {
    world_->call();
    return !mark.seen || world_->is_finished(*mark.seen);
  }
  void synchronise(event& mark) {
    world_->call();
    world_->on_synchronise();
    if (mark.seen) world_->finish(*mark.seen);
  }

 private:
  stream_world* world_;
};
static_assert(stream_order<watched_streams>);

/// The last user of each byte: a block may be handed out for a stream only if all its earlier users come before.
class usage_watch {
 public:
  explicit usage_watch(stream_world& world) : world_(world) {}

  /// A block is handed out for `stream`, which uses it. Returns false if a user before could still be at it, or if it
  /// overlaps one that is live.
  bool begin(int stream, const void* block, std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    const auto begin = reinterpret_cast<std::uintptr_t>(block);
    bool ordered = true;
    for (auto at = first_touching(begin); at != uses_.end() && at->first < begin + bytes;) {
      if (at->second.live || !world_.is_before(at->second.stream, at->second.number, stream)) {
        ordered = false;
        complaint = (at->second.live ? "live on stream " : "freed on stream ") + std::to_string(at->second.stream);
      }
      for (const auto& [other, number] : at->second.beside) {
        if (world_.is_before(other, number, stream)) continue;
        ordered = false;
        complaint = "noted to be used on stream " + std::to_string(other);
      }
      // What sticks out on either side keeps its last user.
      const auto [old_begin, old] = *at;
      at = uses_.erase(at);
      if (old_begin < begin) uses_[old_begin] = part_of(old, begin - old_begin);
      if (old_begin + old.bytes > begin + bytes) {
        at = uses_.insert_or_assign(begin + bytes, part_of(old, old_begin + old.bytes - begin - bytes)).first;
      }
    }
    const std::uint64_t number = world_.work(stream);
    uses_[begin] = {bytes, stream, number, true, world_.now(stream), {}};
    return ordered;
  }
  /// True if nothing uses the memory: no block there is live, and all work that used one is done.
  bool is_unused(const void* memory, std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    const auto begin = reinterpret_cast<std::uintptr_t>(memory);
    for (auto at = first_touching(begin); at != uses_.end() && at->first < begin + bytes; ++at) {
      stream_world::clocks users = at->second.beside;
      users[at->second.stream] = std::max(users[at->second.stream], at->second.number);
      if (at->second.live || !world_.is_finished(users)) return false;
    }
    return true;
  }
  /// The block is used on `stream`, after it was handed out and beside whatever uses it then.
  void use_beside(int stream, const void* block) {
    const std::lock_guard lock(mutex_);
    use& last = uses_.at(reinterpret_cast<std::uintptr_t>(block));
    world_.take_over(stream, last.seen);
    last.beside[stream] = world_.work(stream);
  }
  /// The block is used on `stream` once more, after all its users before, and taken back there.
  void end(int stream, const void* block) {
    const std::lock_guard lock(mutex_);
    use& last = uses_.at(reinterpret_cast<std::uintptr_t>(block));
    world_.take_over(stream, last.seen);  // and so after all that the earlier users came after
    const std::uint64_t number = world_.work(stream);
    last = {last.bytes, stream, number, false, world_.now(stream), std::move(last.beside)};
  }

  std::string complaint;  ///< about the last block that was handed out too early

 private:
  struct use {
    std::uint64_t bytes;
    int stream;
    std::uint64_t number;
    bool live;
    stream_world::clocks seen;
    std::map<int, std::uint64_t> beside;  // the last work of each stream that used it beside these
  };
  static use part_of(use whole, std::uint64_t bytes) {
    whole.bytes = bytes;
    return whole;
  }
  std::map<std::uint64_t, use>::iterator first_touching(std::uint64_t begin) {
    auto at = uses_.upper_bound(begin);
    if (at != uses_.begin() && std::prev(at)->first + std::prev(at)->second.bytes > begin) --at;
    return at;
  }
  stream_world& world_;
  std::map<std::uint64_t, use> uses_;
  std::mutex mutex_;
};

}  // namespace warpheap::test
