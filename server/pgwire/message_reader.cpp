#include "server/pgwire/message_reader.h"

#include <algorithm>

#include "base/byte_order.h"
#include "base/long_work.h"
#include "sql/sql_error.h"

namespace pgsilo {

std::string_view MessageReader::bytes(size_t count) {
  if (count > rest_.size())
    throw SqlError(sqlstate::protocol_violation, "insufficient data left in message");
  std::string_view taken = rest_.substr(0, count);
  rest_.remove_prefix(count);
  return taken;
}

uint8_t MessageReader::byte() { return static_cast<uint8_t>(bytes(1)[0]); }
uint16_t MessageReader::uint16() { return load_be16(bytes(2).data()); }
uint32_t MessageReader::uint32() { return load_be32(bytes(4).data()); }

std::string_view MessageReader::cstring() {
  size_t length = 0;
  while (length < rest_.size()) {
    std::string_view block = rest_.substr(length, WorkMeter::block);
    size_t end = block.find('\0');
    length += std::min(end, block.size());
    if (end != std::string_view::npos) break;
    pause_work();
  }
  if (length == rest_.size())
    throw SqlError(sqlstate::protocol_violation, "invalid string in message");
  std::string_view text = rest_.substr(0, length);
  rest_.remove_prefix(length + 1);
  return text;
}

void MessageReader::end() const {
  if (!rest_.empty()) throw SqlError(sqlstate::protocol_violation, "invalid message format");
}

}  // namespace pgsilo
