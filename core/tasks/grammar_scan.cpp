// Words, quoted texts and signs, with their places.
#include "core/tasks/grammar_scan.h"

#include "core/tasks/word_table.h"

#include <algorithm>
#include <array>
#include <utility>

namespace headscope::core::grammar {

namespace {

constexpr std::array<std::string_view, 19> kReserved = {
    "and", "align", "by",  "choose", "else", "from",     "has",  "hold", "if",   "in",
    "let", "link",  "not", "only",   "out",  "possible", "rule", "when", "where"};
constexpr std::string_view kSigns = "=:,().+";
constexpr std::size_t kMostTokens = std::size_t{1} << 17;  // of a file: fifty times what the largest here has

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

std::size_t word_end(std::string_view text, std::size_t begin) {
  std::size_t end = begin;
  while (end < text.size() &&
         (is_letter(text[end]) || (text[end] == '-' && end + 1 < text.size() && is_letter(text[end + 1]))))
    ++end;
  return end;
}

/// The token that begins at `begin`, and where the next one may.
std::size_t scan_token(std::string_view text, std::size_t begin, const std::vector<std::string>& files,
                       Token& token) {
  const char first = text[begin];
  if (is_letter(first)) {
    const std::size_t end = word_end(text, begin);
    token.kind = Token::Kind::word;
    token.text = text.substr(begin, end - begin);
    return end;
  }
  if (first == '"') {
    const std::size_t end = text.find('"', begin + 1);
    if (end == std::string_view::npos) throw Wrong{error_at("grammar.unclosed_quote", files, token.place)};
    token.kind = Token::Kind::text;
    token.text = text.substr(begin + 1, end - begin - 1);
    return end + 1;
  }
  const std::string_view pair = text.substr(begin, 2);
  const std::size_t size = pair == "!=" || pair == "->" ? 2 : 1;
  if (size == 1 && kSigns.find(first) == std::string_view::npos)
    throw Wrong{error_at("grammar.character", files, token.place, {{"found", std::string(1, first)}})};
  token.kind = Token::Kind::sign;
  token.text = text.substr(begin, size);
  return begin + size;
}

void scan_line(std::string_view text, const std::vector<std::string>& files, const Place& start,
               std::vector<Token>& tokens) {
  std::size_t at = 0;
  while (true) {
    const std::size_t before = at;
    while (at < text.size() && is_blank(text[at])) ++at;
    if (at >= text.size() || text[at] == '#') break;
    Token token;
    token.is_glued = at == before;
    token.place = start;
    token.place.column = at + 1;
    if (tokens.size() >= kMostTokens) throw Wrong{error_at("grammar.too_large", files, token.place)};
    at = scan_token(text, at, files, token);
    tokens.push_back(std::move(token));
  }
}

}  // namespace

Error error_at(std::string key, const std::vector<std::string>& files, const Place& place,
               std::vector<std::pair<std::string, std::string>> values) {
  values.emplace_back("line", std::to_string(place.line));
  if (place.column > 0) values.emplace_back("column", std::to_string(place.column));
  return {std::move(key), files[place.file], std::move(values)};
}

std::vector<Line> scan(std::string_view text, const std::vector<std::string>& files, std::size_t file,
                       std::vector<Error>& errors) {
  const Result<std::vector<std::string>> texts = grammar_lines(text, files[file]);
  if (!texts) {
    errors.push_back(texts.error());
    return {};
  }
  std::vector<Line> lines;
  std::size_t body_indent = 0;  // of the first line below a rule or form
  std::size_t n_tokens = 0;
  for (std::size_t index = 0; index < texts->size() && errors.size() < kMostProblems; ++index) {
    const std::string& line = (*texts)[index];
    std::vector<Token> tokens;
    try {
      scan_line(line, files, {file, index + 1, 0}, tokens);
    } catch (Wrong& wrong) {
      errors.push_back(std::move(wrong.error));
      continue;
    }
    if (tokens.empty()) continue;
    n_tokens += tokens.size();
    if (n_tokens > kMostTokens) {
      errors.push_back(error_at("grammar.too_large", files, {file, index + 1, 0}));
      break;
    }
    const std::size_t indent = tokens[0].place.column - 1;
    if (indent > 0 && !lines.empty() && body_indent > 0 && indent > body_indent) {
      std::vector<Token>& above = lines.back().tokens;
      above.insert(above.end(), std::make_move_iterator(tokens.begin()),
                   std::make_move_iterator(tokens.end()));
      continue;
    }
    if (indent == 0)
      body_indent = 0;
    else if (body_indent == 0)
      body_indent = indent;
    lines.push_back({indent, std::move(tokens)});
  }
  for (Line& line : lines) {
    Token end;
    end.place = line.tokens.back().place;
    line.tokens.push_back(end);
  }
  return lines;
}

const Token& Reader::peek(std::size_t ahead) const {
  return line_.tokens[std::min(next_ + ahead, line_.tokens.size() - 1)];
}

Token Reader::take() {
  const Token& token = peek();
  if (next_ + 1 < line_.tokens.size()) ++next_;
  return token;
}

bool Reader::is_sign(std::string_view sign, std::size_t ahead) const {
  return peek(ahead).kind == Token::Kind::sign && peek(ahead).text == sign;
}

bool Reader::is_word(std::string_view word) const {
  return peek().kind == Token::Kind::word && peek().text == word;
}

bool Reader::is_one_of(std::initializer_list<std::string_view> words) const {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return is_word(word); });
}

bool Reader::skip_sign(std::string_view sign) {
  if (!is_sign(sign)) return false;
  take();
  return true;
}

bool Reader::skip_word(std::string_view word) {
  if (!is_word(word)) return false;
  take();
  return true;
}

void Reader::expect(std::string_view sign) {
  if (!skip_sign(sign)) fail("grammar.expected_sign", peek(), {{"expected", std::string(sign)}});
}

void Reader::expect_word(std::string_view word) {
  if (!skip_word(word)) fail("grammar.expected_sign", peek(), {{"expected", std::string(word)}});
}

std::string Reader::take_value() {
  if (peek().kind != Token::Kind::word && peek().kind != Token::Kind::text) fail("grammar.expected_value");
  return take().text;
}

std::string Reader::take_name() {
  const Token& token = peek();
  if (token.kind != Token::Kind::word || (token.text[0] >= '0' && token.text[0] <= '9'))
    fail("grammar.expected_name");
  if (std::find(kReserved.begin(), kReserved.end(), token.text) != kReserved.end())
    fail("grammar.reserved", token, {{"name", token.text}});
  return take().text;
}

void Reader::expect_end() const {
  if (!at_end()) fail("grammar.trailing");
}

void Reader::fail(std::string key) const {
  fail(std::move(key), peek(), {});
}

void Reader::fail(std::string key, const Token& at,
                  std::vector<std::pair<std::string, std::string>> values) const {
  values.emplace_back("found", at.text);
  throw Wrong{error_at(std::move(key), files_, at.place, std::move(values))};
}

}  // namespace headscope::core::grammar
