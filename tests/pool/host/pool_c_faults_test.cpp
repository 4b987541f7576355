// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The C interface of pools when a call of theirs fails: of the device, about streams, or for host memory. The library
// is compiled into this program, since a shared one lets no test reach its calls.

#include <gtest/gtest.h>
#include <warpheap/pool/pool.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <new>
#include <string>
#include <support/fail_after.hpp>
#include <vector>
#include <warpheap/pool.hpp>

namespace warpheap::pool_c_faults_test {
namespace {

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;

// Requests for host memory of this thread, as far as one of them is to fail.
struct host_memory {
  bool counts = false;
  std::uint64_t calls = 0;
  std::uint64_t fail_at = 0;
  std::uint64_t bytes = 0;
};
thread_local constinit host_memory requests;

void* take(std::size_t bytes) {
  requests.bytes += bytes;
  if (requests.counts && ++requests.calls == requests.fail_at) throw std::bad_alloc();
  if (void* const memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
  throw std::bad_alloc();
}
void* take_aligned(std::size_t bytes, std::align_val_t alignment) {
  if (requests.counts && ++requests.calls == requests.fail_at) throw std::bad_alloc();
  const auto multiple = static_cast<std::size_t>(alignment);
  if (void* const memory = std::aligned_alloc(multiple, (bytes + multiple - 1) / multiple * multiple)) return memory;
  throw std::bad_alloc();
}

}  // namespace
}  // namespace warpheap::pool_c_faults_test

void* operator new(std::size_t bytes) { return warpheap::pool_c_faults_test::take(bytes); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return warpheap::pool_c_faults_test::take_aligned(bytes, alignment);
}

// None is inlined: where the compiler inlines a `delete` and not the `new` before it, it warns that `std::free` is no
// end for memory from `new`.
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace warpheap::pool_c_faults_test {
namespace {

// What may go wrong, one call at a time.
enum class fault { device_memory, streams, host_memory };

// Lets the call with this number fail, from 1 on.
class one_fault {
 public:
  one_fault(fault kind, std::uint64_t at) : kind_(kind) {
    if (kind == fault::host_memory) {
      requests = {.counts = true, .fail_at = at};
    } else {
      plan_ = new host::fail_after(at - 1,
                                   kind == fault::streams ? host::device_calls::stream : host::device_calls::memory);
    }
  }
  ~one_fault() {
    requests = {};
    delete plan_;
  }
  one_fault(const one_fault&) = delete;
  one_fault& operator=(const one_fault&) = delete;

  bool has_failed() const {
    return kind_ == fault::host_memory ? requests.calls >= requests.fail_at : plan_->has_failed();
  }

 private:
  fault kind_;
  host::fail_after* plan_ = nullptr;
};

char names[8];  // any pointer is a stream

wh_pool_statistics figures_of(wh_pool* pool) {
  wh_pool_statistics figures{};
  figures.struct_bytes = sizeof(figures);
  EXPECT_EQ(wh_pool_statistics_of(pool, &figures), WH_POOL_OK) << wh_pool_error();
  return figures;
}

void expect_whole(const wh_pool_statistics& now) {
  EXPECT_EQ(now.committed_bytes,
            now.live_bytes + now.deferred_bytes + now.stream_bytes + now.private_bytes + now.common_bytes)
      << "memory was lost";
  EXPECT_EQ(now.live_blocks, now.allocations - now.deallocations);
  EXPECT_EQ(now.live_bytes, now.allocated_bytes - now.deallocated_bytes);
}

class pool_c_faults : public testing::TestWithParam<fault> {
 protected:
  // A step that may fail once with a sentence, and then must have changed no block; it is then done again.
  void step(wh_pool* pool, const std::function<wh_pool_status()>& call) {
    const wh_pool_statistics before = figures_of(pool);
    wh_pool_status how = WH_POOL_OK;
    bool failed = false;
    {
      const one_fault armed(GetParam(), at_);
      how = call();
      failed = armed.has_failed();
    }
    ++steps_;
    if (!failed) {
      EXPECT_EQ(how, WH_POOL_OK) << wh_pool_error();
      return;
    }
    ++failures_;
    const wh_pool_statistics after = figures_of(pool);
    expect_whole(after);
    if (how == WH_POOL_OK) return;  // it did without
    EXPECT_NE(how, WH_POOL_INTERNAL_ERROR) << wh_pool_error();
    EXPECT_NE(how, WH_POOL_INVALID_ARGUMENT) << wh_pool_error();
    EXPECT_EQ(after.live_blocks, before.live_blocks);
    EXPECT_EQ(after.live_bytes, before.live_bytes);
    EXPECT_EQ(after.captures, before.captures);
    EXPECT_EQ(call(), WH_POOL_OK) << wh_pool_error();
  }
  // Each kind of call, with the fault at call `at_` of each.
  void all_steps() {
    wh_pool_options options{};
    options.struct_bytes = sizeof(options);
    options.reserve_bytes = 8 * mebibyte;
    options.span_bytes = mebibyte;
    options.piece_bytes = mebibyte / 2;
    options.device = -1;
    wh_pool* pool = nullptr;
    ASSERT_EQ(wh_pool_make(&options, &pool), WH_POOL_OK) << wh_pool_error();
    const auto allocate = [&](std::uint64_t bytes, int stream) {
      void* block = nullptr;
      step(pool, [&] { return wh_pool_allocate(pool, bytes, 0, &names[stream], &block); });
      EXPECT_NE(block, nullptr);
      return block;
    };
    const auto deallocate = [&](void* block, int stream) {
      step(pool, [&] { return wh_pool_deallocate(pool, block, &names[stream]); });
    };
    const auto note = [&](void* block, int stream) {
      step(pool, [&] { return wh_pool_note_use(pool, block, &names[stream]); });
    };
    std::vector<void*> small;
    for (int i = 0; i < 40; ++i) small.push_back(allocate(1000, 0));
    for (void* const each : small) note(each, 5);
    void* const a = allocate(3 * mebibyte, 1);
    void* const b = allocate(2 * mebibyte, 2);
    note(a, 2);
    note(a, 3);
    deallocate(a, 1);
    deallocate(b, 3);
    void* const c = allocate(6 * mebibyte, 4);
    step(pool, [&] { return wh_pool_forget(pool, &names[1]); });
    step(pool, [&] { return wh_pool_forget(pool, &names[0]); });
    deallocate(c, 4);
    const auto belongs = [](void*, void* stream) { return stream == &names[6] || stream == &names[7] ? 1 : 0; };
    step(pool, [&] { return wh_pool_begin_capture(pool, 1, 2, &names[6], belongs, nullptr); });
    void* const d = allocate(5 * mebibyte, 6);
    void* const e = allocate(1000, 7);
    note(d, 7);
    deallocate(d, 6);
    deallocate(e, 6);
    void* const f = allocate(2000, 7);
    step(pool, [&] { return wh_pool_end_capture(pool, 1, 2); });
    step(pool, [&] { return wh_pool_release_capture(pool, 1, 2, &names[5]); });
    deallocate(f, 5);
    for (void* const each : small) deallocate(each, 2);
    EXPECT_GE(figures_of(pool).deferred_bytes, 40u * 1024) << "notes were lost";
    std::uint64_t needed = 0;
    step(pool, [&] { return wh_pool_snapshot(pool, nullptr, 0, &needed); });
    step(pool, [&] { return wh_pool_trim(pool, 0, nullptr); });
    void* const all = allocate(8 * mebibyte, 1);
    deallocate(all, 1);
    EXPECT_EQ(wh_pool_trim(pool, 0, nullptr), WH_POOL_OK) << wh_pool_error();
    const wh_pool_statistics now = figures_of(pool);
    EXPECT_EQ(now.live_blocks, 0u);
    EXPECT_EQ(now.committed_bytes, 0u);
    EXPECT_EQ(wh_pool_end(pool), WH_POOL_OK) << wh_pool_error();
  }

  std::uint64_t at_ = 0;
  std::uint64_t steps_ = 0;
  std::uint64_t failures_ = 0;
};

TEST_P(pool_c_faults, each_call_of_each_function_may_fail) {
  std::uint64_t last = 0;
  for (at_ = 1; !HasFailure(); ++at_) {
    SCOPED_TRACE(at_);
    failures_ = 0;
    all_steps();
    if (failures_ == 0) break;  // no function makes so many calls
    last = failures_;
  }
  EXPECT_GT(at_, 2u) << "nothing failed";
  EXPECT_GT(last, 0u);
}

TEST_P(pool_c_faults, a_pool_that_cannot_be_made_leaves_nothing) {
  wh_pool* pool = nullptr;
  wh_pool_options options{};
  options.struct_bytes = sizeof(options);
  options.reserve_bytes = 8 * mebibyte;
  options.initial_bytes = 2 * mebibyte;
  options.piece_bytes = mebibyte;
  options.device = -1;
  for (const std::uint32_t flags : {0u, std::uint32_t{WH_POOL_SHARED}}) {
    options.flags = flags;
    for (std::uint64_t at = 1;; ++at) {
      wh_pool_status how = WH_POOL_OK;
      bool failed = false;
      {
        const one_fault armed(GetParam(), at);
        how = wh_pool_make(&options, &pool);
        failed = armed.has_failed();
      }
      if (!failed) {
        EXPECT_EQ(how, WH_POOL_OK) << wh_pool_error();
        break;
      }
      EXPECT_EQ(how, WH_POOL_OUT_OF_MEMORY) << wh_pool_error();
      EXPECT_EQ(pool, nullptr);
      EXPECT_NE(std::string(wh_pool_error()), "");
    }
    EXPECT_EQ(wh_pool_end(pool), WH_POOL_OK) << wh_pool_error();
    pool = nullptr;
  }
}

// A list that grew by one at a time would be copied for each block.
TEST(pool_c_host_memory, many_deferred_blocks_cost_the_same_each) {
  constexpr std::uint64_t count = 4'000;
  wh_pool_options options{};
  options.struct_bytes = sizeof(options);
  options.reserve_bytes = 8 * mebibyte;
  options.device = -1;
  wh_pool* pool = nullptr;
  ASSERT_EQ(wh_pool_make(&options, &pool), WH_POOL_OK) << wh_pool_error();
  std::vector<void*> blocks(count);
  for (void*& each : blocks) ASSERT_EQ(wh_pool_allocate(pool, 1, 0, &names[0], &each), WH_POOL_OK);
  requests = {};
  for (void* const each : blocks) {
    ASSERT_EQ(wh_pool_note_use(pool, each, &names[1]), WH_POOL_OK);
    ASSERT_EQ(wh_pool_deallocate(pool, each, &names[0]), WH_POOL_OK);
  }
  EXPECT_LT(requests.bytes / count, 4'096u);
  EXPECT_EQ(wh_pool_end(pool), WH_POOL_OK);
}

INSTANTIATE_TEST_SUITE_P(faults, pool_c_faults,
                         testing::Values(fault::device_memory, fault::streams, fault::host_memory), [](const auto& of) {
                           return of.param == fault::device_memory ? "device_memory"
                                  : of.param == fault::streams     ? "streams"
                                                                   : "host_memory";
                         });

}  // namespace
}  // namespace warpheap::pool_c_faults_test
