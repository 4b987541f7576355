// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Adaptors when something beside them goes wrong: callbacks that call back, blocks of others, logs and sources that
// fail.

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <functional>
#include <iomanip>
#include <ios>
#include <locale>
#include <memory>
#include <ostream>
#include <sstream>
#include <stdexcept>
#include <streambuf>
#include <string>
#include <support/other_thread.hpp>
#include <utility>
#include <vector>
#include <warpheap/pool.hpp>

namespace warpheap::adaptor_faults_test {
namespace {

constexpr std::uint64_t kib = 1024;
constexpr std::uint64_t mib = 1024 * kib;

// A pool whose calls fail on demand, as an upstream does whose runtime refuses.
class failing_source {
 public:
  enum class failure { none, refuses, took_it_back };
  explicit failing_source(pool& blocks) : blocks_(&blocks) {}
  void* allocate(std::uint64_t bytes, std::uint64_t alignment = 1) {
    if (on_allocate == failure::refuses) throw out_of_memory(bytes, "none left today");
    return blocks_->allocate(bytes, alignment);
  }
  void deallocate(void* block) {
    if (on_deallocate == failure::refuses) throw std::runtime_error("not today");
    blocks_->deallocate(block);
    if (on_deallocate == failure::took_it_back) throw damaged_block("it was damaged");
  }
  std::uint64_t block_bytes(const void* block) const { return blocks_->block_bytes(block); }

  failure on_allocate = failure::none;
  failure on_deallocate = failure::none;

 private:
  pool* blocks_;
};
static_assert(block_source<failing_source>);
using failure = failing_source::failure;

class adaptor_faults : public testing::Test {
 protected:
  pool blocks{std::make_unique<host_space>(mib, 64 * kib)};
};

// Makes an adaptor over a retry_adaptor whose callback frees and reads through it.
template <class Make, class Read>
void call_back_into(pool& blocks, Make make, Read read) {
  std::function<bool()> callback;
  retry_adaptor patient(blocks, [&](std::uint64_t, std::uint64_t) { return callback(); });
  auto top = make(patient);
  void* hoard = top->allocate(800 * kib);
  test::other_thread other;
  bool has_freed = false;
  callback = [&] {
    if (has_freed) return false;
    has_freed = true;
    EXPECT_TRUE(other.ends([&] { EXPECT_GE(top->block_bytes(hoard), 800 * kib); })) << "block_bytes hangs";
    EXPECT_TRUE(other.ends([&] { read(*top); })) << "reading hangs";
    return other.ends([&] { top->deallocate(hoard); });
  };
  void* block = nullptr;
  EXPECT_NO_THROW(block = top->allocate(700 * kib)) << "the callback could not make room";
  if (block != nullptr) top->deallocate(block);
  EXPECT_EQ(blocks.statistics().live_blocks, 0u);
}

TEST_F(adaptor_faults, a_callback_can_free_and_read_through_each_adaptor_above) {
  using patient = retry_adaptor<pool>;
  call_back_into(
      blocks, [](patient& below) { return std::make_unique<limit_adaptor<patient>>(below, 2 * mib); },
      [](auto& top) { EXPECT_GE(top.live_bytes(), 800 * kib); });
  call_back_into(
      blocks, [](patient& below) { return std::make_unique<counting_adaptor<patient>>(below); },
      [](auto& top) { EXPECT_EQ(top.counts().live_blocks, 1u); });
  call_back_into(
      blocks, [](patient& below) { return std::make_unique<tracking_adaptor<patient>>(below); },
      [](auto& top) { EXPECT_NE(top.leak_report(), ""); });
  std::ostringstream log;
  call_back_into(
      blocks, [&](patient& below) { return std::make_unique<logging_adaptor<patient>>(below, log); }, [](auto&) {});
  EXPECT_EQ(log.str(), "+ 1 819200 1\n- 1\n+ 2 716800 1\n- 2\n");
  call_back_into(
      blocks, [](patient& below) { return std::make_unique<checked_adaptor<patient>>(below, host_access()); },
      [](auto&) {});
}

TEST_F(adaptor_faults, a_block_of_another_is_passed_on_and_not_counted) {
  limit_adaptor limited(blocks, 10 * kib);
  void* const own = limited.allocate(kib);
  limited.deallocate(blocks.allocate(2 * kib));
  EXPECT_EQ(limited.live_bytes(), kib);
  EXPECT_THROW(limited.allocate(10 * kib), out_of_memory);
  limited.deallocate(own);
  EXPECT_EQ(limited.live_bytes(), 0u);

  counting_adaptor counted(blocks);
  counted.deallocate(blocks.allocate(2 * kib));
  EXPECT_EQ(counted.counts().live_blocks, 0u);
  EXPECT_EQ(counted.counts().live_bytes, 0u);

  tracking_adaptor tracked(blocks);
  tracked.deallocate(blocks.allocate(2 * kib));
  EXPECT_EQ(tracked.leak_report(), "");
  EXPECT_EQ(blocks.statistics().live_blocks, 0u);
}

TEST_F(adaptor_faults, a_block_that_was_freed_below_and_handed_out_again_counts_once) {
  limit_adaptor limited(blocks, 10 * kib);
  counting_adaptor counted(limited);
  void* const gone = counted.allocate(kib);
  blocks.deallocate(gone);
  void* const again = counted.allocate(2 * kib);
  ASSERT_EQ(again, gone);
  EXPECT_EQ(limited.live_bytes(), 2 * kib);
  EXPECT_EQ(counted.counts().live_bytes, 2 * kib);
  EXPECT_EQ(counted.counts().live_blocks, 1u);
  counted.deallocate(again);
  EXPECT_EQ(limited.live_bytes(), 0u);
  EXPECT_EQ(counted.counts().live_blocks, 0u);
}

TEST_F(adaptor_faults, a_source_that_refuses_leaves_all_books_as_they_were) {
  failing_source below(blocks);
  std::ostringstream log;
  limit_adaptor limited(below, 10 * kib);
  counting_adaptor counted(limited);
  tracking_adaptor tracked(counted);
  logging_adaptor logged(tracked, log);
  checked_adaptor guarded(logged, host_access());
  void* const block = guarded.allocate(kib);
  const auto expect_as_before = [&] {
    EXPECT_EQ(limited.live_bytes(), kib + 512);
    EXPECT_EQ(counted.counts().live_blocks, 1u);
    EXPECT_EQ(counted.counts().live_bytes, kib + 512);
    EXPECT_NE(tracked.leak_report().find("1536 bytes"), std::string::npos);
    EXPECT_EQ(guarded.block_bytes(block), kib + 512);
  };
  for (int i = 0; i < 3; ++i) {
    below.on_allocate = failure::refuses;
    EXPECT_THROW(guarded.allocate(kib), out_of_memory);
    below.on_allocate = failure::none;
    below.on_deallocate = failure::refuses;
    EXPECT_THROW(guarded.deallocate(block), std::runtime_error);
    below.on_deallocate = failure::none;
    expect_as_before();
  }
  void* const most = guarded.allocate(8 * kib - 256);
  EXPECT_THROW(guarded.allocate(0), out_of_memory) << "the limit's room came back more than once";
  guarded.deallocate(most);
  EXPECT_NO_THROW(guarded.deallocate(block)) << "the red zones are not as they were";
  EXPECT_EQ(limited.live_bytes(), 0u);
  EXPECT_EQ(blocks.statistics().live_blocks, 0u);
  std::istringstream again(log.str());
  EXPECT_NO_THROW(replay_log(again, blocks)) << log.str();
}

TEST_F(adaptor_faults, a_block_that_is_taken_back_with_a_complaint_is_gone_from_all_books) {
  failing_source below(blocks);
  limit_adaptor limited(below, 10 * kib);
  counting_adaptor counted(limited);
  tracking_adaptor tracked(counted);
  void* const block = tracked.allocate(kib);
  below.on_deallocate = failure::took_it_back;
  EXPECT_THROW(tracked.deallocate(block), damaged_block);
  EXPECT_EQ(limited.live_bytes(), 0u);
  EXPECT_EQ(counted.counts().live_blocks, 0u);
  EXPECT_EQ(tracked.leak_report(), "");
}

TEST_F(adaptor_faults, an_access_that_fails_leaves_the_block) {
  bool fails = false;
  memory_access access = host_access();
  const auto read = access.read;
  access.read = [&](void* host, const void* block, std::uint64_t bytes) {
    if (fails) throw std::runtime_error("the device is gone");
    read(host, block, bytes);
  };
  checked_adaptor guarded(blocks, access);
  void* const block = guarded.allocate(100);
  fails = true;
  EXPECT_THROW(guarded.deallocate(block), std::runtime_error);
  EXPECT_EQ(blocks.statistics().live_blocks, 1u);
  fails = false;
  guarded.deallocate(block);
  EXPECT_EQ(blocks.statistics().live_blocks, 0u);
}

TEST_F(adaptor_faults, a_limit_over_red_zones_ends_requests_of_no_bytes) {
  checked_adaptor guarded(blocks, host_access());
  limit_adaptor limited(guarded, 10 * kib);
  std::vector<void*> held;
  EXPECT_THROW(
      {
        while (held.size() < 1000) held.push_back(limited.allocate(0));
      },
      out_of_memory);
  EXPECT_LE(blocks.statistics().live_bytes, 10 * kib) << "the limit was passed";
  EXPECT_NE(guarded.block_bytes(held[0]), 0u) << "0 is for no block";
  for (void* const block : held) limited.deallocate(block);
  EXPECT_EQ(limited.live_bytes(), 0u);
}

// Numbers as some write them: in groups of three.
struct grouped : std::numpunct<char> {
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

TEST_F(adaptor_faults, a_log_is_the_same_in_each_locale_and_with_any_flags) {
  const std::locale other(std::locale::classic(), new grouped);
  std::stringstream log;
  log.imbue(other);
  log << std::hex << std::showbase << std::setfill('*') << std::setw(12);
  pool large(std::make_unique<host_space>(16 * mib));
  logging_adaptor logged(large, log);
  logged.deallocate(logged.allocate(12'345'678, 4096));
  EXPECT_THROW(logged.allocate(100'000'000), out_of_memory);
  EXPECT_EQ(log.str(), "+ 1 12345678 4096\n- 1\n! 100000000 1\n");
  EXPECT_EQ(replay_log(log, large), 2u);
  EXPECT_EQ(large.statistics().allocations, 2u);
}

TEST_F(adaptor_faults, messages_and_reports_are_the_same_in_each_locale) {
  const std::locale before = std::locale::global(std::locale(std::locale::classic(), new grouped));
  tracking_adaptor tracked(blocks);
  void* const block = tracked.allocate(12'345);
  EXPECT_NE(tracked.leak_report().find(": 12345 bytes, request 1"), std::string::npos) << tracked.leak_report();
  EXPECT_NE(blocks.snapshot().find("\"reserved_bytes\": 1048576"), std::string::npos);
  try {
    blocks.allocate(2 * mib);
    ADD_FAILURE() << "there was no memory";
  } catch (const out_of_memory& error) {
    EXPECT_NE(std::string(error.what()).find("2097152 bytes"), std::string::npos) << error.what();
  }
  tracked.deallocate(block);
  std::locale::global(before);
}

// Takes a number of bytes and refuses the rest.
class small_disk : public std::streambuf {
 public:
  std::string text;
  std::size_t most = 0;

 private:
  int_type overflow(int_type next) override {
    if (text.size() >= most) return traits_type::eof();
    text += traits_type::to_char_type(next);
    return next;
  }
};

TEST_F(adaptor_faults, a_log_that_throws_changes_nothing) {
  small_disk disk;
  disk.most = 100;
  std::ostream log(&disk);
  log.exceptions(std::ios::badbit | std::ios::failbit);
  logging_adaptor logged(blocks, log);
  void* const block = logged.allocate(kib);
  disk.most = 0;
  EXPECT_THROW(logged.allocate(kib), std::ios_base::failure);
  EXPECT_EQ(blocks.statistics().live_blocks, 1u) << "the block leaked";
  EXPECT_THROW(logged.allocate(2 * mib), out_of_memory) << "the request's own failure counts";
  EXPECT_THROW(logged.deallocate(block), std::ios_base::failure);
  EXPECT_EQ(blocks.block_bytes(block), kib) << "it threw and took the block back";
  disk.most = 100;
  log.clear();
  logged.deallocate(block);
  EXPECT_EQ(blocks.statistics().live_blocks, 0u);
  EXPECT_EQ(disk.text, "+ 1 1024 1\n- 1\n");
}

TEST_F(adaptor_faults, numbers_of_a_log_are_whole_and_not_negative) {
  for (const char* const line :
       {"+ 2 -5 1", "+ -2 5 1", "- -1", "+ 2 5 -1", "+ 2 0x10 1", "+ 2 5", "+ 2 5 1 1", "- 1 1", "+ 2 1.5 1",
        "+ 2 18446744073709551616 1", "+2 5 1", "! 5", "! -5 1", "? 1"}) {
    std::istringstream log("+ 1 100 1\n" + std::string(line) + "\n");
    try {
      replay_log(log, blocks);
      ADD_FAILURE() << "replayed: " << line;
    } catch (const std::runtime_error& error) {
      EXPECT_NE(std::string(error.what()).find("line 2"), std::string::npos) << error.what();
    }
    EXPECT_EQ(blocks.statistics().live_blocks, 0u) << line;
    EXPECT_EQ(blocks.statistics().failures, 0u) << "a request that nobody made: " << line;
  }
  std::istringstream log("+ 1 100 1\r\n\n- 1\n");
  EXPECT_EQ(replay_log(log, blocks), 2u) << "ends of lines as other systems write them";
}

TEST_F(adaptor_faults, a_log_that_is_not_open_is_an_error) {
  std::ifstream never;
  EXPECT_THROW(replay_log(never, blocks), std::runtime_error);
  std::ifstream missing("there is no such file.log");
  EXPECT_THROW(replay_log(missing, blocks), std::runtime_error);
  std::istringstream empty;
  EXPECT_EQ(replay_log(empty, blocks), 0u);
  std::istringstream throwing("+ 1 100 1\n");
  throwing.exceptions(std::ios::failbit | std::ios::eofbit);
  EXPECT_EQ(replay_log(throwing, blocks), 1u) << "the end is no failure";
}

TEST_F(adaptor_faults, a_replay_that_a_source_ends_takes_its_blocks_back) {
  failing_source below(blocks);
  std::istringstream log("+ 1 100 1\n+ 2 2000000 1\n");
  EXPECT_THROW(replay_log(log, below), out_of_memory);
  EXPECT_EQ(blocks.statistics().live_blocks, 0u);
}

}  // namespace
}  // namespace warpheap::adaptor_faults_test
