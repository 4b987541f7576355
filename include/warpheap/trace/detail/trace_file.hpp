// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cstdint>
#include <fstream>
#include <limits>
#include <sstream>
#include <system_error>
#include <utility>
#include <warpheap/trace/trace_file.hpp>

namespace warpheap {
namespace detail {

inline constexpr std::string_view trace_title = "warpheap trace ";
inline constexpr std::string_view trace_version = "1";

// Reads a trace line by line.
class trace_parser {
 public:
  explicit trace_parser(std::string_view text) : rest_(text) {}

  trace parse() {
    if (!next_line() || !line_.starts_with(trace_title)) {
      throw trace_error("is no trace: its first line is not '" + std::string{trace_title} + std::string{trace_version} +
                        "'");
    }
    if (line_.substr(trace_title.size()) != trace_version) {
      throw trace_error("is a trace of version '" + std::string{line_.substr(trace_title.size(), 20)} +
                        "', and this reader knows " + std::string{trace_version});
    }
    while (next_line()) {
      if (line_.empty() || line_.front() == '#') continue;
      if (ended_) fail("something comes after the line 'end'");
      if (line_ == "phase") {
        result_.phases.emplace_back();
      } else if (line_.starts_with("end ")) {
        end();
      } else {
        thread();
      }
    }
    if (!ended_) throw trace_error("is cut off: its line 'end' is missing");
    examine(result_);
    return std::move(result_);
  }

 private:
  bool next_line() {
    if (rest_.empty()) return false;
    ++number_;
    const std::size_t length = rest_.find('\n');
    line_ = rest_.substr(0, length);
    rest_.remove_prefix(length == std::string_view::npos ? rest_.size() : length + 1);
    if (line_.ends_with('\r')) line_.remove_suffix(1);
    return true;
  }

  void end() {
    line_.remove_prefix(4);
    const std::uint64_t said = number(std::numeric_limits<std::uint64_t>::max(), "a count of operations");
    if (!line_.empty()) fail("the line 'end' has more than a count");
    if (said != operations_) {
      fail("the trace has " + std::to_string(operations_) + " operations, and its end says " + std::to_string(said));
    }
    ended_ = true;
  }

  void thread() {
    if (result_.phases.empty()) fail("'phase' comes before the threads of a phase");
    const std::uint64_t mine = number(trace::most_threads - 1, "a thread");
    trace_phase& phase = result_.phases.back();
    if (mine < phase.threads()) fail("threads of a phase come once each, in rising order");
    if (line_.empty()) fail("a thread without operations is left out");
    while (!line_.empty()) {
      if (!take(' ')) fail("operations stand apart by one blank");
      phase.add(mine, operation());
      ++operations_;
    }
  }

  trace_operation operation() {
    constexpr std::uint64_t last_place = std::numeric_limits<std::uint32_t>::max();
    const bool is_malloc = take('+');
    const bool is_free = !is_malloc && take('-');
    if (!is_malloc && !is_free && !take('?')) fail("an operation is +PLACE:BYTES, -PLACE or ?PLACE");
    trace_operation result{};
    result.place = static_cast<std::uint32_t>(number(last_place, "a place"));
    result.bytes = is_free ? trace_operation::free_mark : trace_operation::touch_mark;
    if (is_malloc) {
      if (!take(':')) fail("a malloc is +PLACE:BYTES");
      result.bytes = static_cast<std::uint32_t>(number(trace_operation::most_bytes, "a number of bytes"));
      if (result.bytes == 0) fail("a malloc asks for at least 1 byte");
    }
    return result;
  }

  bool take(char wanted) {
    if (!line_.starts_with(wanted)) return false;
    line_.remove_prefix(1);
    return true;
  }

  std::uint64_t number(std::uint64_t most, const char* what) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(line_.data(), line_.data() + line_.size(), value);
    if (error != std::errc{} || value > most) {
      std::string what_is_there = "'";
      what_is_there.append(line_.substr(0, 20)).append("' does not begin with ").append(what);
      fail(what_is_there.append(", a whole number up to ").append(std::to_string(most)));
    }
    line_.remove_prefix(static_cast<std::size_t>(end - line_.data()));
    return value;
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw trace_error("line " + std::to_string(number_) + ": " + what);
  }

  std::string_view rest_;
  std::string_view line_;
  std::uint64_t number_ = 0;
  std::uint64_t operations_ = 0;
  bool ended_ = false;
  trace result_;
};

inline void append_operation(std::string& text, trace_operation operation) {
  text += operation.is_malloc() ? " +" : operation.is_free() ? " -" : " ?";
  text += std::to_string(operation.place);
  if (operation.is_malloc()) text.append(":").append(std::to_string(operation.bytes));
}

}  // namespace detail

inline std::string to_text(const trace& of) {
  std::string text{detail::trace_title};
  text.append(detail::trace_version).append("\n");
  std::uint64_t operations = 0;
  for (const trace_phase& phase : of.phases) {
    text += "phase\n";
    operations += phase.operations.size();
    for (std::uint64_t thread = 0; thread < phase.threads(); ++thread) {
      if (phase.starts[thread] == phase.starts[thread + 1]) continue;
      text += std::to_string(thread);
      for (std::uint64_t i = phase.starts[thread]; i < phase.starts[thread + 1]; ++i) {
        detail::append_operation(text, phase.operations[i]);
      }
      text += '\n';
    }
  }
  return text.append("end ").append(std::to_string(operations)).append("\n");
}

inline trace parse_trace(std::string_view text) { return detail::trace_parser{text}.parse(); }

inline void write_trace(const std::string& path, const trace& of) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << to_text(of);
  file.close();
  if (!file) throw trace_error(path + ": cannot be written");
}

inline trace read_trace(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  file.peek();  // a folder opens, and fails at the first read
  if (!file.is_open() || file.bad()) throw trace_error(path + ": cannot be read");
  std::ostringstream text;
  text << file.rdbuf();
  try {
    return parse_trace(text.view());
  } catch (const trace_error& problem) {
    throw trace_error(path + ": " + problem.what());
  }
}

}  // namespace warpheap
