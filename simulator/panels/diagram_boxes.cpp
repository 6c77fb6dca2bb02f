// Boxes of the block diagram: open ones, closed ones, operations with their numbers.
#include "simulator/panels/diagram_drawer.h"
#include "simulator/panels/diagram_picture.h"
#include "simulator/widgets/controls.h"

#include <string>

namespace headscope::simulator {
namespace {

using core::TensorId;

constexpr float kSum = 6;  // radius of ⊕

}  // namespace

std::size_t DiagramDrawer::n_pictures() const {
  std::size_t n = 0;
  for (const PlacedBox& placed : layout_.boxes) {
    if (!placed.box.overlaps(seen_)) continue;
    n += placed.given.size() + (placed.picture.width() > 0 ? 1 : 0);
  }
  if (layout_.grid)
    for (const PlacedHead& head : layout_.grid->heads)
      if (head.box.overlaps(seen_)) n += head.pictures.size();
  return n;
}

void DiagramDrawer::draw_picture(TensorId tensor, std::int64_t head, const Rect& box) {
  if (box.overlaps(seen_)) draw_tensor_picture(painter(), subject_.trace, tensor, head, box, samples_);
}

void DiagramDrawer::draw_open_boxes() {
  for (const PlacedBox& placed : layout_.boxes) {
    if (placed.form != BoxForm::open || placed.node == 0) continue;
    const DiagramPlace place = node(placed.node).place;
    if (place != DiagramPlace::stack)
      painter().fill(placed.box, place == DiagramPlace::block ? colour().inset : colour().stage,
                     px(theme().radius.chip));
    if (layout_.grid && layout_.grid->node == placed.node)
      painter().fill(layout_.grid->box.grown(px(4)), colour().inset, px(theme().radius.chip));
    Rect label = placed.label;
    if (subject_.level == StageLevel::head && placed.node == opened_ &&
        label.width() > 3 * painter().disc_size()) {
      const float side = painter().disc_size();
      painter().head_disc({label.max.x - side / 2, label.centre().y},
                          static_cast<std::size_t>(subject_.head));
      label.max.x -= side + px(6);
    }
    draw_label(label, placed.node, colour().secondary);
    if (place == DiagramPlace::stack || placed.label.width() <= 0) continue;
    const Touch touched = touch(ui(), "title" + std::to_string(placed.node), placed.label, Reach::pointer);
    if (touched.clicked && placed.node == opened_) ask(StepBack{});
    if (touched.clicked && placed.node != opened_) ask(OpenPlace{level_of(place), node(placed.node).path});
  }
}

/// The name, and ∂ at its right where its gradient is there.
void DiagramDrawer::draw_label(const Rect& box, std::size_t index, ImU32 tint) {
  if (box.width() <= 0) return;
  const BoxName name = name_of_box(graph_, subject_.diagram, index, words_);
  Rect room = box;
  const TextStyle sign{.type = TypeStyle::small,
                       .weight = Weight::semibold,
                       .colour = theme().hue(Concept::gradient),
                       .source = Source::tensor,
                       .role = "diagram_gradient"};
  const bool is_back =
      node(index).place != DiagramPlace::stack && has_gradient(shown_tensor(graph_, subject_.diagram, index));
  const std::string mark = theme().mark(Concept::gradient);
  const float wide = painter().width_of(mark, sign) + px(3);
  const float line = painter().line_height(TypeStyle::small);
  const float y = box.centre().y - line / 2;
  // a name comes before its sign: the frame and the arrows tell the same
  if (is_back && room.width() > wide + painter().width_of(name.text, {.type = TypeStyle::small,
                                                                      .weight = Weight::semibold})) {
    room.max.x -= wide;
    painter().text_to({box.max.x, y}, mark, sign);
  }
  const bool is_strong = is_lit(index);
  const TextStyle style{.type = TypeStyle::small,
                        .weight = is_strong ? Weight::semibold : Weight::regular,
                        .colour = is_strong ? colour().primary : tint,
                        .source = name.source,
                        .role = "diagram"};
  // an operation's short formula has its title for a tooltip, however much of it is seen
  if (node(index).place == DiagramPlace::operation)
    painter().text({room.min.x, y}, painter().fitted(name.text, room.width(), style), style);
  else
    painter().fit_text({room.min.x, y}, name.text, room.width(), style);
}

/// A closed box that holds the last step names it, too.
void DiagramDrawer::draw_closed_label(const Rect& box, std::size_t index, ImU32 tint) {
  const float line = painter().line_height(TypeStyle::small);
  const bool holds_step = subject_.step && is_lit(index) && node(index).place != DiagramPlace::operation;
  if (!holds_step || box.height() < 2 * line + px(6)) return draw_label(box, index, tint);
  draw_label({box.min, {box.max.x, box.max.y - line}}, index, tint);
  painter().fit_text({box.min.x, box.centre().y}, step_name(graph_, *subject_.step, words_.text), box.width(),
                     {.type = TypeStyle::small, .colour = colour().secondary, .role = "diagram"});
}

/// What a closed box shows: its result; until that is there, the last tensor that was computed in it.
TensorId DiagramDrawer::pictured_in(std::size_t index) const {
  const TensorId shown = shown_tensor(graph_, subject_.diagram, index);
  const bool is_at_work = subject_.step && subject_.step->phase == core::Phase::forward && is_lit(index);
  if (!is_at_work || subject_.trace.is_computed(shown)) return shown;
  return core::result(graph_.operations()[subject_.step->operation]);
}

void DiagramDrawer::say_whole(const Touch& touched, TensorId tensor, std::string_view form) {
  if (touched.hovered)
    tooltip(painter(), touched.mouse,
            words_.text.text("tensor." + text_key(graph_.spec(tensor)) + "." + std::string(form)));
}

void DiagramDrawer::frame_lit(const Rect& box, std::size_t index) {
  if (!is_lit(index)) return;
  const bool is_back = subject_.step && subject_.step->phase == core::Phase::backward;
  const float width = painter().stroke(theme().line.operand);
  if (is_back)
    painter().dashed_frame(box, theme().hue(Concept::gradient), width, theme().line.gradient_dash);
  else
    painter().frame(box, theme().hue(hue_of(index)), width, px(theme().radius.frame));
}

bool DiagramDrawer::is_updated(std::size_t index) const {
  for (const std::size_t operation : node(index).operations)
    for (const TensorId given : given_to(graph_, subject_.diagram, operation))
      if (subject_.trace.is_updated(given)) return true;
  return false;
}

void DiagramDrawer::draw_closed(const PlacedBox& placed) {
  const DiagramNode& known = node(placed.node);
  const TensorId shown = shown_tensor(graph_, subject_.diagram, placed.node);
  const std::string id = "box" + std::to_string(placed.node);
  const bool is_nested = node(known.parent).place == DiagramPlace::block;
  const bool is_done = subject_.trace.is_computed(shown);
  Touch on_picture;
  if (placed.picture.width() > 0) on_picture = touch(ui(), id + "picture", placed.picture, Reach::pointer);
  const Touch touched = touch(ui(), id, placed.box);
  if (is_done)
    painter().fill(placed.box, is_nested ? colour().stage : colour().inset, px(theme().radius.chip));
  else
    painter().dashed_frame(placed.box, colour().control, painter().stroke(theme().line.hair), kDots);
  if (placed.stream) {
    const auto& [from, to] = *placed.stream;
    if (has_gradient(shown))
      painter().dashed_line(from, to, theme().hue(Concept::gradient), painter().stroke(theme().line.hover),
                            theme().line.gradient_dash);
    else
      painter().line(from, to, is_done ? colour().control : colour().hair,
                     painter().stroke(theme().line.hair));
    if (known.place == DiagramPlace::operation) {  // a sum
      const ImVec2 centre{from.x, placed.box.centre().y};
      const float size = px(kSum);
      painter().list().AddCircleFilled(centre, size, is_nested ? colour().stage : colour().inset);
      painter().list().AddCircle(centre, size, colour().secondary, 0, painter().stroke(theme().line.hair));
      painter().line({centre.x - size, centre.y}, {centre.x + size, centre.y}, colour().secondary, 1);
      painter().line({centre.x, centre.y - size}, {centre.x, centre.y + size}, colour().secondary, 1);
    }
  }
  Rect label = placed.label;
  if (is_updated(placed.node) && label.width() > px(30)) {
    label.max.x -= px(14);
    painter().sign({label.max.x + px(8), label.centre().y}, Sign::tick, colour().secondary, px(10));
  }
  draw_closed_label(label, placed.node, is_done ? colour().primary : colour().tertiary);
  const TensorId pictured = pictured_in(placed.node);
  if (placed.picture.width() > 0) draw_picture(pictured, subject_.head, placed.picture);
  draw_given(placed);
  frame_lit(placed.box, placed.node);
  if (touched.hovered || on_picture.hovered)
    painter().frame(on_picture.hovered ? placed.picture : placed.box, colour().secondary,
                    painter().stroke(theme().line.hover), px(theme().radius.frame));
  draw_focus_ring(ui(), placed.box, touched);
  if (known.place == DiagramPlace::operation) {
    say_whole(touched, shown, "title");
    say_whole(on_picture, shown, "title");
  }
  if (on_picture.clicked || (touched.clicked && known.place == DiagramPlace::operation))
    ask(ShowTensor{pictured});
  else if (touched.clicked)
    ask(OpenPlace{level_of(known.place), known.path});
}

void DiagramDrawer::draw_given(const PlacedBox& placed) {
  for (const PlacedTensor& given : placed.given) {
    const core::TensorSpec& spec = graph_.spec(given.tensor);
    const Touch touched =
        touch(ui(), "given" + std::to_string(placed.node) + "." + std::to_string(given.tensor.index),
              given.picture, Reach::pointer);
    draw_picture(given.tensor, subject_.head, given.picture);
    const bool is_here = subject_.step && subject_.step->phase == core::Phase::update &&
                         subject_.step->parameter == given.tensor;
    const bool is_new = subject_.trace.is_updated(given.tensor);
    if (is_here || is_new || touched.hovered)
      painter().frame(given.picture, is_here ? colour().primary : colour().secondary,
                      painter().stroke(is_here ? theme().line.operand : theme().line.hover));
    if (given.label.width() > 0)
      painter().fit_text(given.label.min, spec.symbol, given.label.width(),
                         {.type = TypeStyle::small,
                          .weight = is_new ? Weight::semibold : Weight::regular,
                          .colour = is_new ? colour().primary : colour().secondary,
                          .source = Source::tensor,
                          .role = "diagram"});
    say_whole(touched, given.tensor, "name");
    if (touched.clicked) ask(ShowTensor{given.tensor});
  }
}

void DiagramDrawer::draw_cell(const PlacedBox& placed) {
  const std::size_t operation = node(placed.node).operations.front();
  const TensorId shown = core::result(graph_.operations()[operation]);
  const std::string id = "cell" + std::to_string(placed.node);
  const Touch on_label = touch(ui(), id + "label", placed.label, Reach::pointer);
  const Touch touched = touch(ui(), id, placed.picture);
  draw_picture(shown, subject_.head, placed.picture);
  const bool is_done = subject_.trace.is_computed(shown);
  draw_label(placed.label, placed.node,
             on_label.hovered ? colour().primary
             : is_done        ? colour().secondary
                              : colour().tertiary);
  draw_given(placed);
  if (has_gradient(shown) && !is_lit(placed.node))
    painter().dashed_frame(placed.picture.grown(px(2)), theme().hue(Concept::gradient),
                           painter().stroke(theme().line.hair), theme().line.gradient_dash);
  frame_lit(placed.picture.grown(px(2)), placed.node);
  if (touched.hovered)
    painter().frame(placed.picture, colour().primary, painter().stroke(theme().line.hover));
  draw_focus_ring(ui(), placed.picture, touched);
  say_whole(on_label, shown, "title");
  say_whole(touched, shown, "title");
  if (touched.clicked) ask(ShowTensor{shown});
  if (on_label.clicked) ask(MoveCursor{operation + 1});
}

}  // namespace headscope::simulator
