// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Members that a design keeps to itself, for tests that put its parts into states which its public functions seldom
/// reach. An explicit instantiation may name a private member ([temp.spec.general]), so the design needs no friend.

/// Makes `NAME(object, arguments...)` call a private member function, given as `CLASS::MEMBER`. At namespace scope.
#define WARPHEAP_TEST_PRIVATE(NAME, ...)                                              \
  struct NAME##_tag {                                                                 \
    friend constexpr auto member_of(NAME##_tag);                                      \
  };                                                                                  \
  template <auto Member>                                                              \
  struct NAME##_member {                                                              \
    friend constexpr auto member_of(NAME##_tag) { return Member; }                    \
  };                                                                                  \
  template struct NAME##_member<&__VA_ARGS__>;                                        \
  template <class Object, class... Arguments>                                         \
  decltype(auto) NAME(const Object& object, Arguments&&... arguments) {               \
    return (object.*member_of(NAME##_tag{}))(static_cast<Arguments&&>(arguments)...); \
  }
