#include "core/session.h"

#include "core/decode.h"
#include "core/execute.h"
#include "core/formats/model_directory.h"
#include "core/formats/token_batch.h"
#include "core/head_means.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cctype>
#include <cmath>
#include <span>
#include <utility>
#include <variant>

namespace headscope::core {
namespace {

constexpr const char* kSentence = "sentence";  // where an error about the typed text lies
constexpr const char* kTarget = "target";      // the same of the target's text

/// The longest sentence that a session takes, in fed tokens; a model may allow less.
constexpr std::int64_t kLongestSentence = 1024;

/// The shortest one that there is room for from the beginning: a word more costs no new workspace.
constexpr std::int64_t kShortestCapacity = 16;

/// How many numbers a session may hold, 1.6 GB of them: parameters with gradient, moments and what they were
/// before an update, activations with their gradients.
constexpr int kMostNumbers = 400'000'000;

std::int64_t longest(const ModelConfig& config) {
  return std::min(config.max_tokens, kLongestSentence);
}

/// Room for `needed` tokens and a few more.
std::int64_t capacity_for(std::int64_t needed, const ModelConfig& config) {
  const auto rounded = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(needed)));
  return std::min(std::max(rounded, kShortestCapacity), std::max(longest(config), needed));
}

double n_numbers(const Graph& graph, const Sizes& capacity) {
  constexpr double kOfParameter = 7, kOfActivation = 2;
  return kOfParameter * count_reals(graph, capacity, Role::parameter) +
         kOfActivation * count_reals(graph, capacity, Role::activation);
}

/// How many words fit: what may be fed, less a begin token; a language model's last token is predicted only,
/// which is the end token where the vocabulary has one.
std::size_t word_limit(const ModelConfig& config, const Vocabulary& vocabulary, bool is_shifted) {
  std::int64_t limit = longest(config) - (vocabulary.begin() ? 1 : 0);
  if (is_shifted && !vocabulary.end()) ++limit;
  if (!is_shifted && vocabulary.end()) --limit;
  return static_cast<std::size_t>(std::max<std::int64_t>(limit, 0));
}

Error edit_range(const std::string& name, std::int64_t lowest, std::int64_t highest) {
  return {"edit.range", name, {{"lowest", std::to_string(lowest)}, {"highest", std::to_string(highest)}}};
}

struct Range {
  std::int64_t lowest = 0, highest = 0;
};

/// How many there are to choose from where something is predicted.
std::int64_t n_choices(const ModelConfig& config, const Sizes& sizes) {
  switch (config.objective) {
    case Objective::language_model:
      return config.architecture == Architecture::encoder_decoder ? config.target_vocab_size
                                                                  : config.vocab_size;
    case Objective::span:
      return sizes.source;
    case Objective::classification:
    case Objective::token_classification:
      return config.n_classes;
    case Objective::none:
      break;
  }
  return 0;
}

/// What an input's cell may hold.
Range input_range(const ModelConfig& config, const Inputs& inputs, const Sizes& sizes, TensorId tensor) {
  if (tensor == inputs.targets) return {-1, n_choices(config, sizes) - 1};
  // a row without tokens has no mean and no span
  const bool needs_token =
      config.objective == Objective::classification || config.objective == Objective::span;
  if (tensor == inputs.lengths) return {needs_token ? 1 : 0, sizes.source};
  if (tensor == inputs.target_lengths) return {0, sizes.target};
  if (tensor == inputs.target_ids) return {0, config.target_vocab_size - 1};
  if (tensor == inputs.types || tensor == inputs.target_types) return {0, config.n_token_types - 1};
  if (tensor == inputs.read) return {0, sizes.source - 1};
  return {0, config.vocab_size - 1};
}

bool predicts_own_words(const ModelConfig& config) {
  return config.architecture == Architecture::decoder && config.objective == Objective::language_model;
}

/// Where the first question ends: behind its mark; the sentence's length where there is none.
std::size_t end_of_question(const Sentence& sentence) {
  const auto mark = std::ranges::find(sentence.tokens, "?", &Token::text);
  return static_cast<std::size_t>(mark - sentence.tokens.begin()) + (mark == sentence.tokens.end() ? 0 : 1);
}

/// The last position of the question (of the whole sentence, where there is none) with a word on it, rather
/// than a mark or punctuation: who asks, unless somebody says otherwise.
std::int32_t last_word(const Sentence& sentence, const Vocabulary& vocabulary) {
  const std::size_t end = end_of_question(sentence);
  std::size_t place = end > 0 ? end - 1 : 0;
  for (std::size_t at = end; at-- > 0;) {
    const auto first = static_cast<unsigned char>(sentence.tokens[at].text.front());
    if (std::ispunct(first) != 0) continue;
    place = at;
    break;
  }
  return static_cast<std::int32_t>(place + (vocabulary.begin() ? 1 : 0));
}

/// What is typed, ready to be fed, and the words that it is made of.
struct Typed {
  Sentence sentence, target;
  FedBatch fed;
};

void set_labels(const Gold& gold, const ModelConfig& config, std::size_t n_positions, TokenBatch& batch) {
  if (gold.origin == Gold::Origin::none) return;
  switch (config.objective) {
    case Objective::classification:
      batch.label = gold.labels;
      return;
    case Objective::span:
      if (gold.labels.size() == 2) batch.span = {{gold.labels[0], gold.labels[1]}};
      return;
    case Objective::token_classification: {
      const auto n_outputs = static_cast<std::size_t>(config.n_outputs);
      std::vector<std::vector<std::int32_t>> rows(n_positions, std::vector<std::int32_t>(n_outputs, -1));
      for (std::size_t at = 0; at < std::min(gold.labels.size(), n_positions * n_outputs); ++at)
        rows[at / n_outputs][at % n_outputs] = gold.labels[at];
      batch.labels = {std::move(rows)};
      return;
    }
    case Objective::language_model:
    case Objective::none:
      return;
  }
}

std::size_t n_labels(const ModelConfig& config, std::size_t n_positions) {
  switch (config.objective) {
    case Objective::classification:
      return 1;
    case Objective::span:
      return 2;
    case Objective::token_classification:
      return n_positions * static_cast<std::size_t>(config.n_outputs);
    case Objective::language_model:
    case Objective::none:
      break;
  }
  return 0;
}

Result<Typed> read_typed(const SessionModel& model, const Setup& setup) {
  const ModelConfig& config = model.config;
  const TokenizerConfig tokenizer = config.tokenizer.value_or(TokenizerConfig{});
  Result<Sentence> sentence = tokenize(setup.text, model.vocabulary, tokenizer,
                                       word_limit(config, model.vocabulary, predicts_own_words(config)));
  if (!sentence) return sentence.error();
  Typed typed{.sentence = *std::move(sentence), .target = {}, .fed = {}};
  TokenBatch batch{{token_row(typed.sentence, model.vocabulary)}};
  const std::size_t n_positions = batch.source.front().size();
  if (config.span_reader == SpanReader::pointer && config.objective == Objective::span)
    batch.read = {setup.read.value_or(last_word(typed.sentence, model.vocabulary))};
  if (setup.gold.origin != Gold::Origin::none && setup.gold.labels.size() != n_labels(config, n_positions))
    return Error{"session.labels",
                 kSentence,
                 {{"given", std::to_string(setup.gold.labels.size())},
                  {"needed", std::to_string(n_labels(config, n_positions))}}};
  set_labels(setup.gold, config, n_positions, batch);
  if (config.architecture == Architecture::encoder_decoder && model.target_vocabulary) {
    const Vocabulary& words = *model.target_vocabulary;
    batch.target_begin = words.begin();
    // a translation may be empty: its end alone is then predicted
    if (setup.gold.origin != Gold::Origin::none) {
      Result<Sentence> target =
          tokenize(setup.gold.target, words, tokenizer, word_limit(config, words, true));
      if (!target && target.error().key != "text.empty")
        return Error{target.error().key, kTarget, target.error().values};
      if (target) typed.target = *std::move(target);
      batch.target = {token_row(typed.target, words)};
    }
  }
  Result<FedBatch> fed = feed(batch, config, kSentence);
  if (!fed) return fed.error();
  typed.fed = *std::move(fed);
  return typed;
}

/// The words at the positions that are fed: those typed, or the vocabulary's where an id was edited.
std::vector<Token> words_at(std::span<const std::int32_t> fed, const Sentence& sentence,
                            const Vocabulary& vocabulary) {
  std::vector<Token> words;
  const std::size_t n_before = vocabulary.begin() ? 1 : 0;
  for (std::size_t position = 0; position < fed.size(); ++position) {
    const std::size_t word = position - n_before;
    const bool is_typed =
        position >= n_before && word < sentence.tokens.size() && sentence.tokens[word].id == fed[position];
    words.push_back(
        is_typed ? sentence.tokens[word]
                 : Token{vocabulary.token(fed[position]), fed[position], vocabulary.is_spare(fed[position])});
  }
  return words;
}

}  // namespace

bool is_same_model(const SeedModel& left, const SeedModel& right) {
  const auto tokens = [](const std::optional<Vocabulary>& words) {
    return words ? words->tokens() : std::vector<std::string>();
  };
  return left.config == right.config && left.vocabulary.tokens() == right.vocabulary.tokens() &&
         tokens(left.target_vocabulary) == tokens(right.target_vocabulary) && left.seed == right.seed &&
         left.embedding_deviation == right.embedding_deviation;
}

/// Everything that is computed. Lies on the heap: the stepper and the interventions are pointed at.
struct Session::Engine {
  Engine(std::shared_ptr<const SessionModel> of, Graph built)
      : model(std::move(of)), original(std::move(built)), graph(original), inputs(find_inputs(graph)) {}

  std::shared_ptr<const SessionModel> model;
  Graph original;  // as build_graph() made it
  Graph graph;     // with the setup's switches
  Inputs inputs;
  std::unique_ptr<Stepper<float>> stepper;  // none before the first set()
  Interventions interventions;
  Setup setup;
  Typed typed;
  std::vector<Token> words, target_words;
  bool has_gold = false;
  std::size_t n_steps = 0;
  mutable std::shared_ptr<DetachedChecker> checker;  // of the numbers as they are, once it was asked for

  Result<void> set(Setup next);
  Result<void> check_edit(const Sizes& sizes, TensorId tensor, const Cell& cell, double value) const;
  template <class Op>
  bool is_result_of(TensorId tensor) const;
  Result<void> check_head(const HeadAddress& address) const;
  Result<void> check_switches(const Setup& next) const;
  std::span<const float> base_parameters() const {
    return setup.trained ? setup.trained->parameters : model->parameters;
  }
  std::vector<Override> head_overrides() const;
  void put_givens();
  void put_edits();
  /// The workspace as it was before any update.
  Workspace<float> before_update() const;
};

Result<void> Session::Engine::check_edit(const Sizes& sizes, TensorId tensor, const Cell& cell,
                                         double value) const {
  if (tensor.index >= graph.n_tensors()) return Error{"edit.no_such_cell", std::to_string(tensor.index)};
  const TensorSpec& spec = graph.spec(tensor);
  if (spec.role == Role::activation && !can_be_set_by_hand(graph, tensor))
    return Error{"edit.computed", spec.name};
  if (!bind(spec.shape, sizes).contains(cell)) return Error{"edit.no_such_cell", spec.name};
  if (!std::isfinite(value) || !std::isfinite(static_cast<float>(value)))
    return Error{"edit.not_finite", spec.name};
  if (spec.element == Element::real) return {};
  const auto [lowest, highest] = input_range(model->config, inputs, sizes, tensor);
  if (value != std::floor(value) || value < static_cast<double>(lowest) ||
      value > static_cast<double>(highest))
    return edit_range(spec.name, lowest, highest);
  return {};
}

template <class Op>
bool Session::Engine::is_result_of(TensorId tensor) const {
  if (tensor.index >= graph.n_tensors()) return false;
  const std::optional<std::size_t> producer = graph.producer(tensor);
  return producer && std::holds_alternative<Op>(graph.operations()[*producer]);
}

Result<void> Session::Engine::check_head(const HeadAddress& address) const {
  const bool is_there = is_result_of<MixValues>(address.head_output) && address.head >= 0 &&
                        address.head < model->config.n_heads;
  if (!is_there) return Error{"session.switch", std::to_string(address.head)};
  return {};
}

Result<void> Session::Engine::check_switches(const Setup& next) const {
  for (const auto& [address, head] : next.heads) {
    if (Result<void> valid = check_head(address); !valid) return valid.error();
    const bool has_means = head.shape.rank() == 2 && head.shape[0] > 0 &&
                           head.shape[1] == model->config.d_head &&
                           static_cast<std::int64_t>(head.means.size()) == head.shape.count() &&
                           std::ranges::all_of(head.means, [](double mean) { return std::isfinite(mean); });
    if (head.mode == HeadMode::mean && !has_means)
      return Error{"session.means", graph.spec(address.head_output).name};
  }
  for (const auto& [scores, switches] : next.attentions) {
    if (!is_result_of<Scores>(scores)) return Error{"session.switch", std::to_string(scores.index)};
    // beyond these a softmax is as good as one-hot, or even; a command line's --temperature may go further
    constexpr double kLowest = 0.01, kHighest = 100;
    if (!(switches.temperature >= kLowest && switches.temperature <= kHighest))
      return Error{"session.temperature", graph.spec(scores).name, {{"lowest", "0.01"}, {"highest", "100"}}};
  }
  return {};
}

/// What the head switches set by hand.
std::vector<Override> Session::Engine::head_overrides() const {
  std::vector<Override> overrides;
  for (const auto& [address, head] : setup.heads) {
    switch (head.mode) {
      case HeadMode::off:
        overrides.push_back(zero_head(graph, address.head_output, address.head));
        break;
      case HeadMode::mean:
        overrides.push_back(mean_head(graph, address.head_output, address.head, head.shape, head.means));
        break;
      case HeadMode::uniform: {
        const Operation& mix = graph.operations()[*graph.producer(address.head_output)];
        TensorId weights = std::get<MixValues>(mix).weights;
        // behind dropout the softmax lies further back
        while (!std::holds_alternative<Softmax>(graph.operations()[*graph.producer(weights)]))
          weights = operands(graph.operations()[*graph.producer(weights)]).front();
        overrides.push_back(uniform_attention(graph, weights, address.head));
        break;
      }
    }
  }
  return overrides;
}

Result<void> Session::Engine::set(Setup next) {
  Result<Typed> read = read_typed(*model, next);
  if (!read) return read.error();
  for (const auto& [place, value] : next.edits)
    if (Result<void> valid = check_edit(read->fed.sizes, place.first, place.second, value); !valid)
      return valid.error();
  if (Result<void> valid = check_switches(next); !valid) return valid.error();
  if (Result<void> valid = validate(next.optimiser, kSentence); !valid) return valid.error();

  const Sizes& sizes = read->fed.sizes;
  const bool has_room = stepper && sizes.source <= stepper->workspace().capacity().source &&
                        sizes.target <= stepper->workspace().capacity().target;
  if (!has_room) {
    const bool has_target = model->config.architecture == Architecture::encoder_decoder;
    const Sizes capacity{1, capacity_for(sizes.source, model->config),
                         has_target ? capacity_for(sizes.target, model->config) : 0};
    if (n_numbers(original, capacity) > kMostNumbers)
      return Error{"session.too_large", kSentence, {{"most", std::to_string(kMostNumbers)}}};
  }

  // nothing fails from here on
  const std::size_t position = stepper ? stepper->cursor().position() : 0;
  const bool is_first = !stepper;
  if (!has_room)
    stepper = std::make_unique<Stepper<float>>(
        graph, Sizes{1, capacity_for(sizes.source, model->config),
                     model->config.architecture == Architecture::encoder_decoder
                         ? capacity_for(sizes.target, model->config)
                         : 0});
  checker.reset();
  stepper->move_to(std::min(position, stepper->steps().update_begin()));  // takes updates back
  setup = std::move(next);
  typed = *std::move(read);
  for (std::uint32_t index = 0; index < graph.n_tensors(); ++index)
    if (const auto producer = original.producer({index});
        producer && std::holds_alternative<Scores>(original.operations()[*producer])) {
      const auto found = setup.attentions.find(TensorId{index});
      set_switches(graph, {index}, original,
                   found == setup.attentions.end() ? AttentionSwitches{} : found->second);
    }
  interventions.overrides = head_overrides();
  put_givens();
  put_edits();
  stepper->set_options({.interventions = &interventions});
  stepper->restart();
  const TrainState* trained = setup.trained.get();
  stepper->set_optimiser(
      setup.optimiser, (trained ? trained->step : 0) + 1,
      trained ? std::span<const float>(trained->first_moments) : std::span<const float>(),
      trained ? std::span<const float>(trained->second_moments) : std::span<const float>());

  // an edit may have made a target, or taken the only one away
  has_gold = inputs.targets && std::ranges::any_of(stepper->workspace().integers(*inputs.targets),
                                                   [](std::int32_t target) { return target >= 0; });
  FedBatch fed_as_edited;
  fed_as_edited.has_targets = has_gold;
  const std::size_t end = forward_end(graph, fed_as_edited);
  n_steps = has_gold ? stepper->steps().size() : end;
  stepper->move_to(end);
  stepper->move_to(is_first ? end : std::min(position, n_steps));
  words =
      words_at(std::as_const(*stepper).workspace().integers(inputs.ids), typed.sentence, model->vocabulary);
  if (inputs.target_ids)
    target_words = words_at(std::as_const(*stepper).workspace().integers(*inputs.target_ids), typed.target,
                            *model->target_vocabulary);
  return {};
}

/// Parameters as made, loaded or trained, and inputs as typed.
void Session::Engine::put_givens() {
  Workspace<float>& workspace = stepper->workspace();
  set_inputs(graph, workspace, typed.fed);
  std::ranges::copy(base_parameters(), workspace.parameters().begin());
}

void Session::Engine::put_edits() {
  Workspace<float>& workspace = stepper->workspace();
  for (const auto& [place, value] : setup.edits) {
    const auto& [tensor, cell] = place;
    const TensorSpec& spec = graph.spec(tensor);
    if (spec.role == Role::activation) {
      interventions.overrides.push_back(set_cell(tensor, cell, value));
      continue;
    }
    const auto at = static_cast<std::size_t>(workspace.shape(tensor).flat(cell));
    if (spec.element == Element::real)
      workspace.values(tensor)[at] = static_cast<float>(value);
    else
      workspace.integers(tensor)[at] = static_cast<std::int32_t>(value);
  }
}

Workspace<float> Session::Engine::before_update() const {
  Workspace<float> before = stepper->workspace();
  const Trace<float> trace = stepper->trace();
  for (const TensorId parameter : stepper->steps().parameters()) {
    if (!trace.is_updated(parameter)) break;
    const std::span<float> values = before.values(parameter);
    std::copy_n(trace.update()->previous_value.data() + before.plan().offset(parameter), values.size(),
                values.begin());
  }
  return before;
}

Session::Session(std::unique_ptr<Engine> engine) : engine_(std::move(engine)) {}
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;
Session::~Session() = default;

Result<Session> Session::make(std::shared_ptr<const SessionModel> model, Setup setup) {
  Result<Graph> graph = build_graph(model->config, "model");
  if (!graph) return graph.error();
  if (model->config.architecture == Architecture::encoder_decoder && !model->target_vocabulary)
    return Error{"session.no_target_vocabulary", "model"};
  Session session(std::make_unique<Engine>(std::move(model), *std::move(graph)));
  if (Result<void> set = session.set(std::move(setup)); !set) return set.error();
  return session;
}

Result<Session> Session::make(SeedModel model, std::string sentence) {
  const std::string where = "model";
  if (Result<void> valid = validate(model.config, where); !valid) return valid.error();
  const Result<Graph> graph = build_graph(model.config, where);
  if (!graph) return graph.error();
  if (n_numbers(*graph, {1, 1, 1}) > kMostNumbers)
    return Error{"session.too_large", where, {{"most", std::to_string(kMostNumbers)}}};
  Workspace<float> workspace(*graph, {1, 1, 1});
  initialise_parameters(*graph, workspace, model.seed, model.embedding_deviation);
  auto made = std::make_shared<SessionModel>(
      SessionModel{.config = std::move(model.config),
                   .vocabulary = std::move(model.vocabulary),
                   .target_vocabulary = std::move(model.target_vocabulary),
                   .parameters = {workspace.parameters().begin(), workspace.parameters().end()},
                   .seed = model.seed});
  return make(std::move(made), Setup{.text = std::move(sentence)});
}

Result<std::shared_ptr<const SessionModel>> read_session_model(const std::filesystem::path& directory) {
  Result<StoredModel> stored = read_model_directory(directory);
  if (!stored) return stored.error();
  if (!stored->vocabulary) return Error{"session.no_vocabulary", directory.string()};
  if (stored->config.architecture == Architecture::encoder_decoder && !stored->target_vocabulary)
    return Error{"session.no_target_vocabulary", directory.string()};
  if (n_numbers(stored->graph, {1, 1, 1}) > kMostNumbers)
    return Error{"session.too_large", directory.string(), {{"most", std::to_string(kMostNumbers)}}};
  Workspace<float> workspace(stored->graph, {1, 1, 1});
  set_parameters(*stored, workspace);
  return std::make_shared<const SessionModel>(
      SessionModel{.config = stored->config,
                   .vocabulary = *std::move(stored->vocabulary),
                   .target_vocabulary = std::move(stored->target_vocabulary),
                   .parameters = {workspace.parameters().begin(), workspace.parameters().end()},
                   .warnings = std::move(stored->warnings)});
}

Result<Session> Session::open(const std::filesystem::path& directory, std::string sentence) {
  Result<std::shared_ptr<const SessionModel>> model = read_session_model(directory);
  if (!model) return model.error();
  return make(*std::move(model), Setup{.text = std::move(sentence)});
}

Session Session::fork() const {
  Result<Session> other = make(engine_->model, engine_->setup);
  assert(other);  // the same setup was taken before
  other->move_to(cursor().position());
  return *std::move(other);
}

Result<void> Session::set(Setup setup) {
  return engine_->set(std::move(setup));
}

Setup Session::setup_for(std::string sentence) const {
  Setup next = engine_->setup;
  if (sentence == next.text) return next;
  next.text = std::move(sentence);
  next.read.reset();
  next.gold = {};
  std::erase_if(next.edits,
                [this](const auto& edit) { return graph().spec(edit.first.first).role != Role::parameter; });
  return next;
}

Result<void> Session::set(std::string sentence, Edits edits) {
  Setup next = setup_for(std::move(sentence));
  next.edits = std::move(edits);
  return set(std::move(next));
}

const Setup& Session::setup() const {
  return engine_->setup;
}
const SessionModel& Session::model() const {
  return *engine_->model;
}
std::shared_ptr<const SessionModel> Session::shared_model() const {
  return engine_->model;
}
const Graph& Session::graph() const {
  return engine_->graph;
}
const Sentence& Session::sentence() const {
  return engine_->typed.sentence;
}

Result<void> Session::check_edit(TensorId tensor, const Cell& cell, double value) const {
  return engine_->check_edit(engine_->stepper->workspace().sizes(), tensor, cell, value);
}

double Session::unedited_value(TensorId tensor, const Cell& cell) const {
  const Workspace<float>& workspace = engine_->stepper->workspace();
  const auto place = static_cast<std::size_t>(workspace.shape(tensor).flat(cell));
  if (graph().spec(tensor).role == Role::parameter)
    return static_cast<double>(engine_->base_parameters()[workspace.plan().offset(tensor) + place]);
  const FedBatch& fed = engine_->typed.fed;
  const Inputs& inputs = engine_->inputs;
  const auto at = [place](const std::vector<std::int32_t>& numbers) {
    return place < numbers.size() ? numbers[place] : 0;
  };
  if (tensor == inputs.targets) return at(fed.targets);
  if (tensor == inputs.ids) return at(fed.ids);
  if (tensor == inputs.lengths) return at(fed.lengths);
  if (tensor == inputs.target_ids) return at(fed.target_ids);
  if (tensor == inputs.target_lengths) return at(fed.target_lengths);
  if (tensor == inputs.read) return at(fed.read);
  if (tensor == inputs.types) return at(fed.types);
  return 0;  // a target's types: every word is of the first
}

std::size_t Session::n_positions(TextSide side) const {
  return side == TextSide::source ? engine_->words.size() : engine_->target_words.size();
}
const Token& Session::token_at(std::size_t position, TextSide side) const {
  return side == TextSide::source ? engine_->words[position] : engine_->target_words[position];
}

std::int32_t Session::default_read() const {
  return last_word(engine_->typed.sentence, engine_->model->vocabulary);
}

bool Session::has_gold() const {
  return engine_->has_gold;
}

std::optional<Gold> Session::predict_gold() const {
  const std::optional<TensorId> tensor = graph().find("probabilities");
  if (!tensor || predicts_own_words(config())) return std::nullopt;
  Gold gold{.origin = Gold::Origin::assumed};
  if (config().objective == Objective::language_model) {
    const Vocabulary& words = *target_vocabulary();
    if (!words.begin() || !words.end()) return std::nullopt;
    const Workspace<float> before = engine_->before_update();
    Interventions heads;  // a cell that is set by hand belongs to the translation that is fed
    heads.overrides = engine_->head_overrides();
    const std::vector<std::int32_t> source(engine_->typed.fed.ids.begin(), engine_->typed.fed.ids.end());
    const std::vector<Hypothesis> best =
        decode(graph(), config(), before.parameters(), std::span(&source, 1),
               {.begin = *words.begin(), .end = *words.end(), .interventions = &heads});
    for (const std::int32_t id : best.front().tokens) {
      if (words.token(id).starts_with('<')) continue;  // a mark or a spare row is no word to type
      gold.target += (gold.target.empty() ? "" : " ") + words.token(id);
    }
    return gold;
  }
  const Workspace<float>& workspace = engine_->stepper->workspace();
  const std::span<const float> shares = workspace.values(*tensor);
  const auto n_classes = static_cast<std::size_t>(config().n_classes);
  const auto likeliest = [&](std::span<const float> row) {
    return static_cast<std::int32_t>(std::ranges::max_element(row) - row.begin());
  };
  switch (config().objective) {
    case Objective::classification:
    case Objective::token_classification:
      for (std::size_t at = 0; at + n_classes <= shares.size(); at += n_classes)
        gold.labels.push_back(likeliest(shares.subspan(at, n_classes)));
      return gold;
    case Objective::span: {
      // the start and end, in this order, whose product is largest: [1, position, edge]
      double best = -1;
      gold.labels = {0, 0};
      std::size_t best_start = 0;
      for (std::size_t end = 0; 2 * end < shares.size(); ++end) {
        if (shares[2 * end] > shares[2 * best_start]) best_start = end;
        const double product =
            static_cast<double>(shares[2 * best_start]) * static_cast<double>(shares[2 * end + 1]);
        if (!(product > best)) continue;
        best = product;
        gold.labels = {static_cast<std::int32_t>(best_start), static_cast<std::int32_t>(end)};
      }
      return gold;
    }
    case Objective::language_model:
    case Objective::none:
      break;
  }
  return std::nullopt;
}

const StepList& Session::steps() const {
  return engine_->stepper->steps();
}
std::size_t Session::n_steps() const {
  return engine_->n_steps;
}
const Cursor& Session::cursor() const {
  return engine_->stepper->cursor();
}
void Session::move_to(std::size_t position) {
  engine_->stepper->move_to(std::min(position, n_steps()));
}

std::int64_t Session::training_step() const {
  return (engine_->setup.trained ? engine_->setup.trained->step : 0) + 1;
}

Result<void> Session::next_training_step() {
  if (!has_gold()) return Error{"session.no_gold", kSentence};
  Stepper<float>& stepper = *engine_->stepper;
  const std::size_t position = cursor().position();
  stepper.move_to(stepper.steps().size());
  const std::span<const float> parameters = std::as_const(stepper).workspace().parameters();
  for (const TensorId parameter : stepper.steps().parameters()) {
    const std::span<const float> values = std::as_const(stepper).workspace().values(parameter);
    if (std::ranges::all_of(values, [](float value) { return std::isfinite(value); })) continue;
    stepper.move_to(position);
    return Error{
        "session.not_finite", graph().spec(parameter).name, {{"step", std::to_string(training_step())}}};
  }
  const UpdateView<float>& update = *stepper.trace().update();
  const auto moments = [](std::span<const float> numbers) {
    return AlignedVector<float>(numbers.begin(), numbers.end());
  };
  Setup next = engine_->setup;
  next.trained =
      std::make_shared<const TrainState>(TrainState{.step = training_step(),
                                                    .parameters = {parameters.begin(), parameters.end()},
                                                    .first_moments = moments(update.first),
                                                    .second_moments = moments(update.second)});
  std::erase_if(next.edits,
                [this](const auto& edit) { return graph().spec(edit.first.first).role == Role::parameter; });
  move_to(0);  // before set(), which would run the backward pass to where the cursor stands
  return engine_->set(std::move(next));
}

Trace<float> Session::trace() const {
  return engine_->stepper->trace();
}
Trace<float> Session::trace(Cursor cursor) const {
  const Trace<float> now = trace();
  return {graph(), now.workspace(), cursor, &steps(), &engine_->interventions, now.update()};
}
Trace<float> Session::forward_trace() const {
  return trace(Cursor(steps().size(), has_gold() ? steps().n_forward() : n_steps()));
}

GradientCheck Session::check_gradient(TensorId tensor, const Cell& cell) const {
  return *gradient_checker()->check(tensor, cell);  // nothing stops it
}

std::shared_ptr<DetachedChecker> Session::gradient_checker() const {
  if (!engine_->checker) {
    const Trace<float> now = trace();
    const std::span<const TensorId> parameters = steps().parameters();
    engine_->checker = std::make_shared<DetachedChecker>(
        graph(), now.workspace(), *now.update(),
        parameters.first(steps().updates_done(cursor().position())), engine_->interventions);
  }
  return engine_->checker;
}

Result<HeadSwitch> Session::mean_switch(const HeadAddress& head, const TokenBatch& examples) const {
  if (Result<void> valid = engine_->check_head(head); !valid) return valid.error();
  Result<FedBatch> fed = feed(examples, config(), "examples");
  if (!fed) return fed.error();
  if (count_reals(graph(), fed->sizes, Role::activation) > kMostNumbers)
    return Error{"session.too_large", "examples", {{"most", std::to_string(kMostNumbers)}}};
  Workspace<float> workspace(graph(), fed->sizes);
  set_inputs(graph(), workspace, *fed);
  std::ranges::copy(engine_->before_update().parameters(), workspace.parameters().begin());
  run_forward(graph(), workspace, 0, forward_end(graph(), *fed));
  HeadMeans means(graph(), head.head_output, head.head);
  means.add(workspace);
  return HeadSwitch{.mode = HeadMode::mean, .shape = means.shape(), .means = means.means()};
}

}  // namespace headscope::core
