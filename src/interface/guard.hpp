// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <warpheap/platform.hpp>

// What the interfaces for C share: nothing that is thrown leaves for C. A call ends with a number, which each interface
// names in its own header, and keeps a sentence.

namespace warpheap::interface {

/// How a call ended. The numbers are those of the headers.
enum class outcome : int {
  done = 0,
  invalid_argument = 1,
  too_large = 2,
  out_of_memory = 3,
  device_failure = 4,
  internal_error = 5,
  not_supported = 6
};

/// Something was asked of an object that its design cannot do.
class not_supported : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// An object has no memory for what was asked of it, and says what it has.
class no_memory : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The sentence of the calling thread's last call that failed.
inline std::string& last_error() {
  thread_local std::string text;
  return text;
}

/// Keeps the text for the caller. Without memory for it the text is empty, which says that much.
inline outcome failed(outcome how, const char* text) noexcept {
  constexpr std::string_view prefix = "warpheap: ";
  std::string_view said = text;
  if (said.substr(0, prefix.size()) == prefix) said.remove_prefix(prefix.size());
  try {
    last_error() = said;
  } catch (const std::bad_alloc&) {
    last_error().clear();
  }
  return how;
}

/// Runs `call` and makes a number of what it throws.
template <class Call>
outcome guarded(Call call) noexcept {
  try {
    call();
    return outcome::done;
  } catch (const not_supported& error) {
    return failed(outcome::not_supported, error.what());
  } catch (const std::length_error& error) {
    return failed(outcome::too_large, error.what());
  } catch (const std::logic_error& error) {
    return failed(outcome::invalid_argument, error.what());
  } catch (const no_memory& error) {
    return failed(outcome::out_of_memory, error.what());
  } catch (const std::bad_alloc&) {
    return failed(outcome::out_of_memory, "the host has no memory left: free some, or ask for less");
  } catch (const std::system_error& error) {
    return failed(outcome::out_of_memory, error.what());
  } catch (const launch_failure& error) {
    return failed(outcome::device_failure, error.what());
  } catch (const std::exception& error) {
    return failed(outcome::internal_error, error.what());
  } catch (...) {
    return failed(outcome::internal_error, "something was thrown that is no std::exception: report this");
  }
}

/// Throws `std::invalid_argument` with the sentence `what` unless something holds.
inline void require(bool holds, const char* what) {
  if (!holds) throw std::invalid_argument(what);
}

/// Writes a result for which the caller has a place.
template <class T, class U>
void tell(T* place, const U& value) {
  if (place != nullptr) *place = value;
}

/// True if kernels can run. Failures become a text, which then says why not.
inline bool device_answers() noexcept {
  bool available = false;
  static_cast<void>(guarded([&] { available = machine_available(); }));
  return available;
}

/// Number of the current device; -1 without one.
inline int current_device() noexcept {
  int device = -1;
  static_cast<void>(guarded([&] { device = device_context::current().device(); }));
  return device;
}

}  // namespace warpheap::interface
