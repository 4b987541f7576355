// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Adaptors forward every member of the concept to their design, and stand on each other in any order.

#include <gtest/gtest.h>

#include <allocator/checked_faults.hpp>
#include <allocator/reference.hpp>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <warpheap/allocator.hpp>
#include <warpheap/heap.hpp>
#include <warpheap/trace.hpp>

namespace warpheap::test::adaptors_test {
namespace {

// The members of the concept.
enum class member : std::uint32_t {
  initialise,
  malloc,
  aligned_malloc,
  free,
  grow,
  relocate,
  usable_size,
  count,
  trim_begin,
  coalesce,
  withdraw,
  restore,
  least_bytes,
  statistics,
  locate,
  first_fault,
  clear_fault
};
constexpr std::array members{
    member::initialise,  member::malloc,      member::aligned_malloc, member::free,       member::grow,
    member::relocate,    member::usable_size, member::count,          member::trim_begin, member::coalesce,
    member::withdraw,    member::restore,     member::least_bytes,    member::statistics, member::locate,
    member::first_fault, member::clear_fault,
};
constexpr std::uint32_t index(member which) { return static_cast<std::uint32_t>(which); }
static_assert(index(members.back()) + 1 == members.size());

// What the witness keeps in its metadata: how often each member was called, and with what it was called last.
struct record {
  std::uint64_t calls[members.size()];
  std::uint64_t argument[members.size()];
};

// A design that offers every member of the concept, and keeps a record of the calls. Its blocks are the pages of its
// arena, handed out in turn.
class witness {
 public:
  static constexpr std::uint64_t page = 4096;

  static constexpr const char* name = "witness";
  static constexpr allocator_capabilities capabilities{.individual_free = true,
                                                       .knows_size = true,
                                                       .reset = true,
                                                       .grow = true,
                                                       .relocate = true,
                                                       .counts_live = true,
                                                       .uses_arena = true,
                                                       .trim_bytes = 64 * page};

  WARPHEAP_FN static constexpr std::uint64_t metadata_bytes(std::uint64_t bytes) { return sizeof(record) + bytes / 8; }
  explicit witness(const arena& from) : data_(from.data), record_(reinterpret_cast<record*>(from.metadata)) {}

  WARPHEAP_FN void initialise() const { note(member::initialise, 0); }
  WARPHEAP_FN void* malloc(std::uint64_t bytes) const { return data_ + page * note(member::malloc, bytes); }
  WARPHEAP_FN void* aligned_malloc(std::uint64_t alignment, std::uint64_t) const {
    return data_ + page * note(member::aligned_malloc, alignment) + 8 * page;
  }
  WARPHEAP_FN void free(void* block) const { note(member::free, offset(block)); }
  WARPHEAP_FN void grow(std::uint64_t bytes) const { note(member::grow, bytes); }
  void relocate(const arena&, const arena& to) const { note_here(member::relocate, to.bytes); }
  WARPHEAP_FN std::uint64_t usable_size(const void* block) const {
    note(member::usable_size, offset(block));
    return page;
  }
  WARPHEAP_FN void count(allocator_counts& counts) const {
    note(member::count, 0);
    counts.live_bytes += 1'000'000;
  }
  std::uint64_t trim_begin() const {
    note_here(member::trim_begin, 0);
    return 4242;
  }
  WARPHEAP_FN void coalesce() const { note(member::coalesce, 0); }
  WARPHEAP_FN void withdraw(std::uint64_t* units) const { note(member::withdraw, *units); }
  WARPHEAP_FN void restore(const std::uint64_t* units) const { note(member::restore, *units); }
  std::uint64_t least_bytes() const {
    note_here(member::least_bytes, 0);
    return 777;
  }
  double statistics() const {
    note_here(member::statistics, 0);
    return 2.5;
  }
  WARPHEAP_FN block_location locate(const void* pointer) const {
    note(member::locate, offset(pointer));
    return block_location::block;
  }
  std::optional<memory_fault> first_fault() const {
    note_here(member::first_fault, 0);
    return memory_fault{fault_kind::overrun, 1, 2, nullptr, 3};
  }
  void clear_fault() const { note_here(member::clear_fault, 0); }

 private:
  WARPHEAP_FN std::uint64_t offset(const void* pointer) const {
    return static_cast<std::uint64_t>(static_cast<const std::byte*>(pointer) - data_);
  }
  // Returns how many calls there were before.
  WARPHEAP_FN std::uint64_t note(member which, std::uint64_t argument) const {
    record_->argument[static_cast<std::uint32_t>(which)] = argument;
    return record_->calls[static_cast<std::uint32_t>(which)]++;
  }
  void note_here(member which, std::uint64_t argument) const {
    record kept{};
    device_copy(&kept, record_, sizeof(kept));
    ++kept.calls[index(which)];
    kept.argument[index(which)] = argument;
    device_copy(record_, &kept, sizeof(kept));
  }

  std::byte* data_;
  record* record_;
};
static_assert(locates_blocks<witness> && records_faults<witness> && names_least_heap<witness> &&
              reports_statistics<witness>);

// An adaptor that changes nothing.
struct plain : adaptor_base<witness> {
  using adaptor_base::adaptor_base;
};
constexpr checked_options few{.quarantine = 1};
template <class A>
using checked_few = checked<A, few>;

// Each adaptor offers every member, except those that it deletes or whose promise it withdraws.
template <class A>
concept offers_all = device_allocator<A> && A::capabilities.grow && A::capabilities.knows_size &&
                     A::capabilities.counts_live && A::capabilities.trim_bytes == witness::capabilities.trim_bytes &&
                     names_least_heap<A> && reports_statistics<A> && records_faults<A>;
static_assert(offers_all<plain> && plain::capabilities.relocate && locates_blocks<plain>);
static_assert(offers_all<recorded<witness>> && locates_blocks<recorded<witness>>);
static_assert(offers_all<checked_few<witness>> && !locates_blocks<checked_few<witness>>);
static_assert(offers_all<recorded<checked_few<witness>>> && !locates_blocks<recorded<checked_few<witness>>>);
static_assert(offers_all<checked_few<recorded<witness>>> && !locates_blocks<checked_few<recorded<witness>>>);

// A promise that an adaptor withdraws takes the member with it.
template <class A>
concept relocates = requires(const A allocator, const arena& place) { allocator.relocate(place, place); };
template <class A>
concept trims = requires(const A allocator) { allocator.trim_begin(); };
static_assert(relocates<plain> && !relocates<recorded<witness>> && !relocates<checked_few<witness>>);
static_assert(trims<plain> && !trims<adaptor_base<witness, allocator_capabilities{.individual_free = true}>>);
static_assert(!trims<checked_few<locked_list<>>> && !reports_statistics<recorded<locked_list<>>> &&
              !records_faults<recorded<locked_list<>>> && !names_least_heap<recorded<locked_list<>>>);

// An adaptor adds no promise to those of its design.
template <class A, allocator_capabilities Promised>
concept adapts = requires { typename adaptor_base<A, Promised>; };

// A design that promises nothing, or all there is.
template <allocator_capabilities Promised>
struct promising : witness {
  using witness::witness;
  static constexpr allocator_capabilities capabilities = Promised;
  template <class... T>
  struct typed_heap {};
  struct warp_arena {
    WARPHEAP_FN void* malloc(std::uint64_t) const { return nullptr; }
    WARPHEAP_FN void release(lane_mask) const {}
    WARPHEAP_FN explicit operator bool() const { return false; }
  };
  WARPHEAP_FN warp_arena open_arena(lane_mask) const { return {}; }
};
constexpr allocator_capabilities nothing{.state_in_arena = true,
                                         .needs_full_warp = true,
                                         .reuses_live_memory = true,
                                         .refuses_only_when_full = false,
                                         .shared_below = 256,
                                         .stack_bytes = 1024,
                                         .alignment = 16,
                                         .largest_alignment = 4096,
                                         .largest_bytes = 65536};
constexpr allocator_capabilities all{.individual_free = true,
                                     .knows_size = true,
                                     .reset = true,
                                     .grow = true,
                                     .relocate = true,
                                     .host_copy = true,
                                     .counts_live = true,
                                     .uses_arena = true,
                                     .typed_objects = true,
                                     .release_by_warp = true,
                                     .trim_bytes = 4096,
                                     .stack_bytes = 512,
                                     .alignment = 32};

// Fails to compile if the capabilities get one more, which needs its rule and its line below.
constexpr int capabilities_with_a_rule(const allocator_capabilities& of) {
  [[maybe_unused]] const auto& [individual_free, knows_size, reset, grow, relocate, host_copy, counts_live, uses_arena,
                                state_in_arena, needs_full_warp, typed_objects, release_by_warp, reuses_live_memory,
                                refuses_only_when_full, shared_below, trim_bytes, stack_bytes, alignment,
                                largest_alignment, largest_bytes] = of;
  return 20;
}

// True if an adaptor of a design of capabilities `From` may have these with `Member` as in `To`.
template <auto Member, allocator_capabilities From, allocator_capabilities To>
constexpr bool wraps() {
  constexpr allocator_capabilities changed = [] {
    allocator_capabilities can = From;
    can.*Member = To.*Member;
    return can;
  }();
  return adapts<promising<From>, changed>;
}
template <auto... Member>
constexpr int promises = ((wraps<Member, all, nothing>() && !wraps<Member, nothing, all>() ? 1 : 0) + ...);
static_assert(promises<&allocator_capabilities::individual_free, &allocator_capabilities::typed_objects,
                       &allocator_capabilities::knows_size, &allocator_capabilities::reset,
                       &allocator_capabilities::grow, &allocator_capabilities::relocate,
                       &allocator_capabilities::host_copy, &allocator_capabilities::counts_live,
                       &allocator_capabilities::uses_arena, &allocator_capabilities::state_in_arena,
                       &allocator_capabilities::needs_full_warp, &allocator_capabilities::release_by_warp,
                       &allocator_capabilities::reuses_live_memory, &allocator_capabilities::refuses_only_when_full,
                       &allocator_capabilities::shared_below, &allocator_capabilities::trim_bytes,
                       &allocator_capabilities::stack_bytes, &allocator_capabilities::alignment,
                       &allocator_capabilities::largest_alignment, &allocator_capabilities::largest_bytes> ==
              capabilities_with_a_rule({}));
// Units of another size are another promise, smaller or larger.
static_assert(
    !adapts<promising<allocator_capabilities{.trim_bytes = 4096}>, allocator_capabilities{.trim_bytes = 8192}>);
static_assert(
    !adapts<promising<allocator_capabilities{.trim_bytes = 4096}>, allocator_capabilities{.trim_bytes = 2048}>);

// The handle has no padding: kernels get it by value.
static_assert(sizeof(plain) == sizeof(witness) && sizeof(checked_few<witness>) == sizeof(witness) + sizeof(void*));

// What the device members returned.
struct answers {
  std::uint64_t first_block;
  std::uint64_t aligned_block;
  std::uint64_t usable;
  allocator_counts counts{};
  block_location where;
};

// Calls each device member, by one thread.
struct device_members {
  template <class A>
  WARPHEAP_FN void operator()(A allocator, const std::byte* data, std::uint64_t* units, answers* said) const {
    allocator.initialise();
    allocator.grow(5555);
    auto* const block = static_cast<std::byte*>(allocator.malloc(100));
    auto* const aligned = static_cast<std::byte*>(allocator.aligned_malloc(64, 100));
    said->first_block = static_cast<std::uint64_t>(block - data);
    said->aligned_block = static_cast<std::uint64_t>(aligned - data);
    said->usable = allocator.usable_size(block);
    said->counts = {};
    allocator.count(said->counts);  // in device memory, as a heap's are: adaptors add to them atomically
    if constexpr (locates_blocks<A>) said->where = allocator.locate(block);
    allocator.free(block);
    allocator.free(aligned);  // which drives the first out of a quarantine of one
    allocator.coalesce();
    units[0] = 11;
    allocator.withdraw(units);
    units[0] = 12;
    allocator.restore(units);
  }
};

template <class A>
class adaptors : public testing::Test {
 protected:
  static constexpr std::uint64_t bytes = 32 * witness::page;

  adaptors() : data_(bytes), metadata_(A::metadata_bytes(bytes)) {
    device_fill(metadata_.data(), 0, A::metadata_bytes(bytes));
  }
  arena place() { return {data_.data(), bytes, bytes, metadata_.data()}; }
  // The record lies where the innermost metadata begin: those of an adaptor stand before them.
  record kept() {
    record now{};
    const std::uint64_t own = A::metadata_bytes(bytes) - witness::metadata_bytes(bytes);
    device_copy(&now, metadata_.data() + own, sizeof(now));
    return now;
  }

  recorder recorder_{1000};  // before the adaptor, which looks for it
  device_array<std::byte> data_;
  device_array<std::byte> metadata_;
};

using every_order = testing::Types<plain, recorded<witness>, checked_few<witness>, recorded<recorded<witness>>,
                                   recorded<checked_few<witness>>, checked_few<recorded<witness>>>;
TYPED_TEST_SUITE(adaptors, every_order, );

template <class A>
inline constexpr bool finds_faults_itself = false;
template <class A>
inline constexpr bool finds_faults_itself<checked_few<A>> = true;
template <class A>
inline constexpr bool finds_faults_itself<recorded<A>> = finds_faults_itself<A>;

// True if a call of the member `which` of `A` must end in the design.
template <class A>
constexpr bool reaches_design(member which) {
  if (which == member::relocate) return relocates<A>;
  if (which == member::first_fault || which == member::clear_fault) return !finds_faults_itself<A>;
  return true;
}

TYPED_TEST(adaptors, forward_every_member) {
  const TypeParam under_test{this->place()};
  const device_array<std::uint64_t> units(1);
  const device_array<answers> said(1);
  device_fill(said.data(), 0xff, sizeof(answers));
  launch({1, 1}, device_members{}, under_test, static_cast<const std::byte*>(this->data_.data()), units.data(),
         said.data());
  EXPECT_EQ(under_test.trim_begin(), 4242u);
  EXPECT_EQ(under_test.least_bytes(), 777u);
  EXPECT_EQ(under_test.statistics(), 2.5);
  const std::optional<memory_fault> fault = under_test.first_fault();
  under_test.clear_fault();
  if constexpr (relocates<TypeParam>) {
    arena there = this->place();
    there.bytes = 999;
    under_test.relocate(this->place(), there);
  }

  constexpr bool is_checked = finds_faults_itself<TypeParam>;
  const record kept = this->kept();
  for (const member each : members) {
    SCOPED_TRACE("member " + std::to_string(index(each)));
    const std::uint64_t calls = kept.calls[index(each)];
    if (is_checked && (each == member::usable_size || each == member::locate)) {
      EXPECT_GE(calls, 1u);  // the checks ask more often than the program
    } else if (each == member::free) {
      EXPECT_EQ(calls, 2u);  // of a quarantine: one block was driven out, the other left when the heap was coalesced
    } else {
      EXPECT_EQ(calls, reaches_design<TypeParam>(each) ? 1u : 0u);
    }
  }

  const auto argument = [&](member which) { return kept.argument[index(which)]; };
  EXPECT_EQ(argument(member::grow), 5555u);
  EXPECT_EQ(argument(member::malloc), is_checked ? 128u : 100u);
  EXPECT_EQ(argument(member::aligned_malloc), 64u);
  EXPECT_EQ(argument(member::free), 8 * witness::page);
  EXPECT_EQ(argument(member::withdraw), 11u);
  EXPECT_EQ(argument(member::restore), 12u);
  EXPECT_EQ(argument(member::relocate), relocates<TypeParam> ? 999u : 0u);

  const answers told = said.at(0);
  EXPECT_EQ(told.first_block, 0u);
  EXPECT_EQ(told.aligned_block, 8 * witness::page);
  EXPECT_EQ(told.usable, is_checked ? 100u : witness::page);
  EXPECT_EQ(told.counts.live_bytes, 1'000'000u);
  if constexpr (locates_blocks<TypeParam>) {
    EXPECT_EQ(told.where, block_location::block);
  }
  ASSERT_EQ(fault.has_value(), !is_checked);
  EXPECT_EQ(fault.value_or(memory_fault{}).bytes, is_checked ? 0u : 3u);
  static_assert(std::is_same_v<decltype(under_test.statistics()), double>);
  EXPECT_STREQ(TypeParam::name, "witness");
}

// The two adaptors together over a design that works: each does its own, whichever stands on the other.
template <class A>
class both_adaptors : public testing::Test {};
using both_orders = testing::Types<recorded<checked_few<locked_list<>>>, checked_few<recorded<locked_list<>>>>;
TYPED_TEST_SUITE(both_adaptors, both_orders, );

TYPED_TEST(both_adaptors, find_faults_and_write_down_calls) {
  recorder recorder{1000};
  heap<TypeParam> heap{std::uint64_t{1} << 20};
  void* const block = err(heap, takes{100});
  ASSERT_NE(block, nullptr);
  EXPECT_GT(*heap.statistics().live_bytes, 0u);
  recorder.end_phase();
  err(heap, scribbles{block, 100});
  err(heap, frees{block});
  expect_fault(heap, fault_kind::overrun, block, 100);
  heap.clear_fault();
  expect_no_fault(heap);
  EXPECT_EQ(heap.statistics().live_bytes, 0u);
  err(heap, frees_others{1});
  err(heap, frees_others{1});
  recorder.end_phase();

  // The outer adaptor sees the calls of the program; the inner one those of the outer: sizes with their guards, and
  // frees of blocks that left the quarantine.
  const trace made = recorder.finish();
  const trace_figures figures = examine(made);
  EXPECT_EQ(figures.mallocs, 3u);
  constexpr bool records_program = std::is_same_v<TypeParam, recorded<checked_few<locked_list<>>>>;
  EXPECT_EQ(figures.frees, records_program ? 3u : 2u) << "the last block stays in quarantine";
  EXPECT_EQ(figures.requested_bytes, records_program ? 100u + 400 + 400 : 128u + 416 + 416);
}

TYPED_TEST(both_adaptors, take_the_heap_back) {
  recorder recorder{1000};
  heap<TypeParam> heap{std::uint64_t{1} << 20};
  void* const block = err(heap, takes{100});
  err(heap, frees{block});
  err(heap, takes{200});
  heap.reset();
  EXPECT_EQ(heap.statistics().live_bytes, 0u);
  heap.grow(std::uint64_t{2} << 20);
  EXPECT_EQ(heap.size(), std::uint64_t{2} << 20);
  EXPECT_NE(err(heap, takes{(std::uint64_t{1} << 20) + 4096}), nullptr);
  recorder.end_phase();
  EXPECT_EQ(examine(recorder.finish()).left.size(), 1u);
}

}  // namespace
}  // namespace warpheap::test::adaptors_test
