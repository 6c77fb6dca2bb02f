// headscope task: what there is to learn, examples of it with their gold links, and the check of a grammar.
#include "core/formats/json.h"
#include "core/printable.h"
#include "core/tasks/grammar.h"
#include "core/tasks/task.h"
#include "simulator/command_line/commands.h"
#include "simulator/terminal/text_layout.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::simulator {
namespace {

/// The words of a row; a target's as they are said, without begin and end.
std::vector<std::string> words_of(const std::vector<std::int32_t>& ids, const core::Vocabulary& vocabulary) {
  std::vector<std::string> words;
  for (const std::int32_t id : ids) words.push_back(vocabulary.token(id));
  return words;
}

class ExamplePrinter {
 public:
  ExamplePrinter(const core::Task& task, const CommandContext& context) : task_(task), context_(context) {}

  void print(std::int64_t number, const core::Example& example, bool has_relations) const {
    const std::string head = std::to_string(number) + "  ";
    const std::string indent(terminal::display_width(head), ' ');
    context_.out << head << task_.text_of(example.source, core::TextSide::source) << "\n";
    if (!example.target.empty())
      context_.out << indent << task_.text_of(example.target, core::TextSide::target) << "\n";
    if (const std::string answer = answer_of(example); !answer.empty())
      context_.out << indent << "→ " << answer << "\n";
    if (!has_relations) return;
    for (std::size_t relation = 0; relation < task_.relations().size(); ++relation)
      if (const std::string links = links_of(example, static_cast<std::int32_t>(relation)); !links.empty())
        context_.out << indent << task_.relations()[relation].name << ": " << links << "\n";
  }

  void print_json(const core::Example& example, bool is_first) const {
    context_.out << (is_first ? "" : ",\n")
                 << "  {\"source\": " << list_of(words_of(example.source, task_.vocabulary()));
    if (!example.target.empty())
      context_.out << ", \"target\": " << list_of(words_of(example.target, *task_.target_vocabulary()));
    if (example.span)
      context_.out << ", \"span\": [" << example.span->start << ", " << example.span->end << "]";
    if (example.read) context_.out << ", \"read\": " << *example.read;
    if (!example.labels.empty()) {
      context_.out << ", \"labels\": [";
      for (std::size_t at = 0; at < example.labels.size(); ++at)
        context_.out << (at > 0 ? ", " : "")
                     << core::format_list(
                            std::vector<std::int64_t>(example.labels[at].begin(), example.labels[at].end()));
      context_.out << "]";
    }
    context_.out << ", \"links\": [";
    for (std::size_t at = 0; at < example.links.size(); ++at) {
      const core::Link& link = example.links[at];
      const core::Relation& relation = task_.relations()[static_cast<std::size_t>(link.relation)];
      context_.out << (at > 0 ? ", " : "") << "{\"relation\": " << core::quote_json(relation.name)
                   << ", \"query\": " << link.query << ", \"key\": " << link.key
                   << ", \"sure\": " << (link.is_sure ? "true" : "false") << "}";
    }
    context_.out << "]}";
  }

 private:
  static std::string list_of(const std::vector<std::string>& words) {
    std::string list = "[";
    for (const std::string& word : words) list += (list.size() > 1 ? ", " : "") + core::quote_json(word);
    return list + "]";
  }

  /// The tokens of the span, or the labels: "not bad: positive".
  std::string answer_of(const core::Example& example) const {
    std::string answer;
    if (example.span) {
      for (std::int32_t at = example.span->start; at <= example.span->end; ++at)
        answer += (answer.empty() ? "" : " ") + source_word(example, at);
      return answer;
    }
    for (std::size_t at = 0; at < example.labels.size(); ++at) {
      std::string classes;
      for (const std::int32_t label : example.labels[at])
        if (label >= 0) classes += (classes.empty() ? "" : " ") + task_.class_name(label);
      if (classes.empty()) continue;
      answer += (answer.empty() ? "" : " · ") + source_word(example, static_cast<std::int32_t>(at)) + ": " +
                classes;
    }
    return answer;
  }

  std::string source_word(const core::Example& example, std::int32_t position) const {
    return task_.vocabulary().token(example.source[static_cast<std::size_t>(position)]);
  }

  /// The word that a link's end is about: a target's query is the row that predicts it.
  std::string word_at(const core::Example& example, core::TextSide side, std::int32_t position,
                      bool is_query) const {
    if (side == core::TextSide::source) return source_word(example, position);
    return task_.target_vocabulary()->token(
        example.target[static_cast<std::size_t>(position) + (is_query ? 1 : 0)]);
  }

  std::string links_of(const core::Example& example, std::int32_t index) const {
    const core::Relation& relation = task_.relations()[static_cast<std::size_t>(index)];
    std::string links;
    for (const core::Link& link : example.links) {
      if (link.relation != index) continue;
      links += (links.empty() ? "" : " · ") + word_at(example, relation.query, link.query, true) + " → " +
               word_at(example, relation.key, link.key, false);
    }
    return links;
  }

  const core::Task& task_;
  const CommandContext& context_;
};

/// Entries of the tables that are in none of some ten thousand sentences: often one whose kind or class is
/// misspelt, so that nothing chooses it. "owl (nouns.tsv, 184)".
std::vector<std::string> entries_never_drawn(const core::Grammar& grammar, int n_sentences) {
  using Kind = core::GrammarValue::Kind;
  std::vector<std::vector<bool>> drawn;
  for (std::size_t words = 0; words < grammar.n_words(); ++words)
    drawn.emplace_back(grammar.n_entries(words));
  core::Rng rng(0, "check");
  core::Derivation sentence;
  for (int at = 0; at < n_sentences; ++at) {
    if (!grammar.draw(rng, sentence)) continue;  // a combination that is too rare for the check
    for (const core::GrammarValue& value : sentence.values)
      if (value.kind == Kind::entry)
        drawn[static_cast<std::size_t>(value.words)][static_cast<std::size_t>(value.id)] = true;
  }
  std::vector<std::string> never;
  for (std::size_t words = 0; words < drawn.size(); ++words)
    for (std::size_t entry = 0; entry < drawn[words].size(); ++entry) {
      if (drawn[words][entry]) continue;
      const core::Grammar::EntryPlace place = grammar.place({.kind = Kind::entry,
                                                             .words = static_cast<std::int16_t>(words),
                                                             .id = static_cast<std::int32_t>(entry)});
      never.push_back(core::printable(std::string(place.name)) + " (" +
                      core::printable(std::string(place.file)) + ", " + std::to_string(place.line) + ")");
    }
  return never;
}

void print_entries_never_drawn(const std::filesystem::path& file, const CommandContext& context) {
  constexpr int kSentences = 20000;
  constexpr std::size_t kMostWords = 20;
  const core::Result<core::Grammar> grammar = core::Grammar::load(file);
  if (!grammar) return;
  const std::vector<std::string> words = entries_never_drawn(*grammar, kSentences);
  if (words.empty()) return;
  std::string list;
  for (std::size_t at = 0; at < std::min(words.size(), kMostWords); ++at)
    list += (at > 0 ? ", " : "") + words[at];
  if (words.size() > kMostWords) list += " …";
  context.out << context.text.text("command.task_check.never_drawn",
                                   {{"file", core::printable(file.string())},
                                    {"count", std::to_string(kSentences)},
                                    {"words", list}})
              << "\n";
}

}  // namespace

core::Result<void> run(const TaskListCommand& command, const CommandContext& context) {
  static_cast<void>(command);
  std::size_t width = 0;
  for (const std::string_view name : core::task_names()) width = std::max(width, name.size());
  for (const std::string_view name : core::task_names())
    context.out << terminal::pad(std::string(name), width + 2, terminal::Align::left)
                << context.text.text("task." + std::string(name)) << "\n";
  return {};
}

core::Result<void> run(const TaskShowCommand& command, const CommandContext& context) {
  const core::Result<std::unique_ptr<const core::Task>> task =
      core::make_task(command.task, context.data.assets);
  if (!task) return task.error();
  const ExamplePrinter printer(**task, context);
  core::Rng rng(command.seed, "examples");
  const bool is_json = command.format == OutputFormat::json;
  if (is_json) context.out << "[\n";
  for (std::int64_t at = 0; at < command.n_examples; ++at) {
    const core::Example example = (*task)->draw(rng, command.split);
    if (is_json)
      printer.print_json(example, at == 0);
    else
      printer.print(at + 1, example, command.has_relations);
  }
  if (is_json) context.out << "\n]\n";
  return {};
}

core::Result<void> run(const TaskCheckCommand& command, const CommandContext& context) {
  std::size_t n_problems = 0;
  for (const std::filesystem::path& file : command.files) {
    const std::vector<core::Error> problems = core::Grammar::problems(file);
    n_problems += problems.size();
    for (const core::Error& problem : problems) context.out << context.text.error(problem) << "\n";
    if (!problems.empty()) continue;
    context.out << context.text.text("command.task_check.none", {{"file", core::printable(file.string())}})
                << "\n";
    print_entries_never_drawn(file, context);
  }
  if (n_problems == 0) return {};
  return core::Error{
      .key = "lesson.problems", .where = "", .values = {{"count", std::to_string(n_problems)}}};
}

}  // namespace headscope::simulator
