// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlfcn.h>

#include <stdexcept>
#include <string>

#include <warpheap/pool/pool.h>

namespace warpheap_torch {

/** The functions of the library of pools that Python found. The library is opened and not linked, so that one compiled
 * extension serves wherever the library lies. */
struct pool_functions {
  decltype(&wh_pool_abi) abi;
  decltype(&wh_pool_error) error;
  decltype(&wh_pool_of_device) of_device;
  decltype(&wh_pool_allocate) allocate;
  decltype(&wh_pool_deallocate) deallocate;
  decltype(&wh_pool_note_use) note_use;
  decltype(&wh_pool_trim) trim;
  decltype(&wh_pool_limit) limit;
  decltype(&wh_pool_owns) owns;
  decltype(&wh_pool_statistics_of) statistics_of;
  decltype(&wh_pool_reset_peaks) reset_peaks;
  decltype(&wh_pool_begin_capture) begin_capture;
  decltype(&wh_pool_end_capture) end_capture;
  decltype(&wh_pool_release_capture) release_capture;

  /** Opens the library at `path`, for as long as the process lives. Throws `std::runtime_error` if that is no library
   * of pools with the interface that this was compiled for. */
  explicit pool_functions(const char* path) {
    void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      throw std::runtime_error(std::string("the library of pools cannot be opened: ") + dlerror());
    }
    const auto find = [&](auto& function, const char* name) {
      void* found = dlsym(library, name);
      if (found == nullptr) {
        throw std::runtime_error(std::string(path) + " has no " + name + " and is no library of pools");
      }
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(found);
    };
    find(abi, "wh_pool_abi");
    if (abi() != WH_POOL_ABI) {
      throw std::runtime_error(std::string(path) + " has interface " + std::to_string(abi()) + ", and this needs " +
                               std::to_string(WH_POOL_ABI));
    }
    find(error, "wh_pool_error");
    find(of_device, "wh_pool_of_device");
    find(allocate, "wh_pool_allocate");
    find(deallocate, "wh_pool_deallocate");
    find(note_use, "wh_pool_note_use");
    find(trim, "wh_pool_trim");
    find(limit, "wh_pool_limit");
    find(owns, "wh_pool_owns");
    find(statistics_of, "wh_pool_statistics_of");
    find(reset_peaks, "wh_pool_reset_peaks");
    find(begin_capture, "wh_pool_begin_capture");
    find(end_capture, "wh_pool_end_capture");
    find(release_capture, "wh_pool_release_capture");
  }

  /** True for statuses that PyTorch calls out of memory. */
  static bool lacks_memory(wh_pool_status status) {
    return status == WH_POOL_OUT_OF_MEMORY || status == WH_POOL_TOO_LARGE;
  }
};

}  // namespace warpheap_torch
