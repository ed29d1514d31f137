// Messages as a client sends them, byte by byte.
// Thread safety: functions without state.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pgsilo::protocol_test {

// Fields in the protocol's byte order.
std::string int16(int value);
std::string int32(int64_t value);
std::string cstring(std::string_view text);
// A message with its length word.
std::string message(char type, std::string_view body = {});
std::string query(std::string_view sql);
std::string parse(std::string_view name, std::string_view sql,
                  const std::vector<uint32_t>& types = {});
// Text parameters, text results. "\N" stands for a null.
std::string bind(std::string_view portal, std::string_view statement,
                 const std::vector<std::string>& parameters = {});
std::string describe(char kind, std::string_view name = {});
std::string execute(std::string_view portal = {}, int limit = 0);
std::string close_message(char kind, std::string_view name);
inline std::string sync() { return message('S'); }
inline std::string flush() { return message('H'); }
inline std::string copy_data(std::string_view bytes) { return message('d', bytes); }
inline std::string copy_done() { return message('c'); }

}  // namespace pgsilo::protocol_test
