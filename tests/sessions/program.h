// What the sessions of a round do: written in full before it begins, so that a seed and a round's
// number give the same bytes again.
// Thread safety: plain data.
#pragma once

#include <string>
#include <vector>

#include "tests/sessions/vocabulary.h"

namespace pgsilo::sessions {

// Messages that are sent together.
struct Batch {
  enum class Kind : uint8_t {
    messages,
    garbage,     // messages, of which the last is none: the session ends with it
    cancel,      // asks to cancel what session `target` does
    terminate,   // the same by pg_terminate_backend
    disconnect,  // leaves after the first `target` bytes
  };
  Kind kind = Kind::messages;
  std::vector<std::string> messages;
  std::string text;  // for the report
  size_t target = 0;
  bool waits = true;  // for all answers before it goes on
};

struct Program {
  std::vector<std::pair<std::string, std::string>> startup;
  std::vector<Batch> batches;
};

struct Round {
  std::vector<std::string> preparation;  // one after the other, by one session
  std::vector<Program> programs;
};

struct RoundSize {
  size_t sessions = 6;
  size_t batches = 60;
};

Round write_round(uint64_t seed, uint64_t number, const Vocabulary& vocabulary, RoundSize size);

}  // namespace pgsilo::sessions
