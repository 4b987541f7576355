// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <allocator/conformance/suite.hpp>
#include <string>

namespace warpheap::test {

/// The test of one behaviour of the allocator `A`.
template <class A>
class conformance : public testing::Test {
 public:
  explicit conformance(behaviour which) : which_(which) {}

  void TestBody() override {
    findings found;
    run_check(which_, found);
    for (const std::string& text : found.texts()) ADD_FAILURE() << A::name << ": " << text;
    if (found.empty() && !found.skipped().empty()) GTEST_SKIP() << A::name << " does not promise " << found.skipped();
  }

 private:
  behaviour which_;
};

/// Makes a test `conformance/<allocator>.<behaviour>` of each behaviour. Returns true, to be called from a constant.
template <class A>
bool register_conformance() {
  for (const behaviour& each : conformance_suite<A>()) {
    testing::RegisterTest((std::string{"conformance/"} + A::name).c_str(), each.name, nullptr, nullptr, __FILE__,
                          __LINE__, [each]() -> conformance<A>* { return new conformance<A>{each}; });
  }
  return true;
}

}  // namespace warpheap::test
