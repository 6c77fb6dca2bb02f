// The word tokenizer. Text is UTF-32 here, and what is cut are grapheme clusters (Unicode Standard Annex 29),
// so that an accent stays with its letter and a family of emoji stays one.
#include "core/tokenizer.h"

#include "core/edit_distance.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>
#include <utility>

namespace headscope::core {

namespace {

using Codepoint = utf8proc_int32_t;

constexpr Codepoint kReplacement = 0xFFFD;
constexpr Codepoint kGraphemeJoiner = 0x034F;

bool is_mark(Codepoint c) {
  const utf8proc_category_t category = utf8proc_category(c);
  return category == UTF8PROC_CATEGORY_MN || category == UTF8PROC_CATEGORY_MC ||
         category == UTF8PROC_CATEGORY_ME;
}

/// Invisible marks of where a line may be broken: they belong to the lay-out of a text, not to its words.
bool is_layout_hint(Codepoint c) {
  return c == 0x00AD || c == 0x2060;
}  // soft hyphen, word joiner

std::vector<Codepoint> decode(std::string_view text) {
  std::vector<Codepoint> codepoints;
  codepoints.reserve(text.size());
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  std::size_t place = 0;
  while (place < text.size()) {
    Codepoint c = kReplacement;
    const utf8proc_ssize_t n_bytes =
        utf8proc_iterate(bytes + place, static_cast<utf8proc_ssize_t>(text.size() - place), &c);
    codepoints.push_back(n_bytes > 0 ? c : kReplacement);
    place += n_bytes > 0 ? static_cast<std::size_t>(n_bytes) : 1;
  }
  return codepoints;
}

std::string encode(std::span<const Codepoint> codepoints) {
  std::string text;
  utf8proc_uint8_t bytes[4];
  for (const Codepoint c : codepoints) {
    const utf8proc_ssize_t n_bytes = utf8proc_encode_char(c, bytes);
    text.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(n_bytes));
  }
  return text;
}

/// Breaks runs of more than 30 marks, as Unicode's stream-safe format does (Unicode Standard Annex 15,
/// section 13): putting marks in order takes time that grows with the square of the run.
std::vector<Codepoint> break_mark_runs(const std::vector<Codepoint>& codepoints) {
  constexpr int kLongestRun = 30;
  std::vector<Codepoint> broken;
  broken.reserve(codepoints.size());
  int run = 0;
  for (const Codepoint c : codepoints) {
    run = is_mark(c) ? run + 1 : 0;
    if (run > kLongestRun) {
      broken.push_back(kGraphemeJoiner);
      run = 1;
    }
    broken.push_back(c);
  }
  return broken;
}

/// Unicode's normalisation form C: "e" and an accent become the one letter.
std::vector<Codepoint> compose(const std::vector<Codepoint>& codepoints) {
  const std::string text = encode(break_mark_runs(codepoints));
  utf8proc_uint8_t* composed = nullptr;
  const utf8proc_ssize_t n_bytes = utf8proc_map(
      reinterpret_cast<const utf8proc_uint8_t*>(text.data()), static_cast<utf8proc_ssize_t>(text.size()),
      &composed, static_cast<utf8proc_option_t>(UTF8PROC_COMPOSE | UTF8PROC_STABLE));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(composed, &std::free);
  if (n_bytes < 0) throw std::bad_alloc();  // the text is valid: memory is all that can be missing
  return decode({reinterpret_cast<const char*>(composed), static_cast<std::size_t>(n_bytes)});
}

std::vector<Codepoint> normalise(std::string_view text, const TokenizerConfig& config) {
  std::vector<Codepoint> codepoints = decode(text);
  std::erase_if(codepoints, is_layout_hint);
  codepoints = compose(codepoints);
  if (!config.lower_case) return codepoints;
  std::transform(codepoints.begin(), codepoints.end(), codepoints.begin(), utf8proc_tolower);
  return compose(codepoints);  // H and a macron below are two, h and one are a letter of their own
}

/// Chinese characters: each a word, or close to one. Kana, Hangul and the rest are written in runs.
bool is_ideograph(Codepoint c) {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) || (c >= 0xF900 && c <= 0xFAFF) ||
         (c >= 0x20000 && c <= 0x3FFFF) || c == 0x3005 || c == 0x3007;
}

enum class Kind : std::uint8_t {
  separator,  // white space and control characters: no token
  word,       // letters, numbers: joined to a word with their neighbours
  ideograph,
  inner,   // apostrophe, hyphen: part of a word between two letters or numbers
  number,  // full stop, comma: part of a number between two numbers
  symbol   // any other: a token of its own
};

/// One grapheme cluster: what a reader takes for one character.
struct Cluster {
  std::size_t begin = 0, end = 0;  // code points
  Kind kind = Kind::symbol;
  bool is_digit = false;
};

Kind kind_of(Codepoint c) {
  if (is_ideograph(c)) return Kind::ideograph;
  if (c == '\'' || c == 0x2019 || c == '-' || c == 0x2010 || c == 0x2011) return Kind::inner;
  if (c == '.' || c == ',') return Kind::number;
  switch (utf8proc_category(c)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
      return Kind::word;
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
      return Kind::separator;
    default:
      return Kind::symbol;
  }
}

/// A cluster's kind is that of its first visible code point; marks after a space have no letter to stand on.
Cluster classify(std::span<const Codepoint> text, std::size_t begin, std::size_t end) {
  Cluster cluster{begin, end, Kind::separator, false};
  for (std::size_t place = begin; place < end && cluster.kind == Kind::separator; ++place) {
    cluster.kind = kind_of(text[place]);
    cluster.begin = cluster.kind == Kind::separator ? begin : place;
    cluster.is_digit = utf8proc_category(text[place]) == UTF8PROC_CATEGORY_ND;
  }
  const bool is_joiner = cluster.kind == Kind::inner || cluster.kind == Kind::number;
  if (is_joiner && cluster.end - cluster.begin > 1) cluster.kind = Kind::symbol;  // "-" with an accent on it
  return cluster;
}

std::vector<Cluster> find_clusters(std::span<const Codepoint> text) {
  std::vector<Cluster> clusters;
  Codepoint state = 0;
  std::size_t begin = 0;
  for (std::size_t place = 1; place <= text.size(); ++place) {
    const bool is_break =
        place == text.size() || utf8proc_grapheme_break_stateful(text[place - 1], text[place], &state);
    if (!is_break) continue;
    clusters.push_back(classify(text, begin, place));
    begin = place;
  }
  return clusters;
}

/// Whether the cluster at `place` continues the word that the one before it belongs to.
bool continues_word(const std::vector<Cluster>& clusters, std::size_t place) {
  const auto kind = [&clusters](std::size_t index) {
    return index < clusters.size() ? clusters[index].kind : Kind::separator;
  };
  const auto is_digit = [&clusters](std::size_t index) {
    return index < clusters.size() && clusters[index].is_digit;
  };
  // is the joiner at `index` within a word?
  const auto joins = [&](std::size_t index) {
    if (index == 0) return false;
    if (kind(index) == Kind::inner) return kind(index - 1) == Kind::word && kind(index + 1) == Kind::word;
    return kind(index) == Kind::number && is_digit(index - 1) && is_digit(index + 1);
  };
  if (place == 0) return false;
  if (kind(place) == Kind::word) return kind(place - 1) == Kind::word || joins(place - 1);
  return joins(place);
}

}  // namespace

std::vector<std::string> split_words(std::string_view text, const TokenizerConfig& config) {
  const std::vector<Codepoint> codepoints = normalise(text, config);
  const std::vector<Cluster> clusters = find_clusters(codepoints);
  std::vector<std::string> words;
  for (std::size_t place = 0; place < clusters.size(); ++place) {
    const Cluster& cluster = clusters[place];
    if (cluster.kind == Kind::separator) continue;
    const std::span<const Codepoint> piece(codepoints.data() + cluster.begin, cluster.end - cluster.begin);
    if (continues_word(clusters, place))
      words.back() += encode(piece);
    else
      words.push_back(encode(piece));
  }
  return words;
}

namespace {

/// Rows with a meaning of their own (padding, begin, end, spare ones) are not words, whatever they are
/// called.
bool is_special(std::int32_t id, const Vocabulary& vocabulary) {
  return id == 0 || vocabulary.is_spare(id) || id == vocabulary.begin() || id == vocabulary.end();
}

/// Makes one of "<", "separator", ">" where the vocabulary has the whole: a sentence may be made of parts.
std::vector<std::string> join_marks(std::vector<std::string> words, const Vocabulary& vocabulary) {
  std::vector<std::string> joined;
  for (std::size_t place = 0; place < words.size(); ++place) {
    if (words[place] == "<" && place + 2 < words.size() && words[place + 2] == ">") {
      const std::string mark = "<" + words[place + 1] + ">";
      const std::optional<std::int32_t> id = vocabulary.find(mark);
      if (id && !is_special(*id, vocabulary)) {
        joined.push_back(mark);
        place += 2;
        continue;
      }
    }
    joined.push_back(std::move(words[place]));
  }
  return joined;
}

/// Puts the mark between a question and its text, behind the first "?" that has a word after it, where it was
/// not typed: nobody does.
void separate_question(std::vector<std::string>& words, const Vocabulary& vocabulary) {
  constexpr const char* kSeparator = "<separator>";
  if (!vocabulary.find(kSeparator) || std::ranges::count(words, kSeparator) > 0) return;
  const auto question = std::ranges::find(words, "?");
  if (question != words.end() && question + 1 != words.end()) words.insert(question + 1, kSeparator);
}

/// The word of the vocabulary that is spelled most like it, the first of equals; empty where more than every
/// second letter would have to change.
std::string nearest_word(const std::string& word, const Vocabulary& vocabulary) {
  std::string nearest;
  std::size_t least = word.size() / 2 + 1;
  for (std::int32_t id = 1; id < vocabulary.size(); ++id) {
    const std::string& known = vocabulary.token(id);
    if (is_special(id, vocabulary) || known.starts_with('<')) continue;
    const std::size_t distance = edit_distance(word, known);
    if (distance >= least) continue;
    nearest = known;
    least = distance;
  }
  return nearest;
}

/// Of many words so many are named.
constexpr std::size_t kMostNamed = 8;

std::string listed(const std::vector<std::string>& words) {
  std::string list;
  for (std::size_t at = 0; at < std::min(words.size(), kMostNamed); ++at)
    list.append(at == 0 ? "" : ", ").append(words[at]);
  return words.size() > kMostNamed ? list + ", …" : list;
}

/// All words that have no row, each once, and the words that come near to them.
Error unknown_words(const std::vector<std::string>& words, const Vocabulary& vocabulary) {
  std::vector<std::string> unknown, near;
  const auto add = [](std::vector<std::string>& list, const std::string& word) {
    const bool is_new = !word.empty() && std::ranges::find(list, word) == list.end();
    if (is_new) list.push_back(word);
    return is_new;
  };
  for (const std::string& word : words) {
    const std::optional<std::int32_t> id = vocabulary.find(word);
    if (id && !is_special(*id, vocabulary)) continue;
    if (add(unknown, word) && near.size() < kMostNamed) add(near, nearest_word(word, vocabulary));
  }
  if (near.empty()) return {"text.unknown_word", "", {{"words", listed(unknown)}}};
  return {"text.unknown_word_near", "", {{"words", listed(unknown)}, {"near", listed(near)}}};
}

}  // namespace

Result<Sentence> tokenize(std::string_view text, const Vocabulary& vocabulary, const TokenizerConfig& config,
                          std::size_t max_tokens) {
  if (config.kind != "word") return Error{"text.tokenizer_unsupported", "", {{"kind", config.kind}}};
  std::vector<std::string> words = join_marks(split_words(text, config), vocabulary);
  if (words.empty()) return Error{"text.empty", ""};
  separate_question(words, vocabulary);
  Sentence sentence;
  sentence.n_cut = words.size() - std::min(words.size(), max_tokens);
  words.resize(words.size() - sentence.n_cut);
  for (const std::string& word : words) {
    std::optional<std::int32_t> id = vocabulary.find(word);
    const bool is_unknown = !id || is_special(*id, vocabulary);
    if (is_unknown) id = vocabulary.spare_row(word);
    if (!id) return unknown_words(words, vocabulary);
    sentence.tokens.push_back({word, *id, is_unknown});
  }
  return sentence;
}

std::vector<std::int32_t> token_row(const Sentence& sentence, const Vocabulary& vocabulary) {
  std::vector<std::int32_t> row;
  if (vocabulary.begin()) row.push_back(*vocabulary.begin());
  for (const Token& token : sentence.tokens) row.push_back(token.id);
  if (vocabulary.end()) row.push_back(*vocabulary.end());
  return row;
}

}  // namespace headscope::core
