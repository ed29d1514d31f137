#include "server/pgwire/message_reader.h"

#include <algorithm>
#include <cstring>

#include "base/long_work.h"
#include "sql/sql_error.h"

namespace pgsilo {

void MessageReader::throw_insufficient_data() {
  throw SqlError(sqlstate::protocol_violation, "insufficient data left in message");
}

void MessageReader::throw_invalid_format() {
  throw SqlError(sqlstate::protocol_violation, "invalid message format");
}

// Where the next NUL is. Gives way in a long message.
size_t MessageReader::find_end() const {
  for (size_t from = 0; from < rest_.size(); from += WorkMeter::block) {
    if (from != 0) pause_work();
    size_t length = std::min(rest_.size() - from, WorkMeter::block);
    const void* end = std::memchr(rest_.data() + from, '\0', length);
    if (end != nullptr) return static_cast<size_t>(static_cast<const char*>(end) - rest_.data());
  }
  throw SqlError(sqlstate::protocol_violation, "invalid string in message");
}

std::string_view MessageReader::cstring() {
  size_t length = find_end();
  std::string_view text(rest_.data(), length);
  rest_.remove_prefix(length + 1);
  return text;
}

}  // namespace pgsilo
