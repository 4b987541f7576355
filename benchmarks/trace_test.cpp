// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Traces: what breaks their rules is found where it is, text and trace are the same thing, a recording is what the
// program did, and the shipped ones can be recorded again.

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <support/temporary_file.hpp>
#include <vector>
#include <warpheap/designs/bump/bump.hpp>
#include <warpheap/designs/ouroboros/ouroboros.hpp>
#include <warpheap/heap.hpp>
#include <warpheap/trace.hpp>

#include "trace/programs/adjacency.hpp"
#include "trace/programs/rewriting.hpp"
#include "trace/shipped.hpp"

namespace warpheap::bench::trace_test {
namespace {

std::string with_title(const std::string& rest) { return "warpheap trace 1\n" + rest; }

// What is wrong with a text; empty if nothing is.
std::string complaint(const std::function<void()>& about) {
  try {
    about();
    return "";
  } catch (const trace_error& problem) {
    return problem.what();
  }
}
std::string complaint(const std::string& text) {
  return complaint([&] { static_cast<void>(parse_trace(text)); });
}

TEST(trace_text, is_read_and_written) {
  const std::string text = with_title("phase\n0 +0:16 -0 +0:4294967294\n7 +1:1\nphase\n2 ?0 -0\nend 6\n");
  const trace made = parse_trace(text);
  EXPECT_EQ(to_text(made), text);
  ASSERT_EQ(made.phases.size(), 2u);
  EXPECT_EQ(made.phases[0].threads(), 8u);
  EXPECT_EQ(made.phases[1].threads(), 3u);
  const trace_figures figures = examine(made);
  EXPECT_EQ(figures.threads, 8u);
  EXPECT_EQ(figures.places, 2u);
  EXPECT_EQ(figures.operations(), 6u);
  EXPECT_EQ(figures.mallocs, 3u);
  EXPECT_EQ(figures.frees, 2u);
  EXPECT_EQ(figures.touches, 1u);
  EXPECT_EQ(figures.requested_bytes, 4294967311u) << "more than 32 bits hold";
  EXPECT_EQ(figures.largest_bytes, 4294967294u);
  EXPECT_EQ(figures.left, (std::vector<std::uint32_t>{1}));
}

TEST(trace_text, may_have_comments_blank_lines_and_other_ends_of_lines) {
  EXPECT_EQ(parse_trace("warpheap trace 1\r\n# by hand\r\n\r\nphase\r\n0 +0:16\r\nend 1\r\n"),
            parse_trace(with_title("phase\n0 +0:16\nend 1")));
}

TEST(trace_text, of_another_kind_is_refused) {
  EXPECT_EQ(complaint(""), "is no trace: its first line is not 'warpheap trace 1'");
  EXPECT_EQ(complaint("{\"schema\": 2}\n"), "is no trace: its first line is not 'warpheap trace 1'");
  EXPECT_EQ(complaint("warpheap trace 2\nend 0\n"), "is a trace of version '2', and this reader knows 1");
}

TEST(trace_text, that_is_cut_off_is_refused) {
  const std::string text = with_title("phase\n0 +0:16 -0\n1 +1:32\nphase\n0 -1\nend 4\n");
  EXPECT_EQ(complaint(text), "");
  // The last newline is not needed, all else is.
  for (std::size_t length = 0; length + 1 < text.size(); ++length) {
    EXPECT_NE(complaint(text.substr(0, length)), "") << "its first " << length << " bytes";
  }
  EXPECT_EQ(complaint(with_title("phase\n0 +0:16\n")), "is cut off: its line 'end' is missing");
  EXPECT_EQ(complaint(with_title("phase\n0 +0:16\nend 2\n")), "line 4: the trace has 1 operations, and its end says 2");
}

TEST(trace_text, that_is_broken_is_refused_with_its_line) {
  const auto of_phase = [](const std::string& line) { return complaint(with_title("phase\n" + line + "\nend 1\n")); };
  EXPECT_EQ(of_phase("0 +0:16"), "");
  EXPECT_EQ(of_phase("0"), "line 3: a thread without operations is left out");
  EXPECT_EQ(of_phase("0 *0"), "line 3: an operation is +PLACE:BYTES, -PLACE or ?PLACE");
  EXPECT_EQ(of_phase("0 +0"), "line 3: a malloc is +PLACE:BYTES");
  EXPECT_EQ(of_phase("0 +0:0"), "line 3: a malloc asks for at least 1 byte");
  EXPECT_EQ(of_phase("0 +0:16-0"), "line 3: operations stand apart by one blank");
  EXPECT_EQ(of_phase("0 +0:16 "), "line 3: an operation is +PLACE:BYTES, -PLACE or ?PLACE");
  EXPECT_EQ(of_phase("x"), "line 3: 'x' does not begin with a thread, a whole number up to 16777215");
  EXPECT_EQ(of_phase("16777216 +0:1"),
            "line 3: '16777216 +0:1' does not begin with a thread, a whole number up to 16777215");
  EXPECT_EQ(of_phase("0 +0:4294967295"),
            "line 3: '4294967295' does not begin with a number of bytes, a whole number up to 4294967294");
  EXPECT_EQ(of_phase("0 +99999999999999999999:1"),
            "line 3: '99999999999999999999' does not begin with a place, a whole number up to 4294967295");
  EXPECT_EQ(of_phase("1 +0:16\n1 -0"), "line 4: threads of a phase come once each, in rising order");
  EXPECT_EQ(complaint(with_title("0 +0:16\nend 1\n")), "line 2: 'phase' comes before the threads of a phase");
  EXPECT_EQ(complaint(with_title("end 0\nphase\n")), "line 3: something comes after the line 'end'");
  EXPECT_EQ(complaint(with_title("end 0 0\n")), "line 2: the line 'end' has more than a count");
}

TEST(trace_rules, are_kept) {
  const auto of = [](const std::string& phases, int operations) {
    return complaint(with_title(phases + "end " + std::to_string(operations) + "\n"));
  };
  EXPECT_EQ(of("phase\n0 +0:1\nphase\n5 -0\n", 2), "") << "another thread frees in a later phase";
  EXPECT_EQ(of("phase\n0 +0:1 +0:1\n", 2), "phase 1, thread 0 mallocs into place 0 that holds a block already");
  EXPECT_EQ(of("phase\n0 +0:1\nphase\n1 -0 -0\n", 3), "phase 2, thread 1 frees place 0 that holds no block");
  EXPECT_EQ(of("phase\n0 +0:1\nphase\n1 -0 ?0\n", 3), "phase 2, thread 1 touches place 0 that holds no block");
  EXPECT_EQ(of("phase\n0 +0:1\n1 -0\n", 2), "phase 1, thread 1 frees place 0 that thread 0 uses in the same phase");
  EXPECT_EQ(of("phase\n0 +0:1\nphase\n0 ?0\n1 ?0\n", 3),
            "phase 2, thread 1 touches place 0 that thread 0 uses in the same phase");
  EXPECT_EQ(of("phase\n0 +1:1\n", 1), "phase 1, thread 0 mallocs into place 1 that a trace of 1 mallocs does not need");
}

TEST(trace_rules, the_peak_is_that_of_the_worst_order_of_threads) {
  // Each thread alone has 100 bytes at most, and both may have them at once.
  EXPECT_EQ(examine(parse_trace(with_title("phase\n0 +0:100 -0\n1 +1:60 -1 +1:100\nphase\n0 -1\nend 6\n"))).peak_bytes,
            200u);
  EXPECT_EQ(examine(parse_trace(with_title("phase\n0 +0:100\nphase\n0 -0 +0:100\nend 3\n"))).peak_bytes, 100u);
}

TEST(trace_file, is_written_and_read) {
  const test::temporary_file file("one.trace");
  const std::string& path = file.path();
  const trace made = parse_trace(with_title("phase\n0 +0:16\nend 1\n"));
  write_trace(path, made);
  EXPECT_EQ(read_trace(path), made);
  std::remove(path.c_str());
  EXPECT_EQ(complaint([&] { static_cast<void>(read_trace(path)); }), path + ": cannot be read");
  EXPECT_EQ(complaint([&] { static_cast<void>(read_trace(testing::TempDir())); }),
            testing::TempDir() + ": cannot be read");
  const std::string nowhere = testing::TempDir() + "no such folder/a.trace";
  EXPECT_EQ(complaint([&] { write_trace(nowhere, made); }), nowhere + ": cannot be written");
}

using design = ouroboros_s_p;
using recorded_ref = heap_ref<recorded<design>>;

struct take_all {
  WARPHEAP_FN void operator()(recorded_ref heap, void** blocks) const {
    blocks[grid_thread_index()] = heap.malloc(16 * (1 + grid_thread_index()));
  }
};
// Each thread frees the block of the thread before it, and takes one.
struct pass_on {
  WARPHEAP_FN void operator()(recorded_ref heap, void** blocks) const {
    const std::uint64_t own = grid_thread_index();
    heap.free(blocks[(own + grid_threads() - 1) % grid_threads()]);
    blocks[grid_threads() + own] = heap.malloc(8);
  }
};
// One thread takes a block and hands it to another, which frees it and takes one itself.
struct hand_over {
  WARPHEAP_FN void operator()(recorded_ref heap, void** hand) const {
    const atomic_view there{*hand};
    if (grid_thread_index() == 0) there.store(heap.malloc(24), memory_order::release, thread_scope::device);
    if (grid_thread_index() != 33) return;
    void* block = nullptr;
    for (backoff wait; (block = there.load(memory_order::acquire, thread_scope::device)) == nullptr;) wait.pause();
    heap.free(block);
    there.store(heap.malloc(40), memory_order::relaxed, thread_scope::device);
  }
};
struct take_and_free {
  WARPHEAP_FN void operator()(recorded_ref heap, int times) const {
    for (int i = 0; i < times; ++i) heap.free(heap.malloc(64));
  }
};

struct ask_too_much {
  WARPHEAP_FN void operator()(recorded_ref heap) const { heap.free(heap.malloc(std::uint64_t{1} << 40)); }
};

class recording : public testing::Test {
 protected:
  recorder of{1000};
  heap<recorded<design>> where{1 << 20};
  device_array<void*> blocks{64};
};

TEST_F(recording, is_what_each_thread_did) {
  launch({1, 3}, take_all{}, where.ref(), blocks.data());
  of.end_phase();
  of.end_phase();  // nothing happened: no phase
  launch({1, 3}, pass_on{}, where.ref(), blocks.data());
  EXPECT_EQ(to_text(of.finish()),
            with_title("phase\n0 +0:16\n1 +1:32\n2 +2:48\nphase\n0 -2 +2:8\n1 -0 +0:8\n2 -1 +1:8\nend 9\n"));
}

TEST_F(recording, puts_a_free_that_waits_for_a_thread_into_a_phase_of_its_own) {
  launch({1, 64}, hand_over{}, where.ref(), blocks.data());
  EXPECT_EQ(to_text(of.finish()), with_title("phase\n0 +0:24\n33 +1:40\nphase\n33 -0\nend 3\n"));
}

TEST_F(recording, uses_places_again) {
  for (int i = 0; i < 3; ++i) {
    launch({1, 2}, take_and_free{}, where.ref(), 2);
    of.end_phase();
  }
  const trace made = of.finish();
  EXPECT_EQ(examine(made).places, 2u);
  EXPECT_EQ(made.phases.size(), 3u);
  EXPECT_EQ(made.phases[2].operations.size(), 8u);
}

TEST_F(recording, that_overflows_is_refused) {
  of.end_phase();  // the making of the heap is an event too
  launch({1, 10}, take_and_free{}, where.ref(), 50);
  of.end_phase();
  launch({1, 10}, take_and_free{}, where.ref(), 51);
  EXPECT_EQ(complaint([&] { of.end_phase(); }),
            "recorder: 1020 events since the last phase, and room for 1000; make it larger, or end phases more often");
}

TEST_F(recording, counts_requests_that_got_null) {
  launch({1, 1}, take_and_free{}, where.ref(), 1);
  EXPECT_EQ(of.refused(), 0u);
  launch({1, 1}, ask_too_much{}, where.ref());
  of.end_phase();
  EXPECT_EQ(of.refused(), 1u);
  EXPECT_EQ(of.finish().phases[0].operations.size(), 2u);
}

TEST_F(recording, knows_of_resets) {
  launch({1, 2}, take_all{}, where.ref(), blocks.data());
  of.end_phase();
  where.reset();
  launch({1, 2}, take_all{}, where.ref(), blocks.data());
  EXPECT_EQ(to_text(of.finish()),
            with_title("phase\n0 +0:16\n1 +1:32\nphase\n0 -0\n1 -1\nphase\n0 +0:16\n1 +1:32\nend 6\n"));
}

TEST_F(recording, one_at_a_time) {
  EXPECT_EQ(complaint([] { recorder{1}; }), "recorder: there is one already; use one at a time");
}

TEST(recording_without_recorder, is_refused) {
  EXPECT_EQ(complaint([] { heap<recorded<bump>>{1 << 16}; }),
            "recorder: there is none; make one before the heap that is recorded");
}

// A heap that breaks its promises makes no trace.
TEST(phases, refuse_what_no_sound_heap_does) {
  using kind = trace_event::kind;
  const auto fed = [](const std::vector<trace_event>& events) {
    return complaint([&] { detail::phase_maker{}.add(events); });
  };
  EXPECT_EQ(fed({{0x1000, 16, 3, kind::malloc}, {0x1000, 0, 4, kind::free}}), "");
  EXPECT_EQ(fed({{0x1000, 16, 3, kind::malloc}, {0x1000, 16, 4, kind::malloc}}),
            "recorder: thread 4 got a block that is live already (16 bytes)");
  EXPECT_EQ(fed({{0x1000, 0, 5, kind::free}}), "recorder: thread 5 freed a block that is not live (0 bytes)");
  EXPECT_EQ(fed({{0x1000, 4294967295, 5, kind::malloc}}),
            "recorder: thread 5 took more than a trace can say (4294967295 bytes)");
  EXPECT_NE(fed({{0x1000, 16, 16777216, kind::malloc}}), "");
}

// On any heap and under any schedule the programs ask for the same, to the letter.
TEST(shipped_trace, is_what_its_program_does) {
  schedule other;
  other.order = schedule::policy::random;
  other.seed = 3;
  EXPECT_EQ(to_text(record_adjacency<ouroboros_va_p>()), shipped_trace_text("adjacency"));
  EXPECT_EQ(to_text(record_rewriting<ouroboros_va_p>()), shipped_trace_text("rewriting"));
  const scoped_schedule in_force{other};
  EXPECT_EQ(to_text(record_adjacency<ouroboros_s_p>()), shipped_trace_text("adjacency"));
  EXPECT_EQ(to_text(record_rewriting<bump>()), shipped_trace_text("rewriting"));
}

TEST(option_trace, names_files_by_their_stems) {
  const test::temporary_file file("own.trace");
  write_trace(file.path(), parse_trace(with_title("phase\n0 +0:16\nend 1\n")));
  run_options options;
  options.trace_file = file.path();
  EXPECT_EQ(mode_of_file(options), "file:warpheap_" + std::to_string(getpid()) + "_own");
  EXPECT_EQ(trace_of(options).phases.size(), 1u);
  options.mode = "adjacency";
  EXPECT_THROW(mode_of_file(options), usage_error);
  options.mode.clear();
  std::remove(file.path().c_str());
  EXPECT_THROW(mode_of_file(options), usage_error);
}

}  // namespace
}  // namespace warpheap::bench::trace_test
