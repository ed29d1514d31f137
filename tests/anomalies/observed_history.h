// What clients asked of a database and what they were told, transaction by transaction, as Elle
// takes it: appends to lists and reads of them, or writes of registers and reads of them, each
// value written once. Kept as a file in Jepsen's form (EDN, a line per invocation and completion),
// so that what is checked is what was noted, and Elle could be given the same file. Thread safety:
// plain data.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <limits>
#include <string>
#include <vector>

namespace pgsilo::anomalies {

using Key = int32_t;
using Element = int32_t;  // of a list, or the value of a register; no_element: nothing was there
inline constexpr Element no_element = 0;

struct MicroOperation {
  enum class Kind : uint8_t { append, write, read };
  Kind kind = Kind::read;
  Key key = 0;
  bool is_answered = true;        // of a read
  std::vector<Element> elements;  // the one written, or all that were read
};

enum class Outcome : uint8_t {
  ok,    // the client was told that it committed
  fail,  // that it did not, or it never asked to commit
  info,  // no answer came
};

struct ObservedTransaction {
  int process = 0;
  int64_t invoked = 0;  // nanoseconds of one clock
  int64_t completed = 0;
  Outcome outcome = Outcome::info;
  std::vector<MicroOperation> operations;
};

using ObservedHistory = std::vector<ObservedTransaction>;

void write_history(const ObservedHistory& history, std::ostream& to);
// What write_history() wrote. Throws std::runtime_error.
ObservedHistory read_history(std::istream& from);
std::string text_of(const ObservedTransaction& transaction);

}  // namespace pgsilo::anomalies
