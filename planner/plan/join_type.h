// Kinds of joins, and which rows each gives. Thread safety: pure functions.
#pragma once

#include <cstdint>

namespace pgsilo {

enum class JoinType : uint8_t {
  inner,
  left,   // right slots NULL where nothing matches
  right,  // hash and merge joins only
  full,   // hash and merge joins only
  semi,   // left rows with a match, once; output is the left row
  anti    // left rows without one; output is the left row
};

// Left rows that nothing matches are rows of the result.
inline bool keeps_left(JoinType type) {
  return type == JoinType::left || type == JoinType::full || type == JoinType::anti;
}
inline bool keeps_right(JoinType type) { return type == JoinType::right || type == JoinType::full; }
// Its output is the left row, at most once.
inline bool is_left_only(JoinType type) { return type == JoinType::semi || type == JoinType::anti; }

}  // namespace pgsilo
