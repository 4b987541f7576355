// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

// What tests say to the libcuda of stand_in_driver.cpp, and hear from it. It has two devices, whose memory is on the
// host. Work of a stream is a number: a test gives some and lets the device do it. Any thread can call this.

namespace warpheap::test::stand_in {

/// A wait that was given to a stream: until `until` has done the first `work` that it was given.
struct wait {
  CUstream stream;
  CUstream until;
  std::uint64_t work;
};

/// All as in a new process, but for contexts: no streams, no work, all memory free.
void reset_all();

/// A new stream of a device.
CUstream make_stream(int device);
/// One more piece of work for a stream, or all that it was given is done.
void give_work(CUstream stream);
void do_work(CUstream stream);
/// From now on, or not any more, the stream is captured. While one is, the default streams cannot be asked.
void begin_capture(CUstream stream);
void end_capture(CUstream stream);
std::vector<wait> waits();

/// Bytes of a device that are taken, and how many there can be.
std::uint64_t taken_bytes(int device);
void set_capacity(int device, std::uint64_t bytes);
/// Number of addresses that are reserved.
std::uint64_t reserved_bytes();

/// Resets a device as `cudaDeviceReset` does: its primary context is gone, with all memory and streams.
void reset_device(int device);
/// The context of the calling thread; null if it has none.
CUcontext current_context();
void set_current_context(CUcontext context);
/// The primary context of a device, which this starts.
CUcontext primary_context(int device);
/// Devices that were let into a device's memory, in pairs of owner and peer.
std::vector<std::pair<int, int>> peers();
/// Whether one device can reach another's memory.
void set_reach(bool can);

/// How many events there are, pieces of memory of other processes that are open, and blocks of pinned memory.
std::uint64_t events();
std::uint64_t opened();
std::uint64_t pinned();
/// The flags of the function's last call that had an effect; of cuDeviceCanAccessPeer the device that reaches.
unsigned flags_of(const std::string& name);

/// The next call of the function named so fails with `code`.
void fail_next(const std::string& name, CUresult code);
/// The names of the functions that were called, in order.
std::vector<std::string> names_of_calls();

}  // namespace warpheap::test::stand_in
