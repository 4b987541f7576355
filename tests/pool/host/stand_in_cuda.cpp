// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// What tests say to the libcuda of stand_in_driver.cpp, and hear from it.

#include "stand_in_cuda.hpp"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "stand_in_world.hpp"

namespace warpheap::test::stand_in {

void reset_all() {
  const std::lock_guard lock(the().mutex);
  the().streams.clear();
  for (device_state& each : the().device) {
    each.default_stream = {each.context.device};
    each.capacity = std::uint64_t{1} << 30;
  }
  the().waits.clear();
  the().peers.clear();
  the().can_reach = true;
  the().flags.clear();
  the().failures.clear();
  the().calls.clear();
}

CUstream make_stream(int device) {
  const std::lock_guard lock(the().mutex);
  the().streams.push_back(std::make_unique<CUstream_st>(CUstream_st{device}));
  return the().streams.back().get();
}
void give_work(CUstream stream) {
  const std::lock_guard lock(the().mutex);
  ++stream->given;
}
void do_work(CUstream stream) {
  const std::lock_guard lock(the().mutex);
  stream->done = stream->given;
}
void begin_capture(CUstream stream) {
  const std::lock_guard lock(the().mutex);
  stream->capture = ++the().captures_begun;
}
void end_capture(CUstream stream) {
  const std::lock_guard lock(the().mutex);
  stream->capture = 0;
}
std::vector<wait> waits() {
  const std::lock_guard lock(the().mutex);
  return the().waits;
}
std::uint64_t taken_bytes(int device) {
  const std::lock_guard lock(the().mutex);
  return of(device).taken;
}
void set_capacity(int device, std::uint64_t bytes) {
  const std::lock_guard lock(the().mutex);
  of(device).capacity = bytes;
}
std::uint64_t reserved_bytes() {
  const std::lock_guard lock(the().mutex);
  std::uint64_t all = 0;
  for (const auto& [begin, range] : the().ranges) all += range.bytes;
  return all;
}
void reset_device(int device) {
  const std::lock_guard lock(the().mutex);
  of(device).is_active = false;
  of(device).taken = 0;
  const auto is_gone = [device](const auto& each) { return each.second.device == device; };
  std::erase_if(the().handles, is_gone);
  for (const auto& [begin, range] : the().ranges) {
    if (range.device == device) ::munmap(reinterpret_cast<void*>(begin), range.bytes);
  }
  std::erase_if(the().ranges, is_gone);
  for (const auto& [begin, block] : the().blocks) {
    if (block.device == device) std::free(reinterpret_cast<void*>(begin));
  }
  std::erase_if(the().blocks, is_gone);
}
CUcontext current_context() { return contexts.back(); }
void set_current_context(CUcontext context) { contexts.back() = context; }
CUcontext primary_context(int device) {
  const std::lock_guard lock(the().mutex);
  return start_primary(device);
}
std::vector<std::pair<int, int>> peers() {
  const std::lock_guard lock(the().mutex);
  return the().peers;
}
void set_reach(bool can) {
  const std::lock_guard lock(the().mutex);
  the().can_reach = can;
}
void fail_next(const std::string& name, CUresult code) {
  const std::lock_guard lock(the().mutex);
  the().failures[name] = code;
}
std::vector<std::string> names_of_calls() {
  const std::lock_guard lock(the().mutex);
  return the().calls;
}
std::uint64_t events() {
  const std::lock_guard lock(the().mutex);
  return the().events;
}
std::uint64_t opened() {
  const std::lock_guard lock(the().mutex);
  return the().opened.size();
}
std::uint64_t pinned() {
  const std::lock_guard lock(the().mutex);
  return the().pinned.size();
}
unsigned flags_of(const std::string& name) {
  const std::lock_guard lock(the().mutex);
  return the().flags[name];
}

}  // namespace warpheap::test::stand_in
