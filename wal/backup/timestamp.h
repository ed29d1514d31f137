// Moments in text, as PostgreSQL writes a timestamptz. Thread safety: plain functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace pgsilo {

// Microseconds since 1970 as "2026-11-24 14:03:00.25+00".
std::string timestamp_text(uint64_t unix_us);
// YYYY-MM-DD, a space or T, HH:MM[:SS[.fraction]], then where it is: Z, UTC, or +HH[[:]MM] or the
// same with a minus sign. False: it is not that, or before 1970.
bool parse_timestamp(std::string_view text, uint64_t* unix_us);

}  // namespace pgsilo
