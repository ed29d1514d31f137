#include "tests/protocol/wire_messages.h"

namespace pgsilo::protocol_test {

std::string int16(int value) { return {static_cast<char>(value >> 8), static_cast<char>(value)}; }

std::string int32(int64_t value) {
  return {static_cast<char>(value >> 24), static_cast<char>(value >> 16),
          static_cast<char>(value >> 8), static_cast<char>(value)};
}

std::string cstring(std::string_view text) { return std::string(text) + '\0'; }

std::string message(char type, std::string_view body) {
  return std::string(1, type) + int32(static_cast<int64_t>(body.size()) + 4) + std::string(body);
}

std::string query(std::string_view sql) { return message('Q', cstring(sql)); }

std::string parse(std::string_view name, std::string_view sql, const std::vector<uint32_t>& types) {
  std::string body = cstring(name) + cstring(sql) + int16(static_cast<int>(types.size()));
  for (uint32_t type : types) body += int32(type);
  return message('P', body);
}

std::string bind(std::string_view portal, std::string_view statement,
                 const std::vector<std::string>& parameters) {
  std::string body =
      cstring(portal) + cstring(statement) + int16(0) + int16(static_cast<int>(parameters.size()));
  for (const std::string& parameter : parameters) {
    body +=
        parameter == "\\N" ? int32(-1) : int32(static_cast<int64_t>(parameter.size())) + parameter;
  }
  return message('B', body + int16(0));
}

std::string describe(char kind, std::string_view name) {
  return message('D', std::string(1, kind) + cstring(name));
}
std::string execute(std::string_view portal, int limit) {
  return message('E', cstring(portal) + int32(limit));
}
std::string close_message(char kind, std::string_view name) {
  return message('C', std::string(1, kind) + cstring(name));
}

}  // namespace pgsilo::protocol_test
