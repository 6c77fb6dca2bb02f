#include "simulator/panels/notices.h"

namespace headscope::simulator {

std::vector<std::string> sentence_notices(const Panel& panel) {
  const core::Session& session = panel.state.session;
  std::vector<std::string> notices;
  std::vector<const core::Token*> unknown;
  for (const core::Token& token : session.sentence().tokens)
    if (token.is_unknown) unknown.push_back(&token);
  if (unknown.size() == 1)
    notices.push_back(
        panel.text("notice.unknown_word",
                   {{"word", unknown[0]->text}, {"row", session.vocabulary().token(unknown[0]->id)}}));
  if (unknown.size() > 1) {
    std::string words;
    for (const core::Token* token : unknown) words += (words.empty() ? "" : ", ") + token->text;
    notices.push_back(
        panel.text("notice.unknown_words", {{"n", std::to_string(unknown.size())}, {"words", words}}));
  }
  if (session.sentence().n_cut > 0)
    notices.push_back(panel.text("notice.cut", {{"n", std::to_string(session.sentence().tokens.size())},
                                                {"cut", std::to_string(session.sentence().n_cut)}}));
  return notices;
}

}  // namespace headscope::simulator
