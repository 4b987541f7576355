// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <istream>
#include <optional>
#include <ostream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace warpheap::pool_detail {

// A line of an allocation log. Numbers are decimal, whatever the stream's locale and flags are.
struct log_line {
  char kind = 0;         // '+', '!' or '-'
  std::uint64_t id = 0;  // of '+' and '-'
  std::uint64_t bytes = 0;
  std::uint64_t alignment = 0;
};

// Writes the line in one piece.
inline void write_log_line(std::ostream& log, const log_line& line) {
  std::string text{line.kind};
  const auto add = [&](std::uint64_t number) { text += ' ' + std::to_string(number); };
  if (line.kind != '!') add(line.id);
  if (line.kind != '-') {
    add(line.bytes);
    add(line.alignment);
  }
  text += '\n';
  log.write(text.data(), static_cast<std::streamsize>(text.size()));
}

// Reads what `write_log_line` wrote, without the end of the line; none for any other text.
inline std::optional<log_line> read_log_line(std::string_view text) {
  if (!text.empty() && text.back() == '\r') text.remove_suffix(1);
  if (text.empty() || (text[0] != '+' && text[0] != '!' && text[0] != '-')) return std::nullopt;
  log_line line{.kind = text[0]};
  const char* at = text.data() + 1;
  const char* const end = text.data() + text.size();
  const auto take = [&](std::uint64_t& number) {
    if (at == end || *at != ' ') return false;
    const auto [next, error] = std::from_chars(at + 1, end, number);
    at = next;
    return error == std::errc{};
  };
  if (line.kind != '!' && !take(line.id)) return std::nullopt;
  if (line.kind != '-' && !(take(line.bytes) && take(line.alignment))) return std::nullopt;
  if (at != end) return std::nullopt;
  return line;
}

// Calls `visit(line, number)` for each line of a log, numbers from 1. Empty lines are passed over. Throws
// std::runtime_error if the log cannot be read, and for a line that is not one of a log.
template <class Visit>
void for_each_log_line(std::istream& log, Visit visit) {
  const auto* const file = dynamic_cast<const std::filebuf*>(log.rdbuf());
  if (!log || (file != nullptr && !file->is_open())) {
    throw std::runtime_error("warpheap: the log cannot be read: open it, and check that the file exists");
  }
  std::istream plain(log.rdbuf());  // throws nothing of its own at the end, whatever `log` was told to throw
  std::uint64_t number = 0;
  for (std::string text; std::getline(plain, text);) {
    ++number;
    if (text.empty() || text == "\r") continue;
    const std::optional<log_line> line = read_log_line(text);
    if (!line) {
      throw std::runtime_error("warpheap: line " + std::to_string(number) +
                               " of the log is not as logging_adaptor writes it: " + text.substr(0, 80));
    }
    visit(*line, number);
  }
  if (plain.bad()) throw std::runtime_error("warpheap: the log could not be read to its end");
}

}  // namespace warpheap::pool_detail
