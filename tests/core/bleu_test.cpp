// BLEU against sacreBLEU's published figure and against small cases by hand.
#include "core/bleu.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <sstream>
#include <string>
#include <vector>

using headscope::core::Bleu;
using headscope::core::corpus_bleu;

namespace {

using Words = std::vector<std::string>;

Words words(const std::string& text) {
  std::istringstream stream(text);
  Words split;
  for (std::string word; stream >> word;) split.push_back(word);
  return split;
}

Bleu bleu_of(const std::vector<std::string>& sentences,
             const std::vector<std::vector<std::string>>& references) {
  std::vector<Words> hypotheses;
  std::vector<std::vector<Words>> wanted;
  for (const std::string& sentence : sentences) hypotheses.push_back(words(sentence));
  for (const auto& of_sentence : references) {
    wanted.emplace_back();
    for (const std::string& reference : of_sentence) wanted.back().push_back(words(reference));
  }
  return corpus_bleu(hypotheses, wanted);
}

}  // namespace

TEST_CASE("BLEU is that of sacreBLEU's own example", "[core][bleu]") {
  // sacreBLEU's README gives 48.53 for this text with two references; tokenised as its 13a does
  const Bleu bleu =
      bleu_of({"The dog bit the man .", "It wasn't surprising .", "The man had just bitten him ."},
              {{"The dog bit the man .", "The dog had bit the man ."},
               {"It was not unexpected .", "No one was surprised ."},
               {"The man bit him first .", "The man had bitten the dog ."}});
  CHECK(bleu.score == Approx(48.53).margin(0.005));  // the README's digits
}

TEST_CASE("BLEU by hand", "[core][bleu]") {
  SECTION("the same sentence scores 100") {
    const Bleu bleu = bleu_of({"a b c d e"}, {{"a b c d e"}});
    CHECK(bleu.score == Approx(100));
    CHECK(bleu.brevity_penalty == 1);
  }
  SECTION("counts are clipped at the reference's") {
    const Bleu bleu = bleu_of({"the the the the the the the"}, {{"the cat is on the mat"}});
    CHECK(bleu.precisions[0] == Approx(100 * 2.0 / 7));
    CHECK(bleu.precisions[1] == Approx(100 * 0.5 / 6));  // no match: smoothed, half of one
    CHECK(bleu.precisions[2] == Approx(100 * 0.25 / 5));
    CHECK(bleu.precisions[3] == Approx(100 * 0.125 / 4));
  }
  SECTION("a short text is punished once, for the whole text") {
    const Bleu bleu = bleu_of({"a b c d", "e f g h i j"}, {{"a b c d e"}, {"e f g h i j"}});
    CHECK(bleu.brevity_penalty == Approx(std::exp(1 - 11.0 / 10)));
    CHECK(bleu.score == Approx(100 * std::exp(1 - 11.0 / 10)));
  }
  SECTION("of two references equally close the shorter counts") {
    CHECK(bleu_of({"a b c d e"}, {{"a b c d e f", "a b c d"}}).n_reference_words == 4);
  }
  SECTION("nothing right, nothing said, nothing long enough: 0") {
    CHECK(bleu_of({"x y z w"}, {{"a b c d"}}).score == 0);
    CHECK(bleu_of({""}, {{"a b c d"}}).score == 0);
    CHECK(bleu_of({"a b c"}, {{"a b c"}}).score == 0);  // no run of four words anywhere
  }
}
