// A small grammar with nearly everything in it: English and German, agreement, cases, a separable verb.
#pragma once

#include "core/tasks/grammar.h"

#include <map>
#include <string>
#include <string_view>

namespace headscope::tests {

using Files = std::map<std::string, std::string, std::less<>>;

inline core::Grammar::ReadFile reader(const Files& files) {
  return [files](const std::string& name) -> core::Result<std::string> {
    const auto found = files.find(name);
    if (found == files.end()) return core::Error{"file.missing", name};
    return found->second;
  };
}

inline Files small_tables() {
  return {{"nouns.tsv",
           "english\tplural\tgender\tclass\tgerman\tn_plural\n"
           "# animals\n"
           "dog\tdogs\tmasculine\tanimal\tHund\tHunde\n"
           "cat\tcats\tfeminine\tanimal\tKatze\tKatzen\n"
           "\n"
           "house\thouses\tneuter\tthing\tHaus\tHäuser\n"
           "woman\twomen\tfeminine\tperson\tFrau\tFrauen\n"},
          {"verbs.tsv",
           "english\tpast\tsubject\tobject\tsingular\tplural\tparticle\n"
           "see\tsaw\tperson animal\tperson animal thing\tsah\tsahen\t-\n"
           "look\tlooked at\tperson animal\tthing\tsah\tsahen\tan\n"},
          {"adjectives.tsv",
           "english\tgerman\tnoun\n"
           "old\talt\tanimal thing person\n"
           "hungry\thungrig\tanimal person\n"},
          {"articles.tsv",
           "case\tgender\tnumber\tarticle\n"
           "nominative\tmasculine\tsingular\tder\nnominative\tfeminine\tsingular\tdie\n"
           "nominative\tneuter\tsingular\tdas\naccusative\tmasculine\tsingular\tden\n"
           "accusative\tfeminine\tsingular\tdie\naccusative\tneuter\tsingular\tdas\n"
           "nominative\tmasculine\tplural\tdie\nnominative\tfeminine\tplural\tdie\n"
           "nominative\tneuter\tplural\tdie\naccusative\tmasculine\tplural\tdie\n"
           "accusative\tfeminine\tplural\tdie\naccusative\tneuter\tplural\tdie\n"},
          {"endings.tsv",
           "case\tgender\tnumber\tending\n"
           "nominative\tmasculine\tsingular\te\nnominative\tfeminine\tsingular\te\n"
           "nominative\tneuter\tsingular\te\naccusative\tmasculine\tsingular\ten\n"
           "accusative\tfeminine\tsingular\te\naccusative\tneuter\tsingular\te\n"
           "nominative\tmasculine\tplural\ten\nnominative\tfeminine\tplural\ten\n"
           "nominative\tneuter\tplural\ten\naccusative\tmasculine\tplural\ten\n"
           "accusative\tfeminine\tplural\ten\naccusative\tneuter\tplural\ten\n"}};
}

inline constexpr std::string_view kSmallGrammar = R"(
language en   # the source
language de
feature number singular plural
feature case nominative accusative
feature gender masculine feminine neuter
words noun from nouns.tsv
words verb from verbs.tsv
words adjective from adjectives.tsv
table article from articles.tsv by case gender number
table ending from endings.tsv by case gender number
form noun.word(number)
  number=plural : plural
  else          : english
form noun.wort(number)
  number=plural : n_plural
  else          : german
form adjective.wort(case, gender, number)
  else : german + ending(case, gender, number).ending
form verb.finite(number)
  number=plural : plural
  else          : singular
form verb.final(number)
  particle, number=plural : particle + plural
  particle                : particle + singular
  number=plural           : plural
  else                    : singular

start sentence

rule clause(order)
  let verb = verb
  let subject = noun_phrase(case=nominative, class=verb.subject)
  let object = noun_phrase(case=accusative, class=verb.object)
  en : subject verb.past object
  de when order=final : subject object verb.final(number=subject.number)
  de : subject verb.finite(number=subject.number) object
       ( verb.particle when verb.particle )
  link verb_subject : de verb -> de subject.noun
  hold out subject.noun verb object.noun

rule noun_phrase(case, class)
  choose number = singular 60, plural 40
  choose has_adjective = yes 40, no 60
  let noun = noun where class in class
  let adjective = adjective where noun has noun.class if has_adjective=yes
  en : det:"the" adjective.english noun.word(number)
  de : det:article(case, noun.gender, number).article
       adjective.wort(case, gender=noun.gender, number) noun.wort(number)
  link adjective_noun : en adjective -> en noun
  link article_noun : de det -> en noun

rule sentence
  choose kind = plain 60, reported 40
  let clause = clause(order=final) if kind=reported
  let clause = clause(order=second)
  en when kind=plain : clause "."
  en                 : "she says" clause "."
  de when kind=plain : clause "."
  de                 : "sie" "sagt" "," "dass" clause "."
)";

/// A sentence's words with blanks between them.
inline std::string sentence(const core::Grammar& grammar, const core::Derivation& derivation,
                            std::size_t language) {
  std::string text;
  for (const std::int32_t token : derivation.tokens[language])
    text += (text.empty() ? "" : " ") + grammar.tokens(language)[static_cast<std::size_t>(token)];
  return text;
}

}  // namespace headscope::tests
