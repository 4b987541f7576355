// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warpheap::bench {

/// `text` as a JSON string, quotes included. Bytes outside ASCII pass as they are, so UTF-8 stays UTF-8.
inline std::string json_string(std::string_view text) {
  constexpr char digits[] = "0123456789abcdef";
  std::string result = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (c == '\n') {
      result += "\\n";
    } else if (code < 0x20) {
      result += "\\u00";
      result += digits[code >> 4];
      result += digits[code & 15];
    } else {
      result += c;
    }
  }
  return result += '"';
}

/// A JSON object that is written member by member, in the order of the calls.
class json_object {
 public:
  json_object& add(std::string_view key, std::string_view value) { return raw(key, json_string(value)); }
  json_object& add(std::string_view key, const char* value) { return add(key, std::string_view{value}); }
  json_object& add(std::string_view key, const json_object& value) { return raw(key, value.text()); }
  json_object& add(std::string_view key, std::same_as<bool> auto value) { return raw(key, value ? "true" : "false"); }
  json_object& add(std::string_view key, std::integral auto value)
    requires(!std::same_as<decltype(value), bool>)
  {
    return raw(key, std::to_string(value));
  }
  /// The shortest text that reads back as the same number; null for what JSON cannot write.
  json_object& add(std::string_view key, double value) { return raw(key, number(value)); }
  json_object& add(std::string_view key, const std::vector<double>& values) { return add_list(key, values, number); }
  json_object& add(std::string_view key, const std::vector<std::string>& values) {
    return add_list(key, values, json_string);
  }
  json_object& add(std::string_view key, const std::vector<json_object>& values) {
    return add_list(key, values, [](const json_object& each) { return each.text(); });
  }
  /// Adds the value, or null for an empty optional.
  template <class T>
  json_object& add(std::string_view key, const std::optional<T>& value) {
    return value ? add(key, *value) : add_null(key);
  }
  json_object& add_null(std::string_view key) { return raw(key, "null"); }

  /// The object on one line.
  std::string text() const { return "{" + members_ + "}"; }

 private:
  static std::string number(double value) {
    if (!std::isfinite(value)) return "null";
    char buffer[32];
    return {buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr};
  }
  template <class T, class Write>
  json_object& add_list(std::string_view key, const std::vector<T>& values, Write write) {
    std::string list;
    for (const T& each : values) list.append(list.empty() ? "" : ", ").append(write(each));
    return raw(key, "[" + list + "]");
  }
  json_object& raw(std::string_view key, std::string_view value) {
    if (!members_.empty()) members_ += ", ";
    members_ += json_string(key);
    members_ += ": ";
    members_ += value;
    return *this;
  }

  std::string members_;
};

}  // namespace warpheap::bench
