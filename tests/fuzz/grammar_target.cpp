// Grammars and their tables: the bytes are several files, each but the first below a line "=== NAME". What is
// accepted makes sentences whose tokens, links and tree hold together.
#include "core/tasks/grammar.h"
#include "tests/fuzz/targets.h"

#include <map>
#include <string>

namespace headscope::fuzz {
namespace {

constexpr std::string_view kMark = "\n=== ";

/// The files after the first, by name.
std::map<std::string, std::string, std::less<>> tables_of(std::string_view bytes) {
  std::map<std::string, std::string, std::less<>> files;
  for (std::size_t at = bytes.find(kMark); at != std::string_view::npos;) {
    const std::size_t begin = at + kMark.size();
    at = bytes.find(kMark, begin);
    const std::string_view file = bytes.substr(begin, at == std::string_view::npos ? at : at + 1 - begin);
    const std::size_t end = std::min(file.find('\n'), file.size());
    files.emplace(file.substr(0, end), file.substr(std::min(end + 1, file.size())));
  }
  return files;
}

void hold_together(const core::Grammar& grammar, const core::Derivation& derivation) {
  for (std::size_t language = 0; language < grammar.languages().size(); ++language) {
    const std::vector<std::int32_t>& tokens = derivation.tokens[language];
    promise(tokens.size() <= core::kMostSentenceTokens, "a sentence is not too long");
    promise(tokens.size() == derivation.owners[language].size(), "each token has an owner or none");
    for (const std::int32_t token : tokens)
      promise(token >= 0 && static_cast<std::size_t>(token) < grammar.tokens(language).size(),
              "a token is the vocabulary's");
    for (const std::int32_t owner : derivation.owners[language])
      promise(owner >= -1 && owner < static_cast<std::int32_t>(derivation.values.size()),
              "an owner is a variable");
  }
  for (const core::Link& link : derivation.links) {
    const core::Relation& relation = grammar.relations().at(static_cast<std::size_t>(link.relation));
    const auto has = [&](core::TextSide side, std::int32_t position) {
      return position >= 0 && static_cast<std::size_t>(position) <
                                  derivation.tokens[side == core::TextSide::target ? 1 : 0].size();
    };
    promise(has(relation.query, link.query) && has(relation.key, link.key), "a link's ends are tokens");
  }
  promise(!derivation.nodes.empty() && derivation.nodes.size() <= core::kMostNodes, "the tree has nodes");
}

}  // namespace

void try_grammar(std::string_view bytes) {
  const std::map<std::string, std::string, std::less<>> files = tables_of(bytes);
  const auto read = [&](const std::string& name) -> core::Result<std::string> {
    const auto found = files.find(name);
    if (found == files.end()) return core::Error{"file.missing", name};
    return found->second;
  };
  const std::size_t mark = bytes.find(kMark);
  const core::Result<core::Grammar> grammar =
      core::Grammar::parse(bytes.substr(0, mark == std::string_view::npos ? mark : mark + 1), "bytes", read);
  if (!grammar) return;
  core::Rng rng(1);
  core::Derivation derivation;
  for (int k = 0; k < 20; ++k)
    if (grammar->draw(rng, derivation)) hold_together(*grammar, derivation);
}

}  // namespace headscope::fuzz
