#include "simulator/panels/prose.h"

#include "lessons/markdown.h"
#include "simulator/tensor_facts.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>

namespace headscope::simulator {
namespace {

constexpr std::string_view kTensorLink = "tensor:";

std::string link_id(core::TensorId tensor) {
  return std::string(kTensorLink) + std::to_string(tensor.index);
}

Concept hue_of(const Panel& panel, core::TensorId tensor) {
  return concept_of_name(quantity_of(panel.state.session.graph().spec(tensor).name)).value_or(Concept::none);
}

/// A link's words; the first mention of a quantity in a block bears its letter.
Run link_run(const Panel& panel, core::TensorId tensor, std::string text, std::vector<Concept>& tagged,
             Source source) {
  const Concept hue = hue_of(panel, tensor);
  Run run{.text = std::move(text), .weight = Weight::semibold, .hue = hue, .underline = true};
  run.link = link_id(tensor);
  run.source = source;
  if (hue != Concept::none && std::ranges::find(tagged, hue) == tagged.end()) {
    run.tag = true;
    tagged.push_back(hue);
  }
  return run;
}

/// Brings a tensor to the stage: its cell nearest to the lit one (same head, word and channel).
void follow_link(Panel& panel, core::TensorId tensor) {
  const core::Session& session = panel.state.session;
  const core::ShapeSpec& sides = session.graph().spec(tensor).shape;
  const core::Shape& shape = session.trace().shape(tensor);
  core::Cell cell;
  for (int place = 0; place < sides.rank(); ++place) {
    std::int64_t index = sides[place].axis == core::Axis::head ? panel.view.step.head : 0;
    if (panel.view.lit && sides[place].axis != core::Axis::batch) {
      const int own = session.graph().spec(panel.view.lit->tensor).shape.find(sides[place].axis);
      if (own >= 0) index = panel.view.lit->cell[own];
    }
    cell.push_back(std::min(index, shape[place] - 1));
  }
  panel.actions.push_back(FollowCell{{tensor, cell}});
}

/// Acts on the links of a drawn block: hovering lights the tensor, a click brings it to the stage.
void touch_links(Panel& panel, const std::vector<LinkBox>& links) {
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  for (const LinkBox& link : links) {
    if (!link.link.starts_with(kTensorLink) || !link.box.contains(mouse) || !ImGui::IsWindowHovered())
      continue;
    std::uint32_t index = 0;
    std::from_chars(link.link.data() + kTensorLink.size(), link.link.data() + link.link.size(), index);
    panel.window.pointed.tensor = core::TensorId{index};
    if (ImGui::IsMouseClicked(0)) follow_link(panel, {index});
  }
}

/// The words of the tensor under the pointer, be it a link, a picture in the strip or a cell on the stage.
std::string lit_link(const Panel& panel) {
  if (panel.window.seen.tensor) return link_id(*panel.window.seen.tensor);
  return panel.window.seen.cell ? link_id(panel.window.seen.cell->tensor) : std::string();
}

float draw_runs(Panel& panel, ImVec2 at, float width, std::vector<Run> runs, const ProseStyle& style) {
  const RichBlock block =
      lay_out(panel.painter(), std::move(runs), {.type = style.type, .width = width, .colour = style.colour});
  touch_links(panel, draw(panel.painter(), at, block, lit_link(panel)));
  return block.height;
}

/// Room that a list item's mark takes, in theme pixels.
constexpr float kListIndent = 20;

struct BlockLook {
  ProseStyle style;
  float indent = 0;
  std::string mark;
};

BlockLook look_of(const lessons::ProseBlock& block, const ProseStyle& style) {
  BlockLook look{style, kListIndent * static_cast<float>(block.depth), {}};
  if (block.kind == lessons::Block::Kind::heading) look.style.type = TypeStyle::heading;
  if (block.kind == lessons::Block::Kind::list_item)
    look.mark = block.number > 0 ? std::to_string(block.number) + "." : "•";
  return look;
}

/// Code blocks keep their lines, on an inset.
float draw_code(Panel& panel, ImVec2 at, float width, const lessons::ProseBlock& block) {
  std::string code;
  for (const lessons::ProseRun& run : block.runs) code += run.text;
  while (code.ends_with('\n')) code.pop_back();
  const float pad = panel.px(panel.theme().space.s);
  const RichBlock laid =
      lay_out(panel.painter(), {Run{.text = code}}, {.type = TypeStyle::number, .width = width - 2 * pad});
  panel.painter().fill(rect_at(at, {width, laid.height + 2 * pad}), panel.painter().colour().inset,
                       panel.px(panel.theme().radius.chip));
  draw(panel.painter(), {at.x + pad, at.y + pad}, laid);
  return laid.height + 2 * pad;
}

}  // namespace

std::vector<Run> rich_runs(const Panel& panel, const std::vector<lessons::ProseRun>& runs, Source source) {
  using Kind = lessons::Run::Kind;
  std::vector<Run> rich;
  std::vector<Concept> tagged;
  for (const lessons::ProseRun& run : runs) {
    if (run.kind == Kind::tensor_link && run.tensor) {
      rich.push_back(link_run(panel, *run.tensor, run.text, tagged, source));
      continue;
    }
    Run piece{.text = run.text};
    piece.source = run.kind == Kind::live ? Source::number : source;
    piece.code = run.kind == Kind::code;
    if (run.strong || run.kind == Kind::live) piece.weight = Weight::semibold;
    if (run.strong || run.kind == Kind::live) piece.colour = panel.painter().colour().primary;
    if (run.emphasis) piece.weight = Weight::italic;
    rich.push_back(std::move(piece));
  }
  return rich;
}

float draw_prose(Panel& panel, ImVec2 at, float width, const std::vector<lessons::ProseBlock>& blocks,
                 const ProseStyle& style) {
  const float paragraph = panel.px(panel.theme().space.paragraph), tight = panel.px(panel.theme().space.xs);
  float y = at.y;
  for (std::size_t index = 0; index < blocks.size(); ++index) {
    const lessons::ProseBlock& block = blocks[index];
    const bool is_item = block.kind == lessons::Block::Kind::list_item;
    if (index > 0) y += is_item && blocks[index - 1].depth > 0 ? tight : paragraph;
    if (block.kind == lessons::Block::Kind::code) {
      y += draw_code(panel, {at.x, y}, width, block);
      continue;
    }
    const BlockLook look = look_of(block, style);
    const float indent = panel.px(look.indent);
    if (!look.mark.empty())
      panel.painter().text({at.x + indent - panel.px(kListIndent - 4), y}, look.mark,
                           {.type = look.style.type, .colour = look.style.colour, .source = Source::lesson});
    y += draw_runs(panel, {at.x + indent, y}, width - indent, rich_runs(panel, block.runs, Source::lesson),
                   look.style);
  }
  return y - at.y;
}

float draw_sentence(Panel& panel, ImVec2 at, float width, std::string_view markdown,
                    const ProseStyle& style) {
  std::vector<lessons::ProseRun> runs;
  for (const lessons::Block& block : lessons::parse_markdown(markdown))
    for (const lessons::Run& run : block.runs) {
      lessons::ProseRun prose{
          .kind = run.kind, .text = run.text, .strong = run.strong, .emphasis = run.emphasis};
      if (run.kind == lessons::Run::Kind::tensor_link)
        prose.tensor =
            lessons::find_tensor(panel.state.session.graph(), run.target,
                                 panel.state.has_lesson() ? panel.state.lesson().inside : std::string());
      runs.push_back(std::move(prose));
    }
  std::vector<Run> rich = rich_runs(panel, runs, Source::catalog);
  // what the sentence stresses is the learner's own word
  for (std::size_t index = 0; index < runs.size(); ++index)
    if (runs[index].strong || runs[index].emphasis) rich[index].source = Source::token;
  return draw_runs(panel, at, width, std::move(rich), style);
}

float draw_said(Panel& panel, ImVec2 at, float width) {
  // before a class the matrices' arithmetic stands large beside them
  const bool is_said_large =
      panel.state.layout == Layout::presentation && panel.state.level == StageLevel::matrix;
  if (panel.view.said.empty() || is_said_large) return 0;
  return draw_sentence(panel, at, width, panel.view.said,
                       {.type = TypeStyle::label, .colour = panel.painter().colour().secondary});
}

}  // namespace headscope::simulator
