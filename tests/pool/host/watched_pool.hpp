// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <warpheap/pool.hpp>

#include "watched_streams.hpp"

namespace warpheap::test {

constexpr std::uint64_t kib = 1024;
constexpr std::uint64_t mib = 1024 * kib;

/// A test of stream pools whose streams and blocks are watched.
template <class Engine>
class watched_pool : public testing::Test {
 protected:
  using pool_type = basic_stream_pool<watched_streams, Engine>;
  stream_world world;
  usage_watch watch{world};

  std::unique_ptr<pool_type> make(std::uint64_t bytes, std::uint64_t span_bytes = 64 * kib,
                                  std::uint64_t most_bytes = ~std::uint64_t{0}) {
    stream_pool_options options;
    options.pool.most_bytes = most_bytes;
    options.span_bytes = options.capture_span_bytes = span_bytes;
    options.counts_usage = true;
    return std::make_unique<pool_type>(std::make_unique<host_space>(bytes, 64 * kib), options, watched_streams(world));
  }
  void* allocate(pool_type& pool, int stream, std::uint64_t bytes) {
    void* const block = pool.allocate(stream, bytes);
    EXPECT_TRUE(watch.begin(stream, block, bytes))
        << "stream " << stream << " got memory that is in use: " << watch.complaint << " for " << bytes;
    return block;
  }
  void deallocate(pool_type& pool, int stream, void* block) {
    watch.end(stream, block);
    pool.deallocate(stream, block);
  }
  // Notes a use by `stream`, which uses the block.
  void use(pool_type& pool, int stream, void* block) {
    watch.use_beside(stream, block);
    pool.note_use(stream, block);
    if (stream < world.private_from) watch.use_beside(stream, block);
  }
};
using engines = testing::Types<segregated_fit, tree_fit>;

}  // namespace warpheap::test
