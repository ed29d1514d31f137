// The first packets of a connection: what kind they are, and the parameters of a StartupMessage.
// Thread safety: pure functions. Views point into the packet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pgsilo {

struct StartupPacket {
  uint32_t version = 0;  // or the code of a request
  std::string_view body;
  size_t total_bytes = 0;  // of the input

  bool asks_for_encryption() const;
};

// What a client may ask before it says who it is: each kind of encryption once.
inline constexpr int max_encryption_requests = 2;

// The packet that `input` begins with; none: more of it has to come. Throws 08P01 when the length
// is not possible.
std::optional<StartupPacket> find_startup_packet(std::string_view input);

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
