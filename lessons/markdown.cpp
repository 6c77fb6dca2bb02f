// The one file that includes md4c: its events become blocks of runs.
#include "lessons/markdown.h"

#include <md4c.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <optional>
#include <tuple>
#include <utility>

namespace headscope::lessons {
namespace {

constexpr unsigned kFlags = MD_FLAG_NOHTML | MD_FLAG_WIKILINKS;

struct List {
  int next_number = 0;  // 0: bullets
};

/// A link that is open while its text arrives.
struct OpenLink {
  Run::Kind kind = Run::Kind::web_link;
  std::string target;
  int line = 0, column = 0;
};

/// Collects blocks from md4c's events.
class Reader {
 public:
  Reader(std::string_view source, int first_line) : source_(source), first_line_(first_line) {
    for (std::size_t at = 0; at < source.size(); ++at)
      if (source[at] == '\n') line_begins_.push_back(at + 1);
  }

  void enter_block(MD_BLOCKTYPE type, void* detail);
  void leave_block(MD_BLOCKTYPE type);
  void enter_span(MD_SPANTYPE type, void* detail);
  void leave_span(MD_SPANTYPE type);
  void add_text(MD_TEXTTYPE type, std::string_view text);
  std::vector<Block> take() { return std::move(blocks_); }

 private:
  Block& open(Block::Kind kind);
  void add_run(Run run);
  void finish_code_span();
  /// Line and column of a place in the source; nothing for text that md4c made itself.
  std::optional<std::pair<int, int>> place(const char* at) const;
  int depth() const { return static_cast<int>(lists_.size()) + n_quotes_; }

  std::string_view source_;
  int first_line_;
  std::vector<std::size_t> line_begins_ = {0};  // offsets; to count lines for every run would be quadratic
  std::vector<Block> blocks_;
  std::vector<List> lists_;
  int n_quotes_ = 0;
  bool is_item_new_ = false;  // a list item was opened and has no text yet
  int n_strong_ = 0, n_emphasis_ = 0;
  std::vector<OpenLink> links_;
  std::optional<Run> code_;  // an inline code span while its text arrives
};

std::optional<std::pair<int, int>> Reader::place(const char* at) const {
  const std::less<const char*> before;  // pointers of other arrays compare, too
  if (before(at, source_.data()) || !before(at, source_.data() + source_.size())) return std::nullopt;
  const auto offset = static_cast<std::size_t>(at - source_.data());
  const auto line = std::upper_bound(line_begins_.begin(), line_begins_.end(), offset) - 1;
  return std::pair(first_line_ + static_cast<int>(line - line_begins_.begin()),
                   static_cast<int>(offset - *line) + 1);
}

Block& Reader::open(Block::Kind kind) {
  Block block;
  block.kind = kind;
  block.depth = depth();
  blocks_.push_back(std::move(block));
  return blocks_.back();
}

void Reader::enter_block(MD_BLOCKTYPE type, void* detail) {
  switch (type) {
    case MD_BLOCK_H:
      open(Block::Kind::heading).level = static_cast<int>(static_cast<MD_BLOCK_H_DETAIL*>(detail)->level);
      break;
    case MD_BLOCK_P:
      if (!std::exchange(is_item_new_, false)) open(Block::Kind::paragraph);
      break;
    case MD_BLOCK_UL:
      lists_.push_back({0});
      break;
    case MD_BLOCK_OL:
      lists_.push_back({static_cast<int>(static_cast<MD_BLOCK_OL_DETAIL*>(detail)->start)});
      break;
    case MD_BLOCK_LI: {
      int& next = lists_.back().next_number;
      open(Block::Kind::list_item).number = next;
      if (next > 0) ++next;
      is_item_new_ = true;
      break;
    }
    case MD_BLOCK_QUOTE:
      ++n_quotes_;
      break;
    case MD_BLOCK_CODE: {
      const MD_ATTRIBUTE& info = static_cast<MD_BLOCK_CODE_DETAIL*>(detail)->info;
      open(Block::Kind::code).info = info.text ? std::string(info.text, info.size) : std::string();
      break;
    }
    case MD_BLOCK_HR:
      open(Block::Kind::rule);
      break;
    default:
      break;
  }
}

void Reader::leave_block(MD_BLOCKTYPE type) {
  if (type == MD_BLOCK_UL || type == MD_BLOCK_OL) lists_.pop_back();
  if (type == MD_BLOCK_QUOTE) --n_quotes_;
  if (type == MD_BLOCK_LI) is_item_new_ = false;
  if (type == MD_BLOCK_CODE && !blocks_.back().runs.empty()) {
    std::string& text = blocks_.back().runs.back().text;
    if (text.ends_with('\n')) text.pop_back();
  }
}

void Reader::enter_span(MD_SPANTYPE type, void* detail) {
  switch (type) {
    case MD_SPAN_EM:
      ++n_emphasis_;
      break;
    case MD_SPAN_STRONG:
      ++n_strong_;
      break;
    case MD_SPAN_CODE: {
      Run run;
      run.kind = Run::Kind::code;
      code_ = std::move(run);
      break;
    }
    case MD_SPAN_A: {
      const MD_ATTRIBUTE& address = static_cast<MD_SPAN_A_DETAIL*>(detail)->href;
      links_.push_back({Run::Kind::web_link, std::string(address.text, address.size)});
      break;
    }
    case MD_SPAN_WIKILINK: {
      const MD_ATTRIBUTE& target = static_cast<MD_SPAN_WIKILINK_DETAIL*>(detail)->target;
      OpenLink link{Run::Kind::tensor_link, std::string(target.text, target.size)};
      if (const auto at = place(target.text)) std::tie(link.line, link.column) = *at;
      links_.push_back(std::move(link));
      break;
    }
    default:
      break;
  }
}

void Reader::leave_span(MD_SPANTYPE type) {
  switch (type) {
    case MD_SPAN_EM:
      --n_emphasis_;
      break;
    case MD_SPAN_STRONG:
      --n_strong_;
      break;
    case MD_SPAN_CODE:
      finish_code_span();
      break;
    case MD_SPAN_A:
    case MD_SPAN_WIKILINK:
      links_.pop_back();
      break;
    default:
      break;
  }
}

void Reader::finish_code_span() {
  Run run = std::move(*code_);
  code_.reset();
  const bool is_live = run.text.starts_with('=') && !run.text.starts_with("==");
  if (is_live) {
    run.kind = Run::Kind::live;
    const std::size_t begin = std::min(run.text.find_first_not_of(" \t\n", 1), run.text.size());
    run.target = run.text.substr(begin);
    run.column += static_cast<int>(begin);
  }
  add_run(std::move(run));
}

void Reader::add_run(Run run) {
  run.strong = n_strong_ > 0;
  run.emphasis = n_emphasis_ > 0;
  if (!links_.empty() && run.kind == Run::Kind::text) {
    run.kind = links_.back().kind;
    run.target = links_.back().target;
    run.line = links_.back().line;
    run.column = links_.back().column;
  }
  if (blocks_.empty()) open(Block::Kind::paragraph);
  std::vector<Run>& runs = blocks_.back().runs;
  const auto continues = [&](const Run& last) {
    const bool grows =
        run.kind == Run::Kind::text || run.kind == Run::Kind::web_link || run.kind == Run::Kind::tensor_link;
    const bool is_break = run.text == "\n" || last.text == "\n";
    const bool same_link =
        run.kind == Run::Kind::text || (run.line == last.line && run.column == last.column);
    return grows && !is_break && same_link && last.kind == run.kind && last.target == run.target &&
           last.strong == run.strong && last.emphasis == run.emphasis;
  };
  if (!runs.empty() && continues(runs.back()))
    runs.back().text += run.text;
  else
    runs.push_back(std::move(run));
  is_item_new_ = false;
}

std::string utf8(unsigned code) {
  std::string text;
  const auto tail = [&](unsigned shift) { text += static_cast<char>(0x80 | ((code >> shift) & 0x3F)); };
  const bool is_control = code < 0x20 || (code >= 0x7F && code < 0xA0);
  if (is_control || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return "\uFFFD";
  if (code < 0x80) {
    text += static_cast<char>(code);
  } else if (code < 0x800) {
    text += static_cast<char>(0xC0 | (code >> 6));
    tail(0);
  } else if (code < 0x10000) {
    text += static_cast<char>(0xE0 | (code >> 12));
    tail(6), tail(0);
  } else {
    text += static_cast<char>(0xF0 | (code >> 18));
    tail(12), tail(6), tail(0);
  }
  return text;
}

/// Numeric entities, and the few names that an author writes; any other stays as written.
std::string decode_entity(std::string_view entity) {
  if (entity.starts_with("&#")) {
    const bool is_hex = entity.size() > 2 && (entity[2] == 'x' || entity[2] == 'X');
    const char* begin = entity.data() + (is_hex ? 3 : 2);
    unsigned code = 0;
    std::from_chars(begin, entity.data() + entity.size(), code, is_hex ? 16 : 10);
    return utf8(code);
  }
  static constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"&amp;", "&"},    {"&lt;", "<"},    {"&gt;", ">"},     {"&quot;", "\""}, {"&nbsp;", "\u00A0"},
      {"&minus;", "−"},  {"&times;", "×"}, {"&middot;", "·"}, {"&radic;", "√"}, {"&sum;", "∑"},
      {"&hellip;", "…"}, {"&rarr;", "→"},  {"&larr;", "←"}};
  for (const auto& [name, text] : kNames)
    if (name == entity) return std::string(text);
  return std::string(entity);
}

void Reader::add_text(MD_TEXTTYPE type, std::string_view text) {
  if (code_) {
    if (code_->line == 0)
      if (const auto at = place(text.data())) std::tie(code_->line, code_->column) = *at;
    code_->text += text;
    return;
  }
  Run run;
  if (const auto at = place(text.data())) std::tie(run.line, run.column) = *at;
  switch (type) {
    case MD_TEXT_NULLCHAR:
      run.text = "\uFFFD";
      break;
    case MD_TEXT_BR:
      run.text = "\n";
      break;
    case MD_TEXT_SOFTBR:
      run.text = " ";
      break;
    case MD_TEXT_ENTITY:
      run.text = decode_entity(text);
      break;
    default:
      run.text = std::string(text);
      break;
  }
  if (!blocks_.empty() && blocks_.back().kind == Block::Kind::code && !blocks_.back().runs.empty()) {
    blocks_.back().runs.back().text += run.text;
    return;
  }
  add_run(std::move(run));
}

Reader& reader(void* user) {
  return *static_cast<Reader*>(user);
}

}  // namespace

std::vector<Block> parse_markdown(std::string_view text, int first_line) {
  Reader collector(text, first_line);
  MD_PARSER parser{};
  parser.flags = kFlags;
  parser.enter_block = [](MD_BLOCKTYPE type, void* detail, void* user) {
    return reader(user).enter_block(type, detail), 0;
  };
  parser.leave_block = [](MD_BLOCKTYPE type, void*, void* user) { return reader(user).leave_block(type), 0; };
  parser.enter_span = [](MD_SPANTYPE type, void* detail, void* user) {
    return reader(user).enter_span(type, detail), 0;
  };
  parser.leave_span = [](MD_SPANTYPE type, void*, void* user) { return reader(user).leave_span(type), 0; };
  parser.text = [](MD_TEXTTYPE type, const MD_CHAR* begin, MD_SIZE size, void* user) {
    return reader(user).add_text(type, {begin, size}), 0;
  };
  md_parse(text.data(), static_cast<MD_SIZE>(text.size()), &parser, &collector);
  std::vector<Block> blocks = collector.take();
  for (Block& block : blocks) block.line = block.runs.empty() ? 0 : block.runs.front().line;
  return blocks;
}

std::string plain_text(const std::vector<Block>& blocks) {
  std::string text;
  for (const Block& block : blocks) {
    if (!text.empty()) text += '\n';
    for (const Run& run : block.runs) text += run.text;
  }
  return text;
}

}  // namespace headscope::lessons
