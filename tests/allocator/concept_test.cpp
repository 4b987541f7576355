// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The concept accepts what keeps it and rejects what does not, member by member.

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <warpheap/allocator.hpp>

namespace warpheap::concept_test {
namespace {

// Keeps the concept and promises nothing beyond it. The models below differ from it by one member each.
struct minimal {
  static constexpr const char* name = "minimal";
  static constexpr allocator_capabilities capabilities{};
  WARPHEAP_FN static constexpr std::uint64_t metadata_bytes(std::uint64_t) { return 0; }
  explicit minimal(const arena&) {}
  WARPHEAP_FN void initialise() const {}
  WARPHEAP_FN void* malloc(std::uint64_t) const { return nullptr; }
  WARPHEAP_FN void* aligned_malloc(std::uint64_t, std::uint64_t) const { return nullptr; }
  WARPHEAP_FN void free(void*) const {}
};
static_assert(device_allocator<minimal>);

template <auto Capabilities>
struct promising : minimal {
  using minimal::minimal;
  static constexpr allocator_capabilities capabilities = Capabilities;
};

// Each promise needs its member.
constexpr allocator_capabilities promises_growth{.grow = true};
constexpr allocator_capabilities promises_relocation{.grow = true, .relocate = true};
constexpr allocator_capabilities promises_size{.knows_size = true};
constexpr allocator_capabilities promises_counts{.counts_live = true};
static_assert(!device_allocator<promising<promises_growth>>);
static_assert(!device_allocator<promising<promises_size>>);
static_assert(!device_allocator<promising<promises_counts>>);
constexpr allocator_capabilities promises_types{.typed_objects = true};
static_assert(!device_allocator<promising<promises_types>>);
struct typed : promising<promises_types> {
  using promising::promising;
  template <class... T>
  struct typed_heap {};
};
static_assert(device_allocator<typed>);

struct growing : promising<promises_growth> {
  using promising::promising;
  WARPHEAP_FN void grow(std::uint64_t) const {}
};
static_assert(!reports_statistics<growing>);

// A design that can move to a larger range must also grow into it.
struct relocating : promising<promises_relocation> {
  using promising::promising;
  WARPHEAP_FN void grow(std::uint64_t) const {}
  void relocate(const arena&, const arena&) const {}
};
struct relocating_without_growth : relocating {
  using relocating::relocating;
  static constexpr allocator_capabilities capabilities{.relocate = true};
};
struct relocating_nowhere : relocating {
  using relocating::relocating;
  void relocate(const arena&) const {}
};
struct relocating_bool : relocating {
  using relocating::relocating;
  bool relocate(const arena&, const arena&) const { return true; }
};
static_assert(device_allocator<relocating>);
static_assert(!device_allocator<promising<promises_relocation>>);
static_assert(!device_allocator<relocating_without_growth>);
static_assert(!device_allocator<relocating_nowhere>);
static_assert(!device_allocator<relocating_bool>);

struct reporting : minimal {
  using minimal::minimal;
  int statistics() const { return 0; }
};
static_assert(reports_statistics<reporting>);

struct sizing : promising<promises_size> {
  using promising::promising;
  WARPHEAP_FN std::uint64_t usable_size(const void*) const { return 0; }
};
struct counting : promising<promises_counts> {
  using promising::promising;
  WARPHEAP_FN void count(allocator_counts&) const {}
};
static_assert(device_allocator<growing> && device_allocator<sizing> && device_allocator<counting>);

// A design that tells blocks from other memory must know their sizes, too.
struct locating : sizing {
  using sizing::sizing;
  WARPHEAP_FN block_location locate(const void*) const { return block_location::outside; }
};
struct locating_without_size : minimal {
  using minimal::minimal;
  WARPHEAP_FN block_location locate(const void*) const { return block_location::outside; }
};
struct locating_bool : sizing {
  using sizing::sizing;
  WARPHEAP_FN bool locate(const void*) const { return false; }
};
static_assert(locates_blocks<locating>);
static_assert(!locates_blocks<sizing>);
static_assert(!locates_blocks<locating_without_size>);
static_assert(!locates_blocks<locating_bool>);

struct fault_recording : minimal {
  using minimal::minimal;
  std::optional<memory_fault> first_fault() const { return std::nullopt; }
  void clear_fault() const {}
};
struct fault_recording_for_ever : minimal {
  using minimal::minimal;
  std::optional<memory_fault> first_fault() const { return std::nullopt; }
};
static_assert(records_faults<fault_recording>);
static_assert(!records_faults<fault_recording_for_ever>);
static_assert(!records_faults<minimal>);

// A member of a promise with another return type does not keep it.
struct growing_bool : promising<promises_growth> {
  using promising::promising;
  WARPHEAP_FN bool grow(std::uint64_t) const { return true; }
};
struct sizing_int : promising<promises_size> {
  using promising::promising;
  WARPHEAP_FN int usable_size(const void*) const { return 0; }
};
struct counting_by_value : promising<promises_counts> {
  using promising::promising;
  WARPHEAP_FN allocator_counts count() const { return {}; }
};
static_assert(!device_allocator<growing_bool>);
static_assert(!device_allocator<sizing_int>);
static_assert(!device_allocator<counting_by_value>);

// Nor does a member that changes the handle: handles are copied, so what changes lives in the metadata.
struct sizing_by_change : promising<promises_size> {
  using promising::promising;
  WARPHEAP_FN std::uint64_t usable_size(const void*) { return 0; }
};
static_assert(!device_allocator<sizing_by_change>);

// What every model needs: members that hide those of `minimal` by what the concept must reject.
struct unnamed : minimal {
  using minimal::minimal;
  static constexpr int name = 1;
};
struct without_capabilities : minimal {
  using minimal::minimal;
  static constexpr int capabilities = 1;
};
struct with_signed_metadata : minimal {
  using minimal::minimal;
  WARPHEAP_FN static constexpr int metadata_bytes(std::uint64_t) { return 0; }
};
struct without_initialise : minimal {
  using minimal::minimal;
  void initialise(int) const {}
};
struct with_typed_malloc : minimal {
  using minimal::minimal;
  WARPHEAP_FN char* malloc(std::uint64_t) const { return nullptr; }
};
struct with_changing_malloc : minimal {
  using minimal::minimal;
  WARPHEAP_FN void* malloc(std::uint64_t) { return nullptr; }
};
struct without_aligned_malloc : minimal {
  using minimal::minimal;
  WARPHEAP_FN void* aligned_malloc(std::uint64_t) const { return nullptr; }
};
struct with_reporting_free : minimal {
  using minimal::minimal;
  WARPHEAP_FN bool free(void*) const { return true; }
};
struct made_of_nothing : minimal {
  made_of_nothing() : minimal(arena{}) {}
};
struct with_a_string : minimal {
  using minimal::minimal;
  std::string text;
};
struct with_a_destructor : minimal {
  using minimal::minimal;
  ~with_a_destructor() {}
};
struct nothing {};

static_assert(!device_allocator<unnamed>);
static_assert(!device_allocator<with_signed_metadata>);
static_assert(!device_allocator<without_initialise>);
static_assert(!device_allocator<with_typed_malloc>);
static_assert(!device_allocator<with_changing_malloc>);
static_assert(!device_allocator<without_aligned_malloc>);
static_assert(!device_allocator<with_reporting_free>);
static_assert(!device_allocator<made_of_nothing>);
static_assert(!device_allocator<with_a_string>);
static_assert(!device_allocator<with_a_destructor>);
static_assert(!device_allocator<without_capabilities>);
static_assert(!device_allocator<nothing>);
static_assert(!device_allocator<int>);

// The assertions above are the test; this one shows in a report that they held.
TEST(device_allocator, accepts_models_and_rejects_others) { SUCCEED(); }

}  // namespace
}  // namespace warpheap::concept_test
