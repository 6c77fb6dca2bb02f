// The members of a configuration's JSON object: read into fields with every check, and written line by line.
#pragma once

#include "core/config_names.h"
#include "core/formats/json.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace headscope::core {

/// Reads members of one object into fields, and keeps the first error: later reads then do nothing. A member
/// that is missing leaves its field as it is. Errors (key): config.key_missing, config.not_integer,
/// config.not_number, config.not_boolean, config.not_text, config.not_object, config.not_list, config.value
/// (value, allowed).
class JsonMembers {
 public:
  /// `prefix` names the object in errors: "tokenizer." for its members, empty for the file's own. The object
  /// and `where` must outlive this.
  JsonMembers(const JsonObject& object, const std::string& where, std::string prefix = "")
      : object_(object), where_(where), prefix_(std::move(prefix)) {}

  const std::optional<Error>& error() const { return error_; }
  bool has(std::string_view key) const { return find_member(object_, key) != nullptr; }

  void require(std::string_view key) {
    if (!has(key)) fail("config.key_missing", key);
  }

  /// Field: std::int64_t, std::uint64_t (beyond 2^63 as a text), double, bool, std::string, a list of texts
  /// or of whole numbers, an enumeration with spellings(), or an optional one of these.
  template <class Field>
  void read(std::string_view key, Field& field) {
    const Json* json = find_member(object_, key);
    if (json && !error_) assign(key, *json, field);
  }

  template <class Field>
  void read_required(std::string_view key, Field& field) {
    require(key);
    read(key, field);
  }

  /// Calls function(JsonMembers&) for the object of that name, where there is one.
  template <class Function>
  void read_object(std::string_view key, const Function& function) {
    const Json* json = find_member(object_, key);
    if (!json || error_) return;
    if (!json->object()) return fail("config.not_object", key);
    JsonMembers members(*json->object(), where_, prefix_ + std::string(key) + ".");
    function(members);
    error_ = members.error();
  }

  /// Calls function(JsonMembers&) for each object of the list of that name, where there is one.
  template <class Function>
  void read_objects(std::string_view key, const Function& function) {
    const Json* json = find_member(object_, key);
    if (!json || error_) return;
    if (!json->array()) return fail("config.not_list", key);
    std::size_t place = 0;
    for (const Json& entry : *json->array()) {
      const std::string name = std::string(key) + "[" + std::to_string(place++) + "]";
      if (!entry.object()) return fail("config.not_object", name);
      JsonMembers members(*entry.object(), where_, prefix_ + name + ".");
      function(members);
      error_ = members.error();
      if (error_) return;
    }
  }

  /// The names of all members, in the order of the text.
  const JsonObject& object() const { return object_; }

  void fail(std::string error, std::string_view key,
            std::vector<std::pair<std::string, std::string>> values = {}) {
    if (error_) return;
    values.insert(values.begin(), {"key", prefix_ + std::string(key)});
    error_ = Error{std::move(error), where_, std::move(values)};
  }

 private:
  void assign(std::string_view key, const Json& json, std::int64_t& field) {
    if (!json.integer()) return fail("config.not_integer", key);
    field = *json.integer();
  }
  void assign(std::string_view key, const Json& json, std::uint64_t& field);
  void assign(std::string_view key, const Json& json, double& field) {
    const double* real = std::get_if<double>(&json.value);
    if (!real && !json.integer()) return fail("config.not_number", key);
    field = real ? *real : static_cast<double>(*json.integer());
  }
  void assign(std::string_view key, const Json& json, bool& field) {
    if (!json.boolean()) return fail("config.not_boolean", key);
    field = *json.boolean();
  }
  void assign(std::string_view key, const Json& json, std::string& field) {
    if (!json.text()) return fail("config.not_text", key);
    field = *json.text();
  }
  template <class Entry>
  void assign(std::string_view key, const Json& json, std::vector<Entry>& field) {
    if (!json.array()) return fail("config.not_list", key);
    field.clear();
    for (const Json& entry : *json.array()) assign(key, entry, field.emplace_back());
  }
  template <class Field>
  void assign(std::string_view key, const Json& json, std::optional<Field>& field) {
    assign(key, json, field.emplace());
  }
  template <class E>
  requires std::is_enum_v<E>
  void assign(std::string_view key, const Json& json, E& field) {
    std::string text;
    assign(key, json, text);
    if (error_) return;
    const std::optional<E> value = parse_spelling<E>(text);
    if (!value) return fail("config.value", key, {{"value", text}, {"allowed", join(spellings<E>())}});
    field = *value;
  }

  const JsonObject& object_;
  const std::string& where_;
  std::string prefix_;
  std::optional<Error> error_;
};

/// Whether the object's "format" and "version" are these: all other keys may mean something else otherwise.
/// Errors: config.key_missing, config.not_integer, config.format, config.version.
std::optional<Error> check_format(const JsonObject& object, std::string_view format, std::int64_t version,
                                  const std::string& where);

/// Collects the lines of a JSON object.
class JsonLines {
 public:
  /// `value` is JSON.
  void add(std::string_view key, std::string_view value) {
    text_.append(text_.empty() ? "{\n" : ",\n").append("  ").append(quote_json(std::string(key)));
    text_.append(": ").append(value);
  }
  void add_text(std::string_view key, std::string_view value) { add(key, quote_json(std::string(value))); }
  void add_integer(std::string_view key, std::int64_t value) { add(key, std::to_string(value)); }
  void add_number(std::string_view key, double value) { add(key, format_number(value)); }
  void add_boolean(std::string_view key, bool value) { add(key, value ? "true" : "false"); }
  std::string finish() { return text_ + "\n}\n"; }

 private:
  std::string text_;
};

}  // namespace headscope::core
