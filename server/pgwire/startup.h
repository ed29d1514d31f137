// The first packet of a connection: what kind it is, and the parameters of a StartupMessage.
// Thread safety: pure functions. Views point into the packet.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pgsilo {

struct StartupParameters {
  uint32_t minor_version = 0;
  std::string_view user;
  std::string_view database;  // the user's name when the client named none
  // Settings in the order given: those of `options` first, as PostgreSQL applies them.
  std::vector<std::pair<std::string, std::string>> settings;
  std::vector<std::string_view> unknown_protocol_options;  // "_pq_.something"
};

// `body` follows the version word. Throws a fatal SqlError: 08P01 layout, 28000 no user, 0A000
// version or replication, 42601 bad options.
StartupParameters parse_startup(uint32_t version, std::string_view body);

// `-c name=value --name=value`, blanks separate, a backslash takes the next character as it is.
std::vector<std::pair<std::string, std::string>> parse_startup_options(std::string_view options);

}  // namespace pgsilo
