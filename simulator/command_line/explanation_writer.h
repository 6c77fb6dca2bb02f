// An explanation as a table for people or as JSON for machines.
#pragma once

#include "core/explain.h"
#include "core/stepper.h"
#include "lessons/text_catalog.h"
#include "simulator/command_line/commands.h"

#include <iosfwd>
#include <string>

namespace headscope::simulator {

class ExplanationWriter {
 public:
  /// Numbers are written with the shortest digits that read back as the same in the precision of the pass.
  ExplanationWriter(const core::Graph& graph, Precision precision, const lessons::TextCatalog& text)
      : graph_(graph), precision_(precision), text_(text) {}

  /// The cell, its terms (a gradient's grouped by the operation that sent them), what they make, and the
  /// stored number.
  void print(const core::Explanation& explanation, std::ostream& out) const;
  void print(const core::GradientCheck& check, std::ostream& out) const;

  /// One object; `more` are further members, each with a comma before it.
  std::string json(const core::Explanation& explanation, const std::string& more = "") const;
  std::string json(const core::GradientCheck& check) const;

 private:
  std::string say(const std::string& key, const lessons::TextValues& values = {}) const;
  std::string digits(double value) const;
  std::string heading(const core::Explanation& explanation) const;
  std::string symbol(const core::Factor& factor) const;
  std::string operation_name(const core::Term& term) const;
  std::string json(const core::Term& term) const;
  std::string json(const core::Factor& factor) const;
  void print_terms(const core::Explanation& explanation, std::ostream& out) const;

  const core::Graph& graph_;
  Precision precision_;
  const lessons::TextCatalog& text_;
};

}  // namespace headscope::simulator
