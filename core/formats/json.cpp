// parse_json over the JSON library's event interface: no tree of the library's own is ever built.
#include "core/formats/json.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

namespace headscope::core {

namespace {

constexpr std::size_t kMaxDepth = 64;
constexpr std::size_t kMaxValues = 4'000'000;

/// Line and column (in bytes, from 1) of the byte at `offset`.
Error syntax_error(std::string_view text, std::size_t offset, const std::string& where) {
  offset = std::min(offset, text.size());
  const std::string_view before = text.substr(0, offset);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 = 0: the first line
  return {"json.syntax",
          where,
          {{"line", std::to_string(line)}, {"column", std::to_string(offset - line_start + 1)}}};
}

/// Receives the library's events and builds Json values. Returning false stops the parser.
class Builder {
 public:
  Builder(std::string_view text, const std::string& where) : text_(text), where_(where) {}

  Result<Json> take(bool is_complete) {
    if (error_) return std::move(*error_);
    if (!is_complete) return syntax_error(text_, text_.size(), where_);
    return std::move(root_);
  }

  bool null() { return add({nullptr}); }
  bool boolean(bool value) { return add({value}); }
  bool number_integer(std::int64_t value) { return add({value}); }
  bool number_unsigned(std::uint64_t value) {
    if (value <= std::uint64_t{std::numeric_limits<std::int64_t>::max()})
      return add({static_cast<std::int64_t>(value)});
    return add({static_cast<double>(value)});
  }
  bool number_float(double value, const std::string&) { return add({value}); }
  bool string(std::string& value) { return add({std::move(value)}); }
  bool binary(nlohmann::json::binary_t&) { return false; }

  bool start_object(std::size_t) { return open({JsonObject{}}); }
  bool start_array(std::size_t) { return open({JsonArray{}}); }
  bool key(std::string& key) {
    std::get<JsonObject>(open_.back().value).push_back({std::move(key), Json{}});
    return true;
  }
  bool end_object() { return has_unique_keys(std::get<JsonObject>(open_.back().value)) && close(); }
  bool end_array() { return close(); }

  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception&) {
    return fail(syntax_error(text_, position > 0 ? position - 1 : 0, where_));
  }

 private:
  bool fail(Error error) {
    error_ = std::move(error);
    return false;
  }

  bool add(Json value) {
    if (++n_values_ > kMaxValues)
      return fail({"json.too_large", where_, {{"limit", std::to_string(kMaxValues)}}});
    place(std::move(value));
    return true;
  }

  void place(Json value) {
    if (open_.empty())
      root_ = std::move(value);
    else if (auto* array = std::get_if<JsonArray>(&open_.back().value))
      array->push_back(std::move(value));
    else
      std::get<JsonObject>(open_.back().value).back().value = std::move(value);
  }

  bool open(Json container) {
    if (open_.size() == kMaxDepth)
      return fail({"json.too_deep", where_, {{"limit", std::to_string(kMaxDepth)}}});
    if (++n_values_ > kMaxValues)
      return fail({"json.too_large", where_, {{"limit", std::to_string(kMaxValues)}}});
    open_.push_back(std::move(container));
    return true;
  }

  bool close() {
    Json container = std::move(open_.back());
    open_.pop_back();
    place(std::move(container));
    return true;
  }

  bool has_unique_keys(const JsonObject& object) {
    std::vector<std::string_view> keys;
    keys.reserve(object.size());
    for (const auto& [key, value] : object) keys.push_back(key);
    std::sort(keys.begin(), keys.end());
    const auto twice = std::adjacent_find(keys.begin(), keys.end());
    if (twice == keys.end()) return true;
    return fail({"json.duplicate_key", where_, {{"key", std::string(*twice)}}});
  }

  std::string_view text_;
  const std::string& where_;
  std::vector<Json> open_;  // the containers that are not closed yet, outermost first
  Json root_;
  std::size_t n_values_ = 0;
  std::optional<Error> error_;
};

}  // namespace

const Json* find_member(const JsonObject& object, std::string_view key) {
  for (const auto& [name, value] : object)
    if (name == key) return &value;
  return nullptr;
}

Result<Json> parse_json(std::string_view text, const std::string& where) {
  // the library takes a zero byte for the end of the text, and would never look at what follows
  if (const std::size_t zero = text.find('\0'); zero != std::string_view::npos)
    return syntax_error(text, zero, where);
  Builder builder(text, where);
  const bool is_complete = nlohmann::json::sax_parse(text.begin(), text.end(), &builder);
  return builder.take(is_complete);
}

namespace {

std::string format_value(std::nullptr_t) {
  return "null";
}
std::string format_value(bool value) {
  return value ? "true" : "false";
}
std::string format_value(std::int64_t value) {
  return std::to_string(value);
}
/// With a point or an exponent: it is read as a double again.
std::string format_value(double value) {
  std::string text = format_number(value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}
std::string format_value(const std::string& value) {
  return quote_json(value);
}
std::string format_value(const JsonArray& array) {
  std::string text = "[";
  for (const Json& entry : array) text.append(text.size() > 1 ? ", " : "").append(format_json(entry));
  return text + "]";
}
std::string format_value(const JsonObject& object) {
  std::string text = "{";
  for (const auto& [name, value] : object)
    text.append(text.size() > 1 ? ", " : "").append(quote_json(name)).append(": ").append(format_json(value));
  return text + "}";
}

}  // namespace

std::string format_json(const Json& json) {
  return std::visit([](const auto& value) { return format_value(value); }, json.value);
}

std::string format_list(std::span<const std::int64_t> numbers) {
  std::string text;
  for (const std::int64_t number : numbers)
    text.append(text.empty() ? "[" : ",").append(std::to_string(number));
  return text.append(text.empty() ? "[]" : "]");
}

std::string format_number(double value) {
  std::array<char, 32> text{};
  const std::to_chars_result end = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), end.ptr};
}

std::string quote_json(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace headscope::core
