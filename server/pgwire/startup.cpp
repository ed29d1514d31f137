#include "server/pgwire/startup.h"

#include <algorithm>

#include "base/byte_order.h"
#include "server/limits.h"
#include "server/pgwire/message_reader.h"
#include "server/pgwire/protocol.h"
#include "sql/limits.h"
#include "sql/sql_error.h"
#include "sql/types/text.h"

namespace pgsilo {
namespace {

[[noreturn]] void fatal(SqlState state, std::string message) {
  throw SqlError(Severity::fatal, state, std::move(message));
}

std::vector<std::string> split_options(std::string_view options) {
  std::vector<std::string> words;
  bool in_word = false;
  for (size_t i = 0; i < options.size(); ++i) {
    char c = options[i];
    bool blank = c == ' ' || (c >= '\t' && c <= '\r');
    if (blank) {
      in_word = false;
      continue;
    }
    if (c == '\\') {
      if (++i == options.size()) break;
      c = options[i];
    }
    if (!in_word) words.emplace_back();
    in_word = true;
    words.back() += c;
  }
  return words;
}

std::pair<std::string, std::string> split_setting(std::string_view setting, std::string_view word) {
  size_t equals = setting.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    throw SqlError(Severity::fatal, sqlstate::syntax_error, concat(word, " requires a value"));
  }
  std::string name(setting.substr(0, equals));
  // On a command line names may be spelled with dashes.
  std::replace(name.begin(), name.end(), '-', '_');
  return {std::move(name), std::string(setting.substr(equals + 1))};
}

bool is_true(std::string_view value) {
  return value == "on" || value == "true" || value == "yes" || value == "1" || value == "database";
}

}  // namespace

bool StartupPacket::asks_for_encryption() const {
  return version == ssl_request_code || version == gssenc_request_code;
}

std::optional<StartupPacket> find_startup_packet(std::string_view input) {
  if (input.size() < 4) return std::nullopt;
  uint32_t length = load_be32(input.data());
  if (length < 8 || length > limits::max_startup_bytes)
    fatal(sqlstate::protocol_violation, "invalid length of startup packet");
  if (input.size() < length) return std::nullopt;
  return StartupPacket{load_be32(input.data() + 4), input.substr(8, length - 8), length};
}

std::vector<std::pair<std::string, std::string>> parse_startup_options(std::string_view options) {
  std::vector<std::pair<std::string, std::string>> settings;
  std::vector<std::string> words = split_options(options);
  for (size_t i = 0; i < words.size(); ++i) {
    std::string_view word = words[i];
    if (word.starts_with("--") && word.size() > 2) {
      settings.push_back(split_setting(word.substr(2), word));
    } else if (word == "-c" && i + 1 < words.size()) {
      ++i;
      settings.push_back(split_setting(words[i], concat("-c ", words[i])));
    } else if (word.starts_with("-c") && word.size() > 2) {
      settings.push_back(split_setting(word.substr(2), word));
    } else {
      throw SqlError(Severity::fatal, sqlstate::syntax_error,
                     concat("invalid command-line argument for server process: ", word));
    }
  }
  return settings;
}

StartupParameters parse_startup(uint32_t version, std::string_view body) {
  uint32_t major = version >> 16;
  uint32_t minor = version & 0xffff;
  if (major != 3) {
    fatal(sqlstate::feature_not_supported, concat("unsupported frontend protocol ", major, ".",
                                                  minor, ": server supports 3.0 to 3.0"));
  }
  StartupParameters parameters;
  parameters.minor_version = minor;
  std::string_view options;
  MessageReader reader(body);
  try {
    for (;;) {
      std::string_view name = reader.cstring();
      if (name.empty()) break;
      std::string_view value = reader.cstring();
      if (name == "user") {
        parameters.user = value;
      } else if (name == "database") {
        parameters.database = value;
      } else if (name == "options") {
        options = value;
      } else if (name == "replication") {
        if (is_true(value))
          fatal(sqlstate::feature_not_supported, "replication connections are not supported");
      } else if (name.starts_with("_pq_.")) {
        parameters.unknown_protocol_options.push_back(name);
      } else {
        parameters.settings.emplace_back(name, value);
      }
    }
    reader.end();
  } catch (const SqlError& error) {
    if (error.diagnostic().severity == Severity::fatal) throw;
    fatal(sqlstate::protocol_violation,
          "invalid startup packet layout: expected terminator as last byte");
  }
  auto given = parse_startup_options(options);
  parameters.settings.insert(parameters.settings.begin(), given.begin(), given.end());
  if (parameters.user.empty()) {
    fatal(sqlstate::invalid_authorization_specification,
          "no PostgreSQL user name specified in startup packet");
  }
  if (parameters.database.empty()) parameters.database = parameters.user;
  parameters.user = text_clip(parameters.user, limits::max_identifier_bytes);
  parameters.database = text_clip(parameters.database, limits::max_identifier_bytes);
  return parameters;
}

}  // namespace pgsilo
