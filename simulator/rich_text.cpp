// Line breaking and drawing of styled text, and the parser of the formula markup.
#include "simulator/rich_text.h"

#include <algorithm>
#include <cmath>

namespace headscope::simulator {

namespace {

constexpr float kSubscriptDrop = 0.24F;    // of the size
constexpr float kSuperscriptRise = 0.36F;  // of the size
constexpr float kTagGap = 4;

core::Error markup_error(std::string_view kind, std::string_view markup, std::string_view name = {}) {
  core::Error error{"markup." + std::string(kind), std::string(markup)};
  if (!name.empty()) error.values = {{"name", std::string(name)}};
  return error;
}

/// Up to the next unescaped '}', which is consumed; false if there is none.
bool read_braced(std::string_view markup, std::size_t& at, std::string& inside) {
  for (; at < markup.size(); ++at) {
    if (markup[at] == '}') return ++at, true;
    if (markup[at] == '{') return false;
    if (markup[at] == '\\' && at + 1 < markup.size()) ++at;
    inside += markup[at];
  }
  return false;
}

TextStyle style_of(const Painter& painter, const Run& run, const RichStyle& rich, std::string_view role) {
  const bool strong = run.weight == Weight::semibold || run.weight == Weight::bold;
  ImU32 colour = run.colour;
  if (colour == 0 && run.hue != Concept::none) colour = painter.theme().hue(run.hue);
  if (colour == 0 && !strong) colour = rich.colour;
  return {rich.type, run.weight, colour, run.source, role};
}

/// Places words one after another and begins new lines.
class Composer {
 public:
  Composer(const Painter& painter, RichBlock& block) : painter_(painter), block_(block) {
    line_height_ = painter.line_height(block.style.type);
    space_ = painter.width_of(" ", {.type = block.style.type});
  }

  void add_run(std::size_t index) {
    const Run& run = block_.runs[index];
    if (run.tag) word_.push_back({index, "", Kind::tag});
    std::string atom;
    const auto flush = [&] {
      if (!atom.empty()) word_.push_back({index, std::move(atom), Kind::text});
      atom.clear();
    };
    for (const char c : run.text) {
      if (c != ' ' && c != '\n') {
        atom += c;
        continue;
      }
      flush();
      end_word();
      if (c == '\n')
        end_line();
      else
        spaces_.push_back(index);
    }
    flush();
  }

  void finish() {
    end_word();
    end_line();
    block_.n_lines = n_lines_;
    block_.height = static_cast<float>(n_lines_) * line_height_;
  }

 private:
  enum class Kind : std::uint8_t { text, tag };
  struct Atom {
    std::size_t run;
    std::string text;
    Kind kind;
  };

  float width_of(const Atom& atom) const {
    if (atom.kind == Kind::tag) return painter_.tag_size(block_.style.type) + painter_.px(kTagGap);
    const Run& run = block_.runs[atom.run];
    const TextStyle style = style_of(painter_, run, block_.style, {});
    return run.script == Script::normal ? painter_.width_of(atom.text, style)
                                        : painter_.script_width(atom.text, style);
  }

  void end_word() {
    if (word_.empty()) return;
    float width = 0;
    for (const Atom& atom : word_) width += width_of(atom);
    float gap = x_ > 0 ? space_ * static_cast<float>(spaces_.size()) : 0;
    const float room = block_.style.width;
    // half a pixel: text laid out in its own measured width must not wrap
    if (room > 0 && x_ > 0 && x_ + gap + width > room + 0.5F) {
      end_line();
      gap = 0;
    }
    const bool joins = gap > 0 && !block_.pieces.empty() && !spaces_.empty() &&
                       spaces_.front() == spaces_.back() && block_.pieces.back().run == word_.front().run &&
                       spaces_.front() == word_.front().run && !block_.pieces.back().tag &&
                       word_.front().kind == Kind::text;
    if (joins)
      word_.front().text.insert(0, spaces_.size(), ' ');
    else
      x_ += gap;
    spaces_.clear();
    for (const Atom& atom : word_) place(atom);
    word_.clear();
  }

  void place(const Atom& atom) {
    const float width = width_of(atom), room = block_.style.width;
    const bool fits = room <= 0 || x_ + width <= room + 0.5F;
    // a word of several styles that no line can hold breaks where the style changes
    if (!fits && x_ > 0 && width <= room) end_line();
    if (!fits && atom.kind == Kind::text && width > room) return place_in_parts(atom);
    append(atom, width);
  }

  /// A word that no line can hold is cut between characters.
  void place_in_parts(const Atom& atom) {
    std::string part;
    for (std::size_t at = 0; at < atom.text.size();) {
      std::size_t next = at + 1;
      while (next < atom.text.size() && (static_cast<unsigned char>(atom.text[next]) & 0xC0) == 0x80) ++next;
      const std::string longer = part + atom.text.substr(at, next - at);
      if (!part.empty() && x_ + width_of({atom.run, longer, Kind::text}) > block_.style.width) {
        append({atom.run, part, Kind::text}, width_of({atom.run, part, Kind::text}));
        end_line();
        part = atom.text.substr(at, next - at);
      } else {
        part = longer;
      }
      at = next;
    }
    append({atom.run, part, Kind::text}, width_of({atom.run, part, Kind::text}));
  }

  void append(const Atom& atom, float width) {
    const float y = static_cast<float>(n_lines_) * line_height_;
    RichPiece* last = block_.pieces.size() > line_begin_ ? &block_.pieces.back() : nullptr;
    if (atom.kind == Kind::text && last != nullptr && last->run == atom.run && !last->tag) {
      last->text += atom.text;
      last->box.max.x += width;
    } else {
      const float drawn = atom.kind == Kind::tag ? width - painter_.px(kTagGap) : width;
      block_.pieces.push_back(
          {rect_at({x_, y}, {drawn, line_height_}), atom.text, atom.run, atom.kind == Kind::tag});
    }
    x_ += width;
  }

  void end_line() {
    block_.width = std::max(block_.width, x_);
    const float spare = block_.style.width - x_;
    const float shift = block_.style.align == Align::left     ? 0
                        : block_.style.align == Align::centre ? spare / 2
                                                              : spare;
    for (std::size_t i = line_begin_; i < block_.pieces.size(); ++i)
      block_.pieces[i].box = block_.pieces[i].box.moved({shift, 0});
    line_begin_ = block_.pieces.size();
    spaces_.clear();
    x_ = 0;
    ++n_lines_;
  }

  const Painter& painter_;
  RichBlock& block_;
  float line_height_, space_;
  float x_ = 0;
  std::size_t n_lines_ = 0, line_begin_ = 0;
  std::vector<Atom> word_;
  std::vector<std::size_t> spaces_;  // the runs of the spaces since the last word
};

void draw_underline(Painter& painter, const Rect& box, TypeStyle type, ImU32 colour) {
  const float y = box.min.y + painter.base_line(type) + std::round(painter.px(3));
  painter.fill({{box.min.x, y}, {box.max.x, y + painter.stroke(1)}}, with_alpha(colour, 0.65F));
}

}  // namespace

core::Result<std::vector<Run>> parse_formula(std::string_view markup, Source source) {
  std::vector<Run> runs;
  std::string plain;
  const auto flush = [&] {
    if (!plain.empty()) runs.push_back({.text = plain, .source = source});
    plain.clear();
  };
  for (std::size_t at = 0; at < markup.size();) {
    const char c = markup[at];
    const bool script = (c == '_' || c == '^') && at + 1 < markup.size() && markup[at + 1] == '{';
    if (c == '}') return markup_error("brace", markup);
    if (c == '\\' && at + 1 < markup.size()) {
      plain += markup[at + 1];
      at += 2;
    } else if (script || c == '{') {
      const bool follows_plain = !plain.empty();
      flush();
      at += script ? 2 : 1;
      std::string inside;
      if (!read_braced(markup, at, inside)) return markup_error("brace", markup);
      if (script) {
        const Concept hue = follows_plain || runs.empty() ? Concept::none : runs.back().hue;
        runs.push_back({.text = inside,
                        .hue = hue,
                        .script = c == '_' ? Script::subscript : Script::superscript,
                        .source = source});
        continue;
      }
      const std::size_t colon = inside.find(':');
      if (colon == std::string::npos) return markup_error("brace", markup);
      const std::optional<Concept> hue = concept_of_name(std::string_view(inside).substr(0, colon));
      if (!hue) return markup_error("concept", markup, std::string_view(inside).substr(0, colon));
      runs.push_back(
          {.text = inside.substr(colon + 1), .weight = Weight::semibold, .hue = *hue, .source = source});
    } else {
      plain += c;
      ++at;
    }
  }
  flush();
  return runs;
}

RichBlock lay_out(const Painter& painter, std::vector<Run> runs, const RichStyle& style) {
  RichBlock block;
  block.runs = std::move(runs);
  block.style = style;
  block.role = std::string(style.role);
  block.style.role = {};
  Composer composer(painter, block);
  for (std::size_t i = 0; i < block.runs.size(); ++i) composer.add_run(i);
  composer.finish();
  return block;
}

std::vector<LinkBox> draw(Painter& painter, ImVec2 at, const RichBlock& block, std::string_view lit_link) {
  std::vector<LinkBox> links;
  const TypeStyle type = block.style.type;
  const float size = painter.px(painter.theme().size_of(type, painter.fonts().sizing()).size);
  const ImVec2 corner = {std::round(at.x), std::round(at.y)};
  for (const RichPiece& piece : block.pieces) {
    const Run& run = block.runs[piece.run];
    const Rect box = piece.box.moved(corner);
    if (!run.link.empty()) links.push_back({run.link, box});
    if (piece.tag) {
      painter.tag_in_line(box.min, run.hue, type);
      continue;
    }
    const TextStyle style = style_of(painter, run, block.style, block.role);
    if (run.code || (!run.link.empty() && run.link == lit_link)) {
      const float half = std::round(size * 0.68F), middle = box.centre().y;
      painter.fill({{box.min.x - painter.px(3), middle - half}, {box.max.x + painter.px(3), middle + half}},
                   painter.colour().inset, painter.px(painter.theme().radius.key));
    }
    if (run.script == Script::normal) {
      painter.text(box.min, piece.text, style);
    } else {
      const float drop = run.script == Script::subscript ? kSubscriptDrop : -kSuperscriptRise;
      painter.script(box.min, piece.text, style, drop * size);
    }
    if (run.underline)
      draw_underline(painter, box, type, style.colour != 0 ? style.colour : painter.colour().control);
  }
  return links;
}

}  // namespace headscope::simulator
