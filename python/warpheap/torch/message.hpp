// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <string>
#include <utility>

#include <c10/util/Exception.h>

namespace warpheap_torch {

/** The parts of a sentence. */
inline std::string part_of_text(const std::string& words) { return words; }
inline std::string part_of_text(const char* words) { return words; }
inline std::string part_of_text(std::integral auto number) { return std::to_string(number); }
inline std::string part_of_text(const void* address) {
  char digits[2 * sizeof(address)];
  const auto end = std::to_chars(digits, digits + sizeof(digits), reinterpret_cast<std::uintptr_t>(address), 16).ptr;
  return "0x" + std::string(digits, end);
}

/** A sentence of words, numbers and addresses. PyTorch's macros of checks take its `c_str()` as it is, and write all
 * else to a stream, which asks the locale of the process. Where the compiler links a library of C++ of its own into the
 * extension, that locale has other facets than the extension asks for, and the process ends by SIGSEGV. */
template <class... Parts>
std::string sentence(const Parts&... parts) {
  std::string text;
  (text.append(part_of_text(parts)), ...);
  return text;
}

/** A warning of PyTorch. Its macro would write the text to a stream. */
inline void warn(std::string text) {
  c10::warn(c10::Warning(c10::UserWarning(), {__func__, __FILE__, __LINE__}, std::move(text), false));
}

}  // namespace warpheap_torch
