// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The registry names each allocator once, by the name that it goes by.

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <string>
#include <vector>
#include <warpheap/designs/registry.hpp>

namespace warpheap::registry_test {
namespace {

// Names as registry.def lists them, and as the designs call themselves.
std::vector<std::string> listed_names() {
  std::vector<std::string> names;
#define WARPHEAP_DESIGN(name, header) names.push_back(#name);
#define WARPHEAP_CUDA_DESIGN(name, header) WARPHEAP_CUDA_ONLY(names.push_back(#name);)
#define WARPHEAP_HOST_DESIGN(name, header) WARPHEAP_WHERE_TESTED(names.push_back(#name);)
#include <warpheap/designs/registry.def>
#undef WARPHEAP_HOST_DESIGN
#undef WARPHEAP_CUDA_DESIGN
#undef WARPHEAP_DESIGN
  return names;
}

std::vector<std::string> visited_names() {
  std::vector<std::string> names;
  for_each_registered([&]<class A>(allocator_tag<A>) {
    static_assert(device_allocator<A>);
    names.emplace_back(A::name);
  });
  return names;
}

TEST(registry, visits_all_in_order_by_their_own_names) { EXPECT_EQ(visited_names(), listed_names()); }

TEST(registry, names_each_once) {
  const std::vector<std::string> names = visited_names();
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
}

TEST(registry, names_are_lower_case_words) {
  for (const std::string& name : visited_names()) {
    EXPECT_FALSE(name.empty());
    EXPECT_TRUE(std::islower(static_cast<unsigned char>(name.front()))) << name;
    EXPECT_TRUE(std::all_of(name.begin(), name.end(), [](unsigned char letter) {
      return std::islower(letter) || std::isdigit(letter) || letter == '_';
    })) << name;
  }
}

TEST(registry, has_the_baseline_everywhere_and_the_toolkit_on_cuda) {
  const std::vector<std::string> names = visited_names();
  EXPECT_EQ(std::count(names.begin(), names.end(), "bump"), 1);
  EXPECT_EQ(std::count(names.begin(), names.end(), "cuda_malloc"), this_backend == backend::cuda ? 1 : 0);
}

TEST(registry, metadata_never_falls_with_size) {
  for_each_registered([&]<class A>(allocator_tag<A>) {
    for (std::uint64_t bytes = 1; bytes < std::uint64_t{1} << 40; bytes *= 3) {
      EXPECT_LE(A::metadata_bytes(bytes), A::metadata_bytes(3 * bytes)) << A::name << " at " << bytes;
    }
  });
}

}  // namespace
}  // namespace warpheap::registry_test
