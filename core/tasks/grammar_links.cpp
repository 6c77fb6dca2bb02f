// Which tokens belong together, and what a derivation is held out by.
#include "core/hash.h"
#include "core/tasks/grammar_evaluate.h"

#include <algorithm>

namespace headscope::core::grammar {

namespace {

using Kind = GrammarValue::Kind;

/// Hashes of texts in a row, well mixed: the finaliser of splitmix64.
std::uint64_t mix(std::uint64_t hash, std::uint64_t next) {
  std::uint64_t z = (hash ^ next) + 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

class Links {
 public:
  Links(const Program& program, Derivation& into, Work& work) : program_(program), into_(into), work_(work) {}

  void make() {
    for (std::size_t node = 0; node < into_.nodes.size(); ++node) relate(node);
    hold_out();
  }

 private:
  void link(std::size_t relation, std::int32_t query, std::int32_t key, bool is_sure) {
    into_.links.push_back(
        {.relation = static_cast<std::int32_t>(relation), .query = query, .key = key, .is_sure = is_sure});
  }

  /// Every token of one variable to every token of another; the target's side asks.
  void align(std::int32_t source_owner, const TokenRange& source, std::int32_t target_owner,
             const TokenRange& target, bool is_sure, const Place& place) {
    if (source.first < 0 || target.first < 0) return;
    // each pair is looked at, and may become a link: the work's bound is the links', too
    work_.count(static_cast<std::size_t>(source.last - source.first + 1) *
                    static_cast<std::size_t>(target.last - target.first + 1),
                place);
    for (std::int32_t query = target.first; query <= target.last; ++query) {
      if (target_owner >= 0 && into_.owners[1][index(query)] != target_owner) continue;
      for (std::int32_t key = source.first; key <= source.last; ++key)
        if (source_owner < 0 || into_.owners[0][index(key)] == source_owner) link(0, query, key, is_sure);
    }
  }

  void relate(std::size_t node) {
    const Rule& rule = program_.rules[index(into_.nodes[node].rule)];
    const std::int32_t first = into_.nodes[node].first_slot;
    if (program_.languages.size() == 2) {
      for (std::size_t slot = 0; slot < rule.slots.size(); ++slot) {
        const std::int32_t owner = first + static_cast<std::int32_t>(slot);
        align(owner, into_.ranges[0][index(owner)], owner, into_.ranges[1][index(owner)],
              !rule.is_possible[slot], rule.place);
      }
      for (const AlignStep& step : rule.alignments) {
        const auto side = [&](std::size_t language) {
          return find_range(program_, into_, node, step.paths[language], language);
        };
        align(token_owner(node, step.paths[0]), side(0), token_owner(node, step.paths[1]), side(1),
              step.is_sure, step.paths[0].place);
      }
    }
    for (const LinkStep& step : rule.links) {
      const TokenRange query = find_range(program_, into_, node, step.paths[0], step.languages[0]);
      const TokenRange key = find_range(program_, into_, node, step.paths[1], step.languages[1]);
      if (query.first >= 0 && key.first >= 0 && hold_all(program_, into_, node, step.when))
        link(step.relation, query.first, key.first, true);
    }
    for (const HoldOutStep& step : rule.hold_outs) combine(node, step);
  }

  /// The variable whose tokens a path means; -1 for a constituent, all of whose tokens count.
  std::int32_t token_owner(std::size_t node, const Operand& path) const {
    const std::int32_t owner = owner_of(program_, into_, node, path);
    return owner >= 0 && into_.values[index(owner)].kind == Kind::node ? -1 : owner;
  }

  /// A combination's hash, if all of it is there. An entry counts by its first column.
  void combine(std::size_t node, const HoldOutStep& step) {
    if (!hold_all(program_, into_, node, step.when)) return;
    std::uint64_t hash = kFnv1aStart;
    for (const Operand& path : step.paths) {
      const GrammarValue part = value_of(program_, into_, node, path);
      if (part.kind == Kind::absent || part.kind == Kind::node) return;
      const Symbol text =
          part.kind == Kind::text
              ? part.id
              : program_.cells_of(static_cast<std::size_t>(part.words)).cell(program_.row_of(part), 0);
      hash = mix(hash, program_.hashes[index(text)]);
    }
    into_.combinations.push_back(hash);
  }

  void hold_out() {
    if (!program_.holds_out) {
      std::uint64_t hash = kFnv1aStart;
      for (const std::int32_t token : into_.tokens[0]) hash = mix(hash, program_.token_hashes[index(token)]);
      into_.combinations.push_back(hash);
    }
    into_.is_held_out = std::any_of(into_.combinations.begin(), into_.combinations.end(), is_held_out_hash);
  }

  const Program& program_;
  Derivation& into_;
  Work& work_;
};

}  // namespace

void relate(const Program& program, Derivation& into, Work& work) {
  Links(program, into, work).make();
}

}  // namespace headscope::core::grammar
