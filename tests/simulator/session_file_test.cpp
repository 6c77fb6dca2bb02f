// Session files: what was written is read as the same; what is damaged is refused, and names what and where.
#include "simulator/session_file.h"

#include "core/formats/safetensors.h"
#include "core/temporary_folder.h"
#include "simulator/actions.h"
#include "simulator/open_model.h"
#include "simulator/session_state.h"
#include "tests/source_folder.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <bit>
#include <cstring>
#include <filesystem>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace headscope::simulator {
namespace {

using tests::read_text;
using tests::TemporaryFolder;
using tests::write_text;

std::filesystem::path assets() {
  return tests::source_folder() / "assets";
}
std::filesystem::path lesson_files() {
  return tests::source_folder() / "lessons/content/en";
}

AppState open_bundled(const std::string& name) {
  core::Result<OpenedModel> model = open_model(name, assets());
  REQUIRE(model);
  core::Result<AppState> state = open_state(*std::move(model), {}, assets(), lesson_files());
  REQUIRE(state);
  return *std::move(state);
}

void act(AppState& state, const Action& action) {
  apply_action(state, action);
  INFO((state.message ? state.message->key + " " + state.message->where : ""));
  REQUIRE(!state.message);
}

core::TensorId find(const AppState& state, const std::string& name) {
  const std::optional<core::TensorId> tensor = state.session.graph().find(name);
  REQUIRE(tensor);
  return *tensor;
}

/// A translator with everything changed that can be.
AppState busy_state() {
  AppState state = open_bundled("translation");
  const core::TensorId w_query = find(state, "encoder.block0.self_attention.w_query");
  const core::TensorId scores = find(state, "decoder.block0.cross_attention.scores");
  const core::TensorId output = find(state, "decoder.block0.self_attention.head_output");
  act(state, NextTrainingStep{});
  act(state, NextTrainingStep{});
  act(state, SetCell{.address = {w_query, {1, 2, 3}}, .value = 0.25});
  act(state, SetCell{.address = {scores, {0, 1, 0, 1}}, .value = -1.5});
  act(state, SetHead{{output, 2}, core::HeadMode::uniform});
  act(state, SetHead{{find(state, "encoder.block0.self_attention.head_output"), 1}, core::HeadMode::mean});
  act(state, SetAttention{.scores = scores, .switches = {.temperature = 2.5, .leaves_scale = false}});
  core::OptimiserConfig optimiser;
  optimiser.rate = 0.0125;
  optimiser.clip_norm = 1;
  act(state, SetOptimiser{.optimiser = optimiser});
  act(state, MoveCursor{state.session.n_steps() - 3});
  act(state, OpenPlace{StageLevel::heads, "decoder.block0.cross_attention"});
  act(state, LockCell{{find(state, "encoder.block0.self_attention.weights"), {0, 0, 0, 0}}});
  act(state, FollowCell{{w_query, {1, 2, 3}, core::Quantity::gradient}});
  act(state, SetAppearance{Appearance::dark});
  act(state, SetTextScale{1.5});
  act(state, SetPlayBy{PlayBy::layer});
  return state;
}

std::vector<float> all_numbers(const core::Session& session) {
  std::vector<float> numbers;
  const core::Trace<float> trace = session.trace();
  for (std::uint32_t index = 0; index < session.graph().n_tensors(); ++index) {
    if (session.graph().spec({index}).element != core::Element::real) continue;
    const std::span<const float> values = trace.workspace().values({index});
    numbers.insert(numbers.end(), values.begin(), values.end());
  }
  return numbers;
}

bool has_same_bits(const core::Session& left, const core::Session& right) {
  const std::vector<float> a = all_numbers(left), b = all_numbers(right);
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

AppState load(const std::filesystem::path& path) {
  core::Result<AppState> state = load_state(path, assets(), lesson_files());
  INFO((state ? "" : state.error().key + " " + state.error().where));
  REQUIRE(state);
  return *std::move(state);
}

/// The file with its metadata's session text changed, by hand, so without a checksum.
std::string with_session(const std::string& bytes, const std::function<void(std::string&)>& change) {
  const core::Result<core::StoredFile> file = core::parse_safetensors_file(bytes, "bytes");
  REQUIRE(file);
  std::string text = core::find_metadata(file->metadata, "session");
  const std::string before = text;
  change(text);
  REQUIRE(text != before);
  std::vector<std::vector<float>> numbers;
  std::vector<core::TensorView> views;
  for (const auto& [name, tensor] : file->tensors)
    numbers.emplace_back(tensor.values.begin(), tensor.values.end());
  std::size_t place = 0;
  for (const auto& [name, tensor] : file->tensors)
    views.push_back({name, tensor.shape, std::span<const float>(numbers[place++])});
  return core::format_safetensors_views(
      views, {{"format", "headscope-session"}, {"version", "1"}, {"checksum", "none"}, {"session", text}});
}

/// The error of the changed file.
core::Error refusal_of(const TemporaryFolder& folder, const std::string& bytes) {
  const std::filesystem::path path = folder / "changed.headscope";
  write_text(path, bytes);
  const core::Result<ReadSession> read = read_session(path);
  return read ? core::Error{"accepted", ""} : read.error();
}

}  // namespace

TEST_CASE("a session goes on where it was, to the bit", "[simulator][session]") {
  const TemporaryFolder folder;
  AppState state = busy_state();
  REQUIRE(write_session(folder / "a.headscope", save_state(state)));
  AppState again = load(folder / "a.headscope");
  CHECK(!again.message);

  CHECK(again.name == state.name);
  CHECK(again.session.setup().edits == state.session.setup().edits);
  CHECK(again.session.setup().edits.size() == 2);
  CHECK(again.session.setup().heads == state.session.setup().heads);
  CHECK(again.session.setup().attentions == state.session.setup().attentions);
  CHECK(again.session.setup().optimiser == state.session.setup().optimiser);
  CHECK(again.session.setup().gold == state.session.setup().gold);
  CHECK(again.session.text() == state.session.text());
  CHECK(again.session.training_step() == 3);
  CHECK(again.initial.text == state.initial.text);
  CHECK(again.initial.gold == state.initial.gold);
  CHECK(again.cursor().position() == state.cursor().position());
  CHECK(again.trail == state.trail);
  CHECK(again.trail.size() == 2);
  CHECK(again.level == state.level);
  CHECK(again.opened == "decoder.block0.cross_attention");
  CHECK(again.appearance == Appearance::dark);
  CHECK(again.text_scale == 1.5);
  CHECK(again.play_by == PlayBy::layer);
  CHECK(again.n_examples_drawn == state.n_examples_drawn);
  REQUIRE(again.task);
  CHECK(again.task->config() == state.task->config());
  CHECK(has_same_bits(again.session, state.session));

  // what comes next is the same, too: a step of training, another example, everything taken back
  act(state, NextTrainingStep{});
  act(again, NextTrainingStep{});
  CHECK(has_same_bits(again.session, state.session));
  act(state, DrawExample{});
  act(again, DrawExample{});
  CHECK(again.session.text() == state.session.text());
  act(state, Reset{});
  act(again, Reset{});
  CHECK(has_same_bits(again.session, state.session));

  CHECK(format_session(save_state(load(folder / "a.headscope"))) == read_text(folder / "a.headscope"));
}

TEST_CASE("every bundled model's session is kept and read", "[simulator][session]") {
  const TemporaryFolder folder;
  for (const BundledModel& model : list_bundled_models(assets())) {
    INFO(model.name);
    AppState state = open_bundled(model.name);
    CHECK(state.session.has_gold());
    CHECK(state.undo.empty());
    act(state, MoveCursor{state.session.n_steps()});
    REQUIRE(write_session(folder / "a.headscope", save_state(state)));
    const AppState again = load(folder / "a.headscope");
    CHECK(has_same_bits(again.session, state.session));
    CHECK(again.cursor().position() == state.cursor().position());
  }
}

TEST_CASE("a lesson's place and answers are kept, and a lesson that is gone leaves its model",
          "[simulator][session]") {
  const TemporaryFolder folder;
  core::Result<AppState> state = open_lesson(assets(), lesson_files(), "1");
  REQUIRE(state);
  std::size_t step = 0;
  while (state->lesson().steps.at(step).questions.empty()) ++step;
  act(*state, GoToStep{step});
  act(*state, RevealAnswer{0});
  act(*state, SetSentence{"the dog sat"});
  REQUIRE(write_session(folder / "a.headscope", save_state(*state)));

  const AppState again = load(folder / "a.headscope");
  REQUIRE(again.has_lesson());
  CHECK(again.lesson().name == state->lesson().name);
  CHECK(again.runner.step == step);
  REQUIRE(again.runner.answers.contains({step, 0}));
  CHECK(again.runner.answers.at({step, 0}).state == lessons::AnswerState::revealed);
  CHECK(again.session.text() == "the dog sat");
  CHECK(has_same_bits(again.session, state->session));

  // an answer that no question of the lesson can have is left out, whoever wrote it
  SessionFile file = save_state(*state);
  file.lesson->answers[{step, 0}] = {.given = {.choices = {}}, .state = lessons::AnswerState::wrong};
  file.lesson->answers[{4000, 7}] = {.given = {}, .state = lessons::AnswerState::right};
  file.lesson->goals_reached = {{4000, 1}};
  REQUIRE(write_session(folder / "b.headscope", file));
  const AppState without = load(folder / "b.headscope");
  CHECK(without.runner.goals_reached.empty());
  for (const auto& [item, answer] : without.runner.answers) CHECK(item.step < without.lesson().steps.size());

  file.lesson->name = "no-such-lesson";
  REQUIRE(write_session(folder / "c.headscope", file));
  const AppState alone = load(folder / "c.headscope");
  CHECK(!alone.has_lesson());
  REQUIRE(alone.message);
  CHECK(alone.message->key == "session_file.lesson");
  CHECK(has_same_bits(alone.session, state->session));
}

TEST_CASE("a session that is cut short or flipped is refused", "[simulator][session]") {
  const TemporaryFolder folder;
  const std::string bytes = format_session(save_state(busy_state()));
  REQUIRE(parse_session(bytes, "bytes"));
  for (std::size_t length = 0; length < bytes.size(); length += 97)
    if (parse_session(std::string_view(bytes).substr(0, length), "bytes")) FAIL("accepted at " << length);
  // whatever byte: metadata, names or numbers
  std::size_t n_checked = 0;
  for (std::size_t place = 8; place < bytes.size(); place += 131, ++n_checked) {
    std::string flipped = bytes;
    flipped[place] = static_cast<char>(flipped[place] ^ 0x04);
    if (flipped[place] == ' ' || bytes[place] == ' ') continue;  // the header's padding
    const core::Result<SessionFile> read = parse_session(flipped, "bytes");
    if (read) FAIL("accepted with byte " << place << " flipped");
  }
  CHECK(n_checked > 300);
  CHECK(refusal_of(folder, "").key == "safetensors.too_short");
}

TEST_CASE("every field of a session is checked, and a wrong one names itself", "[simulator][session]") {
  const TemporaryFolder folder;
  const AppState state = busy_state();
  const std::string bytes = format_session(save_state(state));
  const std::string text = R"("text": ")" + state.session.text() + '"';
  const std::string unknown = R"("text": "xyzzy")";
  const std::string cursor = R"("cursor": )" + std::to_string(state.cursor().position());
  const std::string setup = R"("setup": {)", initial = R"("initial": {)", view = R"("view": {)";
  const std::string place = R"("cell": [1, 2, 3], "value": 0.25)";
  const std::string lesson = R"("lesson": {"name": "x", )";
  struct Case {
    std::string behind;    // the first place behind this,
    std::string from, to;  // where this becomes that
    std::string key;       // of the error
    std::string named;     // in its `where` or a value
  };
  const std::vector<Case> cases = {
      {"", R"("architecture": "encoder-decoder")", R"("architecture": "tree")", "config.value",
       "architecture"},
      {"", R"("d_model": 16)", R"("d_model": -1)", "config.range", "d_model"},
      {"", R"("vocabulary": [)", R"("vocabulary": ["one more", )", "vocabulary.size", "changed"},
      {"", R"("target_vocabulary": [)", R"("target_vocabulary": [7, )", "config.not_text",
       "target_vocabulary"},
      {"", R"("target_vocabulary")", R"("other")", "session.no_target_vocabulary", "changed"},
      {R"("task": {)", R"("name": "translation")", R"("name": 3)", "config.not_text", "task.name"},
      {"", R"("examples_drawn": )", R"("examples_drawn": -)", "config.not_integer", "examples_drawn"},
      {setup, text, R"("text": 1)", "config.not_text", "setup.text"},
      {setup, text, unknown, "text.unknown_word", "setup"},
      {setup, text + ", ", "", "config.key_missing", "setup.text"},
      {initial, text, unknown, "text.unknown_word", "initial"},
      {setup, R"("origin": "given")", R"("origin": "perhaps")", "config.value", "setup.gold.origin"},
      {setup, R"("labels": [])", R"("labels": [-2])", "config.range", "setup.gold.labels"},
      {setup, R"("labels": [])", R"("labels": [1])", "session.labels", "setup"},
      {setup, R"("edits": [{"tensor": "encoder)", R"("edits": [{"tensor": "coder)", "session_file.no_tensor",
       "setup.edits[0].tensor"},
      {setup, place, R"("cell": [1, 2], "value": 0.25)", "session_file.cell", "setup.edits[0].cell"},
      {setup, place, R"("cell": [1, -2, 3], "value": 0.25)", "session_file.cell", "setup.edits[0].cell"},
      {setup, place, R"("cell": [1, 2000, 3], "value": 0.25)", "edit.no_such_cell", "setup.edits[0]"},
      {setup, place, R"("cell": [1, 2, 3], "value": 1e300)", "edit.not_finite", "setup.edits[0]"},
      {setup, place, R"("cell": [1, 2, 3], "value": "much")", "config.not_number", "setup.edits[0].value"},
      {setup, R"("edits": [)",
       R"("edits": [{"tensor": "encoder.block0.self_attention.w_query", )" + place + "}, ",
       "session_file.twice", "setup.edits[1].cell"},
      {setup, R"("tensor": "decoder.block0.cross_attention.scores", "cell": [0, 1, 0, 1])",
       R"("tensor": "loss", "cell": [0])", "edit.computed", "setup.edits["},
      {setup, R"("head": 2, "mode")", R"("head": 4, "mode")", "session.switch", "setup"},
      {setup, R"("head": 2, "mode")", R"("head": -1, "mode")", "config.range", "setup.heads["},
      {setup, R"("mode": "uniform")", R"("mode": "sideways")", "config.value", ".mode"},
      {setup, R"("mode": "mean", "shape": [)", R"("mode": "mean", "shape": [2, )", "session_file.means",
       ".shape"},
      {setup, R"("mode": "mean", "shape": [)", R"("mode": "mean", "shape": [-)", "config.range", ".shape"},
      {setup, R"("means": [)", R"("means": [true, )", "config.not_number", ".means"},
      {setup, R"("temperature": 2.5)", R"("temperature": -1.0)", "session.temperature", "setup"},
      {setup, R"("scale": false)", R"("scale": 0)", "config.not_boolean", "setup.attentions[0].scale"},
      {setup, R"("scores": "decoder.block0.cross_attention.scores")", R"("scores": "logits")",
       "session.switch", "setup"},
      {setup, R"("lr": 0.0125)", R"("lr": -0.5)", "optimiser.range", "setup"},
      {setup, R"("lr": 0.0125)", R"("lr": "fast")", "config.not_number", "setup.optimiser.lr"},
      {setup, R"("trained": {"step": 2})", R"("trained": {"step": 0})", "config.range", "setup.trained.step"},
      {setup, R"("trained": {"step": 2})", R"("trained": 2)", "config.not_object", "setup.trained"},
      {setup, R"(, "trained": {"step": 2})", "", "model.tensor_unknown", "trained."},
      {"", cursor, R"("cursor": 100000)", "config.range", "cursor"},
      {"", cursor, R"("cursor": -1)", "config.range", "cursor"},
      {view, R"("level": "matrix")", R"("level": "moon")", "config.value", "view.level"},
      {view, R"("opened": "decoder.block0.cross_attention")", R"("opened": "decoder.bloc")",
       "session_file.no_tensor", "view.opened"},
      {view, R"("head": 0)", R"("head": 4)", "config.range", "view.head"},
      {view, R"("trail": [{"tensor": "encoder)", R"("trail": [{"tensor": "coder)", "session_file.no_tensor",
       "view.trail[0].tensor"},
      {view, R"("cell": [0, 0, 0, 0])", R"("cell": [0, 0, 0, 9999])", "edit.no_such_cell", "view.trail[0]"},
      {view, R"("quantity": "gradient")", R"("quantity": "curl")", "config.value", "view.trail[1].quantity"},
      {view, R"("appearance": "dark")", R"("appearance": "plaid")", "config.value", "view.appearance"},
      {view, R"("layout": "study")", R"("layout": 1)", "config.not_text", "view.layout"},
      {view, R"("play_by": "layer")", R"("play_by": "day")", "config.value", "view.play_by"},
      {view, R"("left_panel": "what_if")", R"("left_panel": "why")", "config.value", "view.left_panel"},
      {view, R"("text_scale": 1.5)", R"("text_scale": 3.01)", "config.range", "view.text_scale"},
      {view, R"("text_scale": 1.5)", R"("text_scale": 0.7)", "config.range", "view.text_scale"},
      {"", view, lesson + R"("step": -1}, )" + view, "config.range", "lesson.step"},
      {"", view, lesson + R"("step": 0, "goals": [{"step": 0}]}, )" + view, "config.key_missing",
       "lesson.goals[0].item"},
      {"", view, lesson + R"("step": 0, "answers": [{"step": 0, "item": 0, "state": "so"}]}, )" + view,
       "config.value", "lesson.answers[0].state"},
      {"", R"({"model")", R"(["model")", "json.syntax", "changed"},
  };
  for (const Case& wrong : cases) {
    INFO(wrong.from << " -> " << wrong.to);
    const core::Error error = refusal_of(folder, with_session(bytes, [&wrong](std::string& json) {
                                           const std::size_t begin = json.find(wrong.behind);
                                           REQUIRE(begin != std::string::npos);
                                           const std::size_t at = json.find(wrong.from, begin);
                                           REQUIRE(at != std::string::npos);
                                           json.replace(at, wrong.from.size(), wrong.to);
                                         }));
    INFO(error.key << " " << error.where);
    CHECK(error.key == wrong.key);
    CHECK(error.where.find("changed.headscope") != std::string::npos);
    bool is_named = error.where.find(wrong.named) != std::string::npos;
    for (const auto& [name, value] : error.values) is_named |= value.find(wrong.named) != std::string::npos;
    CHECK(is_named);
  }
  // what no version knows is passed over
  CHECK(refusal_of(folder,
                   with_session(bytes, [](std::string& json) { json.insert(1, R"("later": {"a": [1]}, )"); }))
            .key == "accepted");
}

TEST_CASE("a session's tensors are its model's, and a trained state is finite", "[simulator][session]") {
  SessionFile file = save_state(busy_state());
  const std::string bytes = format_session(file);
  const auto key_with = [&file](float number) {
    auto trained = std::make_shared<core::TrainState>(*file.setup.trained);
    trained->first_moments[5] = number;
    SessionFile other = file;
    other.setup.trained = trained;
    const core::Result<SessionFile> read = parse_session(format_session(other), "bytes");
    return read ? std::string("accepted") : read.error().key;
  };
  CHECK(key_with(std::numeric_limits<float>::infinity()) == "model.not_finite");
  CHECK(key_with(std::numeric_limits<float>::quiet_NaN()) == "model.not_finite");
  CHECK(key_with(0.5F) == "accepted");

  // a model with a NaN of its own opens, and says so, as its folder does
  core::SessionModel model = *file.model;
  model.parameters[0] = std::numeric_limits<float>::quiet_NaN();
  file.model = std::make_shared<const core::SessionModel>(std::move(model));
  const core::Result<SessionFile> read = parse_session(format_session(file), "bytes");
  REQUIRE(read);
  REQUIRE(read->model->warnings.size() == 1);
  CHECK(read->model->warnings.front().key == "model.not_finite");

  const core::Result<core::StoredFile> stored = core::parse_safetensors_file(bytes, "bytes");
  REQUIRE(stored);
  const core::Metadata metadata = {{"format", "headscope-session"},
                                   {"version", "1"},
                                   {"checksum", "none"},
                                   {"session", core::find_metadata(stored->metadata, "session")}};
  CHECK(parse_session(core::format_safetensors_views({}, metadata), "bytes").error().key ==
        "model.tensor_missing");
  CHECK(parse_session(core::format_safetensors_views({}, {{"format", "headscope-checkpoint"}}), "bytes")
            .error()
            .key == "session_file.format");
  CHECK(parse_session(core::format_safetensors_views({}, {{"format", "headscope-session"}, {"version", "2"}}),
                      "bytes")
            .error()
            .key == "session_file.format");
}

}  // namespace headscope::simulator
