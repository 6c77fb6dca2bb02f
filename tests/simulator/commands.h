// What the tests of the built program's commands share: models to run, and what a refusal looks like.
#pragma once

#include "tests/simulator/program.h"

#include "tests/source_folder.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace headscope::simulator::test {

inline const std::string kLesson = (tests::source_folder() / "tests/simulator/data/99_terminal.md").string();
inline const std::string kGolden = (tests::source_folder() / "tests/golden/decoder_attention_only").string();
inline const std::string kScores = "decoder.block0.self_attention.scores";

/// The number behind the first `key` in a text; NaN where there is none.
inline double number_after(const std::string& text, const std::string& key) {
  const std::size_t place = text.find(key);
  return place == std::string::npos ? std::nan("") : std::strtod(text.c_str() + place + key.size(), nullptr);
}

inline std::string golden(const std::string& name) {
  return (tests::source_folder() / "tests/golden" / name).string();
}

/// A copy of a reference model that has words: "<padding>", "<begin>", "<end>", "w3", "w4" …
inline std::string with_words(const Scratch& scratch, const std::string& name) {
  const std::filesystem::path model = scratch / name;
  std::filesystem::copy(golden(name), model);
  const std::string config = read_text(model / "config.json");
  for (const auto& [key, file] : {std::pair{"\"vocab_size\": ", "vocab.json"},
                                  std::pair{"\"target_vocab_size\": ", "target_vocab.json"}}) {
    if (config.find(key) == std::string::npos) continue;
    std::ofstream words(model / file);
    words << R"(["<padding>", "<begin>", "<end>")";
    for (int id = 3; id < static_cast<int>(number_after(config, key)); ++id) words << ", \"w" << id << "\"";
    words << "]";
  }
  return model.string();
}

/// Refused: nothing on standard output, one line of error that says all of `parts`, status 2.
inline void check_refused(const Ran& ran, const std::vector<std::string>& parts) {
  CHECK(ran.status == 2);
  CHECK(ran.out.empty());
  CHECK(lines_of(ran.errors).size() == 1);
  using Catch::Matchers::Contains;
  for (const std::string& part : parts) CHECK_THAT(ran.errors, Contains(part));
  // a key without words shows as ‹key›, a value that nobody gave as {name}
  CHECK_THAT(ran.errors, !Contains("‹") && !Contains("{"));
}

inline std::string make_model(const Scratch& scratch) {
  const std::string model = (scratch / "model").string();
  const Ran made = run_program({"model", "new", "--lesson", kLesson, "--out", model});
  INFO(made.errors);
  REQUIRE(made.status == 0);
  return model;
}

}  // namespace headscope::simulator::test
