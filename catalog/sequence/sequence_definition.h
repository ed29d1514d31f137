// What a sequence is told to do (pg_sequence) and where it stands, and the arithmetic of both: how
// CREATE and ALTER SEQUENCE change a definition, how one call of nextval() moves a position.
// Thread safety: values and pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "sql/types/type_oid.h"

namespace pgsilo {

struct SequenceDefinition {
  Oid type = type_oid::int8;  // int2, int4 or int8: bounds of the bounds
  int64_t start = 1;
  int64_t increment = 1;
  int64_t max_value = INT64_MAX;
  int64_t min_value = 1;
  int64_t cache = 1;  // values a session takes at once
  bool cycles = false;
  bool operator==(const SequenceDefinition&) const = default;
};

// The columns of SELECT * FROM a sequence.
struct SequencePosition {
  int64_t last_value = 1;
  int64_t log_count = 0;   // values behind last_value that are logged as taken
  bool is_called = false;  // false: last_value is the next one
  bool operator==(const SequencePosition&) const = default;
};

// The options of CREATE and ALTER SEQUENCE, and of identity columns; what was not written is empty.
struct SequenceOptions {
  // NO MAXVALUE, or RESTART alone: given without a value.
  struct Optional {
    bool given = false;
    std::optional<int64_t> value;
  };
  std::optional<Oid> type;
  std::optional<int64_t> increment;
  std::optional<int64_t> start;
  std::optional<int64_t> cache;
  std::optional<bool> cycles;
  Optional max_value;
  Optional min_value;
  Optional restart;

  bool is_empty() const {
    return !type && !increment && !start && !cache && !cycles && !max_value.given &&
           !min_value.given && !restart.given;
  }
};

// Throws 22023 with PostgreSQL's words where the options do not fit together.
void create_sequence_definition(const SequenceOptions& options, bool for_identity,
                                SequenceDefinition* definition, SequencePosition* position);
void alter_sequence_definition(const SequenceOptions& options, bool for_identity,
                               SequenceDefinition* definition, SequencePosition* position);

// How many values to log ahead: PostgreSQL's 32 while that lasts for a while, more while
// reservations come so fast that each would hold up its users until the log is synced.
class ReservationSize {
 public:
  static constexpr uint64_t least = 32;
  static constexpr uint64_t most = 1024;

  // For a reservation made now.
  uint64_t next(int64_t now_us);

 private:
  uint64_t size_ = least;
  int quick_ = 0;  // reservations in a row that came quickly
  int64_t last_us_ = 0;
};

// What one call of nextval() does.
struct SequenceStep {
  int64_t first = 0;  // the value returned; up to `position.last_value` go to the session's cache
  SequencePosition position;  // afterwards
  bool logs = false;          // `logged` must be logged before a value leaves
  int64_t logged = 0;         // the last value that is then taken for good
};

// `ahead`: so many values behind those taken are logged with them, if anything is. Empty at the end
// of a sequence that does not cycle.
std::optional<SequenceStep> next_of_sequence(const SequenceDefinition& definition,
                                             const SequencePosition& position, uint64_t ahead);
// 2200H, in that case.
[[noreturn]] void throw_sequence_end(const SequenceDefinition& definition, std::string_view name);

}  // namespace pgsilo
