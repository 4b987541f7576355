// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The C interface of heaps: arguments are checked here, and nothing that is thrown leaves for C, as
// ../interface/guard.hpp sees to.

// Only what the header declares is seen from outside; heap.map keeps in what standard headers mark as visible.
#pragma GCC visibility push(default)
#include <warpheap/heap/heap.h>
#pragma GCC visibility pop

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "../interface/arrays.hpp"
#include "../interface/structures.hpp"
#include "designs.hpp"

namespace {

using warpheap::scoped_device;
namespace interface = warpheap::interface;
using interface::read_as_far;
using interface::require;
using interface::tell;
using interface::write_as_far;

constexpr std::uint32_t known_flags = WH_HEAP_CHECKED | WH_HEAP_PLAIN | WH_HEAP_KEEPS_STACK_LIMIT;
static_assert(sizeof(unsigned long long) == sizeof(std::uint64_t) && sizeof(void*) == sizeof(std::uint64_t));

wh_heap_status status(interface::outcome how) { return static_cast<wh_heap_status>(how); }

template <class Call>
wh_heap_status guarded(Call call) noexcept {
  return status(interface::guarded(call));
}

// Runs `call(heap)` on the heap's device.
template <class Heap, class Call>
wh_heap_status on(Heap* heap, Call call) noexcept {
  return guarded([&] {
    require(heap != nullptr, "the heap is null: make one with wh_heap_create");
    const scoped_device own{heap->device};
    call(*heap);
  });
}

const interface::named_design& find_design(const char* name) {
  if (name == nullptr) return *interface::heap_designs[0];
  for (const auto* each = interface::heap_designs; *each != nullptr; ++each) {
    if (std::string_view{(*each)->name} == name) return **each;
  }
  throw std::invalid_argument("this library has no design '" + std::string(name) + "': use one of " +
                              interface::heap_design_names);
}

wh_heap_fault for_c(const std::optional<warpheap::memory_fault>& found) {
  wh_heap_fault fault{};
  if (!found.has_value()) return fault;
  static_assert(static_cast<int>(warpheap::fault_kind::use_after_free) + 1 == WH_HEAP_USE_AFTER_FREE);
  fault.kind = static_cast<std::uint32_t>(found->kind) + 1;
  fault.thread_index = found->thread_index;
  fault.block_index = found->block_index;
  fault.pointer = reinterpret_cast<std::uintptr_t>(found->pointer);
  fault.bytes = found->bytes;
  const std::string text = warpheap::describe(*found);
  text.copy(fault.text, sizeof(fault.text) - 1);
  return fault;
}

}  // namespace

extern "C" {

uint32_t wh_heap_abi(void) { return WH_HEAP_ABI; }

const char* wh_heap_backend(void) { return warpheap::backend_name(warpheap::this_backend); }

const char* wh_heap_designs(void) { return interface::heap_design_names; }

uint32_t wh_heap_device_available(void) {
  if (interface::device_answers()) return 1;
  // What a first use of the device throws says why not.
  static_cast<void>(guarded([] { static_cast<void>(warpheap::device_context::current()); }));
  return 0;
}

int32_t wh_heap_device_count(void) {
  int32_t count = 0;
  static_cast<void>(guarded([&] { count = warpheap::device_count(); }));
  return count;
}

int32_t wh_heap_current_device(void) { return interface::current_device(); }

const char* wh_heap_error(void) { return interface::last_error().c_str(); }

wh_heap_status wh_heap_array_make(const wh_heap* heap, uint64_t bytes, void** array) {
  return on(heap, [&](const wh_heap&) { interface::array_make(bytes, array); });
}

void wh_heap_array_end(void* array) { interface::array_end(array); }

wh_heap_status wh_heap_array_copy(void* to, const void* from, uint64_t bytes) {
  return guarded([&] { interface::array_copy(to, from, bytes); });
}

wh_heap_status wh_heap_array_widen(const wh_heap* heap, uint64_t* to, const uint32_t* from, uint64_t count) {
  return on(heap, [&](const wh_heap&) { interface::convert<interface::widen>(to, from, count); });
}

wh_heap_status wh_heap_await_stream(const wh_heap* heap, uint64_t stream) {
  return on(heap, [&](const wh_heap&) { interface::await_stream(stream); });
}

wh_heap_status wh_heap_create(const wh_heap_options* options, wh_heap** heap) {
  return guarded([&] {
    require(options != nullptr, "there are no options: at least set their struct_bytes and bytes");
    require(heap != nullptr, "there is no place for the heap's pointer");
    require(options->struct_bytes >= offsetof(wh_heap_options, reserve_bytes),
            "struct_bytes of the options is not their size: set it to sizeof(wh_heap_options)");
    const wh_heap_options asked = read_as_far(*options);
    require((asked.flags & ~known_flags) == 0, "flags has a bit that this library does not know");
    require(asked.device >= -1, "device is neither the number of a device nor -1");
    require(asked.bytes != 0, "a heap of 0 bytes was asked for: give the bytes that blocks are to lie in");
    const interface::named_design& design = find_design(asked.design);
    const auto device =
        asked.device < 0 ? warpheap::device_context::current() : warpheap::device_context::of(asked.device);
    const scoped_device own{device};
    warpheap::heap_options how;
    how.reserve_bytes = asked.reserve_bytes;
    how.plain = (asked.flags & WH_HEAP_PLAIN) != 0;
    how.raise_stack_limit = (asked.flags & WH_HEAP_KEEPS_STACK_LIMIT) == 0;
    auto made = design.make({asked.bytes, how, (asked.flags & WH_HEAP_CHECKED) != 0});
    made->design = design.name;
    made->flags = asked.flags;
    warpheap::synchronise();
    *heap = made.release();
  });
}

void wh_heap_destroy(wh_heap* heap) {
  static_cast<void>(guarded([&] { delete heap; }));
}

uint64_t wh_heap_handle(const wh_heap* heap) { return heap == nullptr ? 0 : heap->handle(); }

const char* wh_heap_design(const wh_heap* heap) { return heap == nullptr ? nullptr : heap->design; }

int32_t wh_heap_device(const wh_heap* heap) { return heap == nullptr ? -1 : heap->device.device(); }

uint32_t wh_heap_flags(const wh_heap* heap) { return heap == nullptr ? 0 : heap->flags; }

wh_heap_status wh_heap_grow(wh_heap* heap, uint64_t bytes) {
  return on(heap, [&](wh_heap& now) { now.grow(bytes); });
}

wh_heap_status wh_heap_relocate(wh_heap* heap, uint64_t bytes, int64_t* distance) {
  return on(heap, [&](wh_heap& now) { tell(distance, now.relocate(bytes)); });
}

wh_heap_status wh_heap_reset(wh_heap* heap) {
  return on(heap, [](wh_heap& now) { now.reset(); });
}

wh_heap_status wh_heap_trim(wh_heap* heap, uint64_t* bytes) {
  return on(heap, [&](wh_heap& now) { tell(bytes, now.trim()); });
}

wh_heap_status wh_heap_restore(wh_heap* heap) {
  return on(heap, [](wh_heap& now) { now.restore(); });
}

wh_heap_status wh_heap_statistics_of(const wh_heap* heap, wh_heap_statistics* figures) {
  return on(heap, [&](const wh_heap& now) {
    require(figures != nullptr, "there is no place for the figures");
    require(figures->struct_bytes >= sizeof(figures->struct_bytes),
            "struct_bytes of the figures is not their size: set it to sizeof(wh_heap_statistics)");
    const warpheap::heap_statistics found = now.statistics();
    write_as_far(*figures, {0, now.size(), found.reserved_bytes, found.committed_bytes, found.metadata_bytes,
                            found.live_bytes.value_or(WH_HEAP_UNKNOWN)});
  });
}

wh_heap_status wh_heap_first_fault(const wh_heap* heap, wh_heap_fault* fault) {
  return on(heap, [&](const wh_heap& now) {
    require(fault != nullptr, "there is no place for the fault");
    require(fault->struct_bytes >= sizeof(fault->struct_bytes),
            "struct_bytes of the fault is not its size: set it to sizeof(wh_heap_fault)");
    write_as_far(*fault, for_c(now.first_fault()));
  });
}

wh_heap_status wh_heap_clear_fault(wh_heap* heap) {
  return on(heap, [](wh_heap& now) { now.clear_fault(); });
}

wh_heap_status wh_heap_malloc(wh_heap* heap, const uint64_t* sizes, uint64_t* blocks, uint64_t count) {
  return on(heap, [&](wh_heap& now) {
    if (count == 0) return;
    require(sizes != nullptr && blocks != nullptr, "an array is null and the count is not 0");
    now.malloc(reinterpret_cast<const unsigned long long*>(sizes), reinterpret_cast<void**>(blocks), count);
    warpheap::synchronise();
  });
}

wh_heap_status wh_heap_free(wh_heap* heap, const uint64_t* blocks, uint64_t count) {
  return on(heap, [&](wh_heap& now) {
    if (count == 0) return;
    require(blocks != nullptr, "the array is null and the count is not 0");
    now.free(reinterpret_cast<void* const*>(const_cast<uint64_t*>(blocks)), count);
    warpheap::synchronise();
  });
}

}  // extern "C"
