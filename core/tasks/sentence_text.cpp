#include "core/tasks/sentence_text.h"

#include <utf8proc.h>

#include <string_view>

namespace headscope::core {

namespace {

bool is_mark(std::string_view token) {
  return token.size() > 2 && token.front() == '<' && token.back() == '>';
}

bool stands_close(std::string_view token) {
  return token.size() == 1 && std::string_view(".,:;!?").find(token[0]) != std::string_view::npos;
}

std::string with_capital(const std::string& token) {
  utf8proc_int32_t letter = 0;
  const utf8proc_ssize_t n_bytes = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(token.data()),
                                                    static_cast<utf8proc_ssize_t>(token.size()), &letter);
  if (n_bytes <= 0) return token;
  utf8proc_uint8_t capital[4];
  const utf8proc_ssize_t n_capital = utf8proc_encode_char(utf8proc_toupper(letter), capital);
  return std::string(reinterpret_cast<const char*>(capital), static_cast<std::size_t>(n_capital)) +
         token.substr(static_cast<std::size_t>(n_bytes));
}

}  // namespace

std::string sentence_text(std::span<const std::string> tokens) {
  std::string text;
  bool is_start = true;  // of a sentence
  for (const std::string& token : tokens) {
    if (is_mark(token)) continue;
    if (!text.empty() && !stands_close(token)) text += ' ';
    text += is_start ? with_capital(token) : token;
    is_start = token == "." || token == "!" || token == "?";
  }
  return text;
}

}  // namespace headscope::core
