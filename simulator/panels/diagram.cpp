#include "simulator/panels/diagram.h"

#include "core/graph_paths.h"
#include "simulator/panels/diagram_drawer.h"
#include "simulator/panels/diagram_picture.h"
#include "simulator/panels/panel.h"
#include "simulator/panels/prose.h"
#include "simulator/widgets/controls.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace headscope::simulator {
namespace {

constexpr float kBarRoom = 10, kLowRoom = 240;  // of the scroll bar; below which everything scrolls
constexpr std::string_view kBetween = " › ";

struct ViewOf {
  StageLevel level;
  std::string_view key;
};
constexpr std::array<ViewOf, 3> kViews = {{{StageLevel::part, "diagram.view.operations"},
                                           {StageLevel::heads, "diagram.view.heads"},
                                           {StageLevel::head, "diagram.view.head"}}};

std::string_view digits_after(std::string_view name) {
  return name.substr(name.find_last_not_of("0123456789") + 1);
}

}  // namespace

StageLevel level_of(DiagramPlace place) {
  switch (place) {
    case DiagramPlace::block:
      return StageLevel::block;
    case DiagramPlace::part:
    case DiagramPlace::operation:
      return StageLevel::part;
    case DiagramPlace::model:
    case DiagramPlace::stack:
      break;
  }
  return StageLevel::model;
}

DiagramDrawer::DiagramDrawer(Ui& ui, const Words& words, const DiagramSubject& subject, DiagramMemory& memory,
                             Actions& actions, const DrawLine& under_title)
    : ui_(ui),
      words_(words),
      subject_(subject),
      memory_(memory),
      actions_(actions),
      under_title_(under_title),
      graph_(subject.trace.graph()),
      opened_(opened_box(graph_, subject.diagram, subject.level, subject.opened, operation())) {
  const core::GradientPlan& plan = subject.trace.workspace().gradient_plan();
  ran_back_.resize(graph_.operations().size());
  for (const std::size_t done : plan.operations().first(subject.trace.backward_done()))
    ran_back_[done] = true;
  if (subject.step) lit_ = operations_of(subject.diagram, *subject.step);
}

void DiagramDrawer::draw(const Rect& box) {
  Rect room = box;
  const bool is_low = box.height() < px(kLowRoom);
  if (!is_low) room.min.y += draw_head(room) + px(6);
  ScrollArea area(ui_, "diagram", room);
  inner_ = &area.ui();
  seen_ = area.visible();
  ImVec2 at = area.origin();
  const float width = room.width() - px(kBarRoom);
  if (is_low) at.y += draw_head({at, {at.x + width, at.y + room.height()}}) + px(6);
  draw_content(area, {at, {at.x + width, at.y + room.height()}});
  area.set_content_height(at.y + layout_.height - area.origin().y);
  inner_ = nullptr;
}

void DiagramDrawer::draw_content(ScrollArea& area, const Rect& room) {
  layout_ = lay_out_diagram(graph_, subject_.diagram, subject_.level, opened_,
                            {px(1), painter().line_height(TypeStyle::small)}, room);
  // what was just opened comes into sight
  if (memory_.level != subject_.level || memory_.opened != opened_) {
    const PlacedBox* placed = layout_.find(opened_);
    if (opened_ == 0 || !placed)
      area.scroll_to_top();
    else if (placed->box.min.y < seen_.min.y || placed->box.max.y > seen_.max.y)
      ImGui::SetScrollY(std::max(0.0F, placed->box.min.y - area.origin().y - px(6)));
    memory_ = {subject_.level, opened_};
  }
  samples_ = samples_for(n_pictures());
  draw_open_boxes();
  draw_edges();
  for (const PlacedBox& placed : layout_.boxes) {
    if (placed.form == BoxForm::closed) draw_closed(placed);
    if (placed.form == BoxForm::cell) draw_cell(placed);
  }
  if (layout_.grid) draw_grid(*layout_.grid);
}

/// The way to what is opened, and the sentence below it: at least a line, so that boxes stay where they are
/// while steps come and go.
float DiagramDrawer::draw_head(const Rect& room) {
  float height = draw_head_line(room);
  if (!under_title_) return height;
  height += px(4);
  return height + std::max(painter().line_height(TypeStyle::label),
                           under_title_(ui(), {room.min.x, room.min.y + height}, room.width()));
}

/// The way from the model to what is opened; of an opened attention, how it is looked at, beside it or below.
float DiagramDrawer::draw_head_line(const Rect& room) {
  const std::vector<std::size_t> boxes = way();
  const float line = painter().line_height(TypeStyle::label), views = views_width();
  const bool is_beside = views > 0 && way_width(boxes) + px(24) + views <= room.width();
  const float right = is_beside ? room.max.x - views - px(24) : room.max.x;
  draw_way(room.min, right, boxes);
  if (views <= 0) return line;
  if (is_beside) {
    draw_views({{room.max.x - views, room.min.y}, room.max});
    return line;
  }
  return line + px(4) + draw_views({{room.min.x, room.min.y + line + px(4)}, room.max});
}

std::vector<std::size_t> DiagramDrawer::way() const {
  std::vector<std::size_t> boxes;
  for (std::size_t at = opened_; at != 0; at = node(at).parent)
    if (node(at).place != DiagramPlace::stack) boxes.push_back(at);
  boxes.push_back(0);
  std::reverse(boxes.begin(), boxes.end());
  return boxes;
}

float DiagramDrawer::way_width(const std::vector<std::size_t>& boxes) const {
  float width = 0;
  for (const std::size_t at : boxes)
    width += look().width_of(name_of_box(graph_, subject_.diagram, at, words_).text,
                             {.type = TypeStyle::label, .weight = Weight::semibold}) +
             look().width_of(kBetween, {.type = TypeStyle::label});
  return width;
}

float DiagramDrawer::draw_way(ImVec2 at, float right, const std::vector<std::size_t>& boxes) {
  const TextStyle style{.type = TypeStyle::label, .colour = colour().secondary, .role = "diagram_way"};
  const TextStyle here{.type = TypeStyle::label, .weight = Weight::semibold, .role = "diagram_way"};
  const float gap = look().width_of(kBetween, style);
  // the nearest stay
  std::size_t first = 0;
  while (first + 1 < boxes.size() &&
         way_width({boxes.begin() + static_cast<std::ptrdiff_t>(first), boxes.end()}) > right - at.x)
    ++first;
  for (std::size_t place = first; place < boxes.size(); ++place) {
    const DiagramNode& box = node(boxes[place]);
    const BoxName name = name_of_box(graph_, subject_.diagram, boxes[place], words_);
    if (place + 1 == boxes.size()) {
      at.x = painter().fit_text(at, name.text, right - at.x, here).max.x;
      break;
    }
    const Touch touched = text_link(ui(), "way" + std::to_string(place), at, name.text, style);
    if (touched.clicked) ask(OpenPlace{level_of(box.place), box.path});
    at.x += look().width_of(name.text, style);
    painter().text(at, kBetween,
                   {.type = TypeStyle::label, .colour = colour().tertiary, .source = Source::number});
    at.x += gap;
  }
  return at.x;
}

std::int64_t DiagramDrawer::n_heads() const {
  for (const std::size_t operation : node(opened_).operations) {
    const core::ShapeSpec& shape = graph_.spec(core::result(graph_.operations()[operation])).shape;
    if (const int place = shape.find(core::Axis::head); place >= 0) return shape[place].extent.size;
  }
  return 0;
}

/// 0 where what is opened is no attention.
float DiagramDrawer::views_width() const {
  const std::string& path = node(opened_).path;
  if (path.empty() || core::attention_of(path) != path) return 0;
  float width = 0;
  for (const ViewOf& view : kViews)
    width += look().width_of(words_.text.text(view.key, {{"head", std::to_string(subject_.head)}}),
                             {.type = TypeStyle::label, .weight = Weight::semibold}) +
             px(12);
  return width + (subject_.level == StageLevel::head && n_heads() > 1 ? 2 * px(20) : 0);
}

/// As operations, all heads, or one; of one, the next and the one before. Returns the height.
float DiagramDrawer::draw_views(const Rect& room) {
  const float line = painter().line_height(TypeStyle::label);
  ImVec2 at = room.min;
  const auto wrap = [&](float width) {
    if (at.x > room.min.x && at.x + width > room.max.x + px(1)) at = {room.min.x, at.y + line + px(4)};
  };
  for (const ViewOf& view : kViews) {
    const bool is_here = view.level == subject_.level;
    const std::string word = words_.text.text(view.key, {{"head", std::to_string(subject_.head)}});
    const TextStyle style{.type = TypeStyle::label,
                          .weight = is_here ? Weight::semibold : Weight::regular,
                          .colour = is_here ? colour().primary : colour().secondary,
                          .role = "diagram_view"};
    const float width = look().width_of(word, {.type = TypeStyle::label, .weight = Weight::semibold});
    wrap(width);
    const Touch touched = text_link(ui(), std::string(view.key), at, word, style);
    if (touched.clicked && !is_here) ask(OpenPlace{view.level, node(opened_).path});
    if (is_here)
      painter().fill(rect_at({at.x, at.y + line - px(1)}, {look().width_of(word, style), px(2)}),
                     colour().primary);
    at.x += width + px(12);
  }
  if (subject_.level != StageLevel::head || n_heads() < 2) return at.y + line - room.min.y;
  wrap(2 * px(20));
  for (const auto& [icon, step] : {std::pair{Icon::pager_back, -1}, {Icon::pager_on, 1}}) {
    const std::int64_t next = subject_.head + step;
    const bool is_there = next >= 0 && next < n_heads();
    const Touch touched =
        icon_button(ui(), step < 0 ? "head_before" : "head_after", {at.x + px(10), at.y + line / 2}, px(20),
                    icon, is_there ? Ability::enabled : Ability::disabled);
    if (touched.clicked && is_there) ask(ChooseHead{next});
    at.x += px(20);
  }
  return at.y + line - room.min.y;
}

BoxName name_of_box(const core::Graph& graph, const Diagram& diagram, std::size_t index, const Words& words) {
  const DiagramNode& box = diagram.nodes[index];
  if (box.place == DiagramPlace::model) return {words.text.text("diagram.model"), Source::catalog};
  const core::TensorSpec& shown = graph.spec(core::result(graph.operations()[box.operations.back()]));
  if (box.place == DiagramPlace::operation) {
    const std::string key = text_key(shown) + ".short";
    if (words.formulas.has(key)) return {words.formulas.text(key), Source::tensor};
    return {short_name(shown), Source::tensor};
  }
  const std::string_view name = core::leaf(box.path), number = digits_after(name);
  const std::string key = "diagram." + std::string(name.substr(0, name.size() - number.size()));
  if (words.text.has(key)) return {words.text.text(key, {{"n", std::string(number)}}), Source::catalog};
  return {words.text.text("tensor." + text_key(shown) + ".name"), Source::catalog};
}

void draw_diagram(Ui& ui, const Words& words, const DiagramSubject& subject, DiagramMemory& memory,
                  const Rect& box, Actions& actions, const DrawLine& under_title) {
  DiagramDrawer(ui, words, subject, memory, actions, under_title).draw(box);
}

void draw_diagram(Panel& panel, const Rect& box) {
  const AppState& state = panel.state;
  DiagramWindow& own = panel.window.diagram;
  if (own.revision != state.revision) {
    own.diagram = make_diagram(state.session.graph());
    leave_out_lengths(own.diagram, state.trace());
    own.revision = state.revision;
  }
  const core::Trace<float> trace = state.trace();
  draw_diagram(panel.ui, panel.words,
               {.trace = trace,
                .diagram = own.diagram,
                .level = state.level,
                .opened = state.opened,
                .head = state.head(),
                .step = state.last_step()},
               own.memory, box, panel.actions, [&panel](Ui& ui, ImVec2 at, float width) {
                 Panel inner = panel.with(ui);
                 return draw_said(inner, at, width);
               });
}

}  // namespace headscope::simulator
