// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <warpheap/allocator/capabilities.hpp>

#include "json.hpp"
#include "options.hpp"

namespace warpheap::bench {

/// A registered allocator, as the driver uses it. Each has a translation unit of its own, made from `entry.cpp.in`, so
/// that allocators compile side by side.
struct allocator_entry {
  const char* name;
  allocator_capabilities capabilities;
  int position;  ///< in the whole registry, also where this backend lacks some: plots take their colours from it
  /// Measures `options.case_name` and adds its findings to `record`. Returns why the case is not ok, empty if it is.
  /// Throws `launch_failure` if a kernel failed, `usage_error` if there is no such case.
  std::string (*run)(const run_options& options, json_object& record);
};

/// All allocators of this backend, in the registry's order.
std::span<const allocator_entry> all_entries();

/// The allocator of that name. Throws `usage_error` that lists the names.
const allocator_entry& find_entry(std::string_view name);

/// The allocator's name and capabilities. A limit that only the heap sets is null.
json_object describe(const allocator_entry& entry);

}  // namespace warpheap::bench
