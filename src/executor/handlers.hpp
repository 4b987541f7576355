// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cxxabi.h>

#include <cstring>

namespace warpheap::executor {

/// The exceptions that the code of one stack has thrown and not yet handled.
///
/// The C++ runtime keeps them for each system thread, as a list that it expects to shrink in the order in which it
/// grew. Lanes share a system thread, and a lane may be switched away between a throw and the end of its handler. So
/// the list is exchanged with the stack.
///
/// Invariant: while a stack runs, the runtime's list holds exactly that stack's exceptions. While it rests, they are
/// here.
struct handlers {
  void* caught = nullptr;     ///< the innermost exception of which a handler runs; it leads to the others
  unsigned int uncaught = 0;  ///< exceptions that are on their way to a handler
};

/// Keeps the running stack's exceptions in `from`. Returns the runtime's list for `resume`: it is the list of the
/// calling thread, on which the stack goes on, too.
inline void* suspend(handlers& from) {
  // The Itanium C++ ABI (2.2.2) has these two fields in this order; a field that an implementation adds comes after.
  void* const list = abi::__cxa_get_globals();
  std::memcpy(&from.caught, list, sizeof(from.caught));
  std::memcpy(&from.uncaught, static_cast<char*>(list) + sizeof(from.caught), sizeof(from.uncaught));
  return list;
}

/// Makes `to` the runtime's list for the running stack.
inline void resume(void* list, const handlers& to) {
  std::memcpy(list, &to.caught, sizeof(to.caught));
  std::memcpy(static_cast<char*>(list) + sizeof(to.caught), &to.uncaught, sizeof(to.uncaught));
}

}  // namespace warpheap::executor
