// Simple queries whose text has come before but for its literals: they run on the plan of the text
// with parameters in the literals' places, and are neither parsed nor planned. The statements of a
// text of several are parsed, and share plans as if each had come alone.
//
// A text's first run only leaves a note. At the second one the normalised text is planned beside
// the original: if both describe the same result, its plan is shared from then on; if not, never.
// When a literal does not convert to its parameter's type, or the plan is no longer valid, the
// original text runs, with its own errors and positions. Thread safety: none; the session's fiber.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "server/session/session_state.h"
#include "server/session/statement_runner.h"
#include "sql/parser/normalizer.h"

namespace pgsilo {

class NormalizedQuery {
 public:
  NormalizedQuery(SessionState& state, StatementRunner& runner) : state_(state), runner_(runner) {}

  // A portal that answers the text, or null: run the text itself. Needs a begun transaction.
  std::shared_ptr<Portal> bind(std::string_view text);
  // A portal that answers a statement of the text, one of several as if it had come alone. Needs a
  // begun transaction.
  std::shared_ptr<Portal> bind_statement(const std::shared_ptr<CachedText>& text, size_t index);
  // Under which the last text is known, with parameters for literals; null: as it is.
  CachedText* entry() const { return entry_.get(); }
  std::string_view text() const { return normalizer_.text(); }
  void forget() { entry_ = nullptr; }

 private:
  // Where the text comes from that is to be shared: planned as it is there, its errors are told
  // with the positions that they have there.
  struct Original {
    std::shared_ptr<CachedText> text;
    size_t index = 0;
  };

  std::shared_ptr<Portal> bind(std::string_view text, Original original);
  bool find();
  void compare(CachedText& entry, const Original& from);
  bool read_literals(Portal& portal);

  SessionState& state_;
  StatementRunner& runner_;
  Normalizer normalizer_;
  std::shared_ptr<CachedText> entry_;
  std::string key_;
};

}  // namespace pgsilo
