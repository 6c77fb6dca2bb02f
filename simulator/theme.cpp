// Reads the theme's tokens; every one that the program uses is checked here and named on failure.
#include "simulator/theme.h"

#include "lessons/text_file.h"
#include "lessons/toml.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace headscope::simulator {

namespace {

constexpr std::array<std::string_view, kConcepts> kConceptNames = {"none",   "queries", "keys",   "values",
                                                                   "scores", "weights", "output", "gradient"};
constexpr std::array<std::string_view, kTypeStyles> kTypeNames = {"display", "title",  "heading", "formula",
                                                                  "body",    "number", "label",   "small"};

/// Walks the document by dotted keys and keeps the first failure, so that reading stays a list of lines.
class Reader {
 public:
  Reader(const lessons::TomlNode& root, std::string where) : root_(root), where_(std::move(where)) {}

  const std::optional<core::Error>& error() const { return error_; }

  void fail(std::string_view kind, std::string_view key) {
    if (!error_) error_ = core::Error{"theme." + std::string(kind), where_, {{"name", std::string(key)}}};
  }

  float number(const std::string& key, double least = 0) {
    return static_cast<float>(precise_number(key, least));
  }

  double precise_number(const std::string& key, double least = 0) { return number_of(node(key), key, least); }

  int digits(const std::string& key) {
    const float value = number(key);
    if (value > 9 || value != std::floor(value)) fail("malformed", key);
    return static_cast<int>(value);
  }

  std::string text(const std::string& key) {
    const lessons::TomlNode* found = node(key);
    const std::string* value = found ? found->get<std::string>() : nullptr;
    if (found && (!value || value->empty())) fail("malformed", key);
    return value ? *value : std::string();
  }

  ImU32 colour(const std::string& key) { return colour_of(text(key), key); }

  std::vector<ImU32> colours(const std::string& key, std::size_t least) {
    std::vector<ImU32> stops;
    const lessons::TomlNode* found = node(key);
    if (!found) return stops;
    if (const auto* list = found->get<lessons::TomlArray>())
      for (const lessons::TomlNode& stop : *list) {
        const std::string* hex = stop.get<std::string>();
        stops.push_back(colour_of(hex ? *hex : std::string(), key));
      }
    if (stops.size() < least) fail("malformed", key);
    return stops;
  }

  Dash dash(const std::string& key) {
    const lessons::TomlNode* found = node(key);
    const auto* list = found ? found->get<lessons::TomlArray>() : nullptr;
    const auto part = [&](std::size_t place) {
      const bool has = list && place < list->size();
      if (!has) fail("missing", key + "[" + std::to_string(place) + "]");
      return has ? static_cast<float>(number_of(&(*list)[place], key, 1)) : 0.0f;
    };
    return {part(0), part(1)};
  }

 private:
  /// The value of a dotted key; where there is none, that is told.
  const lessons::TomlNode* node(const std::string& key) {
    const lessons::TomlNode* found = &root_;
    for (std::size_t begin = 0; found && begin <= key.size();) {
      const std::size_t end = std::min(key.find('.', begin), key.size());
      found = found->find(std::string_view(key).substr(begin, end - begin));
      begin = end + 1;
    }
    if (!found) fail("missing", key);
    return found;
  }

  double number_of(const lessons::TomlNode* found, const std::string& key, double least) {
    if (!found) return 0;
    const double value = found->number();
    if (found->is_number() && std::isfinite(value) && value >= least) return value;
    fail("malformed", key);
    return 0;
  }

  ImU32 colour_of(const std::string& hex, const std::string& key) {
    unsigned rgb = 0;
    const bool shaped = hex.size() == 7 && hex[0] == '#';
    const auto [end, code] = std::from_chars(hex.data() + (shaped ? 1 : 0), hex.data() + hex.size(), rgb, 16);
    if (!shaped || code != std::errc() || end != hex.data() + hex.size()) {
      fail("malformed", key);
      return 0;
    }
    return IM_COL32((rgb >> 16) & 255, (rgb >> 8) & 255, rgb & 255, 255);
  }

  const lessons::TomlNode& root_;
  std::string where_;
  std::optional<core::Error> error_;
};

void read_type(Reader& reader, Theme& theme) {
  for (std::size_t i = 0; i < kTypeStyles; ++i) {
    const std::string key = "type." + std::string(kTypeNames[i]);
    theme.type[i] = {reader.number(key + ".size", 1), reader.number(key + ".line", 1),
                     static_cast<int>(reader.number(key + ".weight", 100))};
  }
  const auto presented = [&](TypeStyle style, const std::string& name) {
    const TypeSize& usual = theme.size_of(style);
    const float size = reader.number("type.presentation." + name, 1);
    // a line grows with its text
    theme.presentation_type[static_cast<std::size_t>(style)] = {
        size, std::round(usual.line * size / usual.size), usual.weight};
  };
  presented(TypeStyle::display, "display");
  presented(TypeStyle::title, "title");
  presented(TypeStyle::heading, "formula");
  presented(TypeStyle::formula, "formula");
  presented(TypeStyle::body, "body");
  presented(TypeStyle::number, "number");
  presented(TypeStyle::label, "number");
  presented(TypeStyle::small, "small");
  theme.scale = {reader.number("type.scale.minimum", 0.1), reader.number("type.scale.default", 0.1),
                 reader.number("type.scale.maximum", 0.1)};
  if (!reader.error() &&
      !(theme.scale.minimum <= theme.scale.normal && theme.scale.normal <= theme.scale.maximum))
    reader.fail("malformed", "type.scale");
}

void read_lengths(Reader& reader, Theme& theme) {
  const auto n = [&](const char* key) { return reader.number(key); };
  theme.space = {n("space.xs"),  n("space.s"),      n("space.m"),         n("space.l"),      n("space.xl"),
                 n("space.xxl"), n("space.gutter"), n("space.paragraph"), n("space.section")};
  theme.radius = {n("radius.cell"), n("radius.frame"), n("radius.chip"), n("radius.key"),
                  n("radius.tag"),  n("radius.popup"), n("radius.round")};
  Lines& line = theme.line;
  line.hair = n("line.hair");
  line.axis = n("line.axis");
  line.curve = n("line.curve");
  line.operand = n("line.operand");
  line.result = n("line.result");
  line.hover = n("line.hover");
  line.focus = n("line.focus");
  line.cell_gap = n("line.cell_gap");
  line.gradient_dash = reader.dash("line.gradient_dash");
  line.block0_dash = reader.dash("line.block0_dash");
  line.hatch_spacing = reader.number("line.masked_hatch.spacing", 2);
  line.hatch_width = n("line.masked_hatch.width");
  line.hatch_angle = n("line.masked_hatch.angle");
  line.hatch_from_cell = n("line.masked_hatch.from_cell");
  theme.region = {n("region.top_bar"),   n("region.transport"),     n("region.lesson"),
                  n("region.explainer"), n("region.stage_minimum"), n("region.touch_target")};
  theme.motion = {n("motion.hover"), n("motion.reveal"), n("motion.step"), n("motion.camera")};
}

void read_numbers(Reader& reader, lessons::NumberRules& rules) {
  rules.decimal_point = reader.text("number_format.decimal_point");
  rules.minus = reader.text("number_format.minus");
  rules.value_digits = reader.digits("number_format.value_digits");
  rules.gradient_digits = reader.digits("number_format.gradient_digits");
  rules.probability_digits = reader.digits("number_format.probability_digits");
  rules.scientific_below = reader.precise_number("number_format.scientific_below");
  rules.scientific_above = reader.precise_number("number_format.scientific_above");
}

void read_palette(Reader& reader, const std::string& variant, Palette& palette) {
  const auto c = [&](const char* key) { return reader.colour(variant + "." + key); };
  palette.chrome = c("background.chrome");
  palette.stage = c("background.stage");
  palette.inset = c("background.inset");
  palette.popup = c("background.popup");
  palette.primary = c("text.primary");
  palette.secondary = c("text.secondary");
  palette.tertiary = c("text.tertiary");
  palette.on_accent = c("text.on_accent");
  palette.cell = c("text.cell");
  palette.hair = c("line.hair");
  palette.control = c("line.control");
  palette.accent = c("interface.accent");
  palette.accent_hover = c("interface.accent_hover");
  palette.focus = c("interface.focus");
  palette.warning = c("interface.warning");
  palette.error = c("interface.error");
  palette.success = c("interface.success");
  palette.gradient_wash = c("gradient.wash");
  palette.concepts[0] = palette.primary;
  for (std::size_t i = 1; i + 1 < kConcepts; ++i)
    palette.concepts[i] = reader.colour(variant + ".concept." + std::string(kConceptNames[i]));
  palette.concepts[kConcepts - 1] = c("gradient.accent");
  palette.heads = reader.colours(variant + ".head.hues", 1);
  palette.signed_map = reader.colours(variant + ".map.signed", 3);
  palette.probability_map = reader.colours(variant + ".map.probability", 2);
}

core::Result<Theme> read_theme(const lessons::TomlNode& document, const std::string& where, Variant variant) {
  Reader reader(document, where);
  if (reader.precise_number("version") != 1) reader.fail("malformed", "version");
  Theme theme;
  theme.variant = variant;
  theme.text_font = reader.text("font.text");
  theme.math_font = reader.text("font.math");
  read_type(reader, theme);
  read_lengths(reader, theme);
  read_numbers(reader, theme.numbers);
  for (std::size_t i = 1; i < kConcepts; ++i)
    theme.marks[i] = reader.text("marks." + std::string(kConceptNames[i]));
  read_palette(reader, variant == Variant::light ? "light" : "dark", theme.colour);
  if (reader.error()) return *reader.error();
  return theme;
}

/// One channel of a packed colour, 0 to 255.
double channel(ImU32 colour, int shift) {
  return static_cast<double>((colour >> shift) & 255u);
}

}  // namespace

std::optional<Concept> concept_of_name(std::string_view name) {
  for (std::size_t i = 0; i < kConcepts; ++i)
    if (kConceptNames[i] == name) return static_cast<Concept>(i);
  return std::nullopt;
}

std::string_view name_of(Concept hue) {
  return kConceptNames[static_cast<std::size_t>(hue)];
}

ImU32 mix(ImU32 from, ImU32 to, double share) {
  ImU32 mixed = 0;
  for (const int shift : {IM_COL32_R_SHIFT, IM_COL32_G_SHIFT, IM_COL32_B_SHIFT, IM_COL32_A_SHIFT}) {
    const double part = channel(from, shift) + (channel(to, shift) - channel(from, shift)) * share;
    // right for what is never negative, and lround() takes ten times as long
    mixed |= static_cast<ImU32>(part + 0.5) << shift;  // NOLINT(bugprone-incorrect-roundings)
  }
  return mixed;
}

ImU32 interpolate(const std::vector<ImU32>& stops, double position) {
  const double place = std::clamp(position, 0.0, 1.0) * static_cast<double>(stops.size() - 1);
  const std::size_t first = std::min(static_cast<std::size_t>(place), stops.size() - 2);
  return mix(stops[first], stops[first + 1], place - static_cast<double>(first));
}

ImU32 with_alpha(ImU32 colour, float alpha) {
  const auto scaled =
      static_cast<ImU32>(std::lround(channel(colour, IM_COL32_A_SHIFT) * static_cast<double>(alpha)));
  return (colour & ~IM_COL32_A_MASK) | (scaled << IM_COL32_A_SHIFT);
}

double contrast(ImU32 a, ImU32 b) {
  // relative luminance, WCAG 2.1
  const auto luminance = [](ImU32 colour) {
    const auto linear = [&](int shift) {
      const double c = channel(colour, shift) / 255;
      return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
    };
    return 0.2126 * linear(IM_COL32_R_SHIFT) + 0.7152 * linear(IM_COL32_G_SHIFT) +
           0.0722 * linear(IM_COL32_B_SHIFT);
  };
  const auto [low, high] = std::minmax({luminance(a), luminance(b)});
  return (high + 0.05) / (low + 0.05);
}

ImU32 Theme::signed_colour(double value, double scale_limit) const {
  return interpolate(colour.signed_map, 0.5 + value / scale_limit / 2);
}

ImU32 Theme::probability_colour(double probability) const {
  return interpolate(colour.probability_map, probability);
}

core::Result<Theme> parse_theme(std::string_view text, std::string_view name, Variant variant) {
  const std::string where(name);
  const std::variant<lessons::TomlNode, lessons::TomlSyntaxError> document = lessons::parse_toml(text);
  if (const auto* error = std::get_if<lessons::TomlSyntaxError>(&document))
    return core::Error{"theme.syntax", where + ":" + std::to_string(error->line), {{"name", where}}};
  return read_theme(std::get<lessons::TomlNode>(document), where, variant);
}

core::Result<Theme> load_theme(const std::filesystem::path& file, Variant variant) {
  const core::Result<std::string> text = lessons::read_text_file(file);
  if (!text) return core::Error{"theme.unreadable", file.string(), {{"name", file.string()}}};
  return parse_theme(*text, file.string(), variant);
}

}  // namespace headscope::simulator
