#include "core/formats/json_members.h"

#include <charconv>

namespace headscope::core {
namespace {

/// A number or a text as the file's author wrote it; empty for anything else.
std::string shown(const Json* json) {
  if (json && json->text()) return *json->text();
  if (json && json->integer()) return std::to_string(*json->integer());
  return {};
}

}  // namespace

void JsonMembers::assign(std::string_view key, const Json& json, std::uint64_t& field) {
  if (json.integer() && *json.integer() >= 0) {
    field = static_cast<std::uint64_t>(*json.integer());
    return;
  }
  if (!json.text()) return fail("config.not_integer", key);
  const std::string& text = *json.text();
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), field);
  if (error != std::errc() || end != text.data() + text.size()) fail("config.not_integer", key);
}

std::optional<Error> check_format(const JsonObject& object, std::string_view expected_format,
                                  std::int64_t expected_version, const std::string& where) {
  const Json* format = find_member(object, "format");
  const Json* version = find_member(object, "version");
  if (!format) return Error{"config.key_missing", where, {{"key", "format"}}};
  if (!format->text() || *format->text() != expected_format)
    return Error{
        "config.format", where, {{"value", shown(format)}, {"expected", std::string(expected_format)}}};
  if (!version) return Error{"config.key_missing", where, {{"key", "version"}}};
  if (!version->integer()) return Error{"config.not_integer", where, {{"key", "version"}}};
  if (*version->integer() != expected_version)
    return Error{
        "config.version", where, {{"value", shown(version)}, {"expected", std::to_string(expected_version)}}};
  return std::nullopt;
}

}  // namespace headscope::core
