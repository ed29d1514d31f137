#include "server/pgwire/startup.h"

#include <gtest/gtest.h>

#include <string>

#include "server/pgwire/protocol.h"
#include "sql/sql_error.h"

namespace pgsilo {
namespace {

using Settings = std::vector<std::pair<std::string, std::string>>;

std::string packet(std::initializer_list<std::string_view> words) {
  std::string body;
  for (std::string_view word : words) {
    body += word;
    body += '\0';
  }
  return body + '\0';
}

std::string state_of(const std::string& body, uint32_t version = protocol_version_3) {
  try {
    parse_startup(version, body);
  } catch (const SqlError& error) {
    EXPECT_EQ(error.diagnostic().severity, Severity::fatal);
    return std::string(error.state().text());
  }
  return "ok";
}

TEST(StartupTest, ReadsParameters) {
  std::string body = packet(
      {"user", "ann", "database", "shop", "application_name", "psql", "options",
       "-c statement_timeout=5s --extra-float-digits=2 -cDateStyle=ISO\\ DMY", "_pq_.x", "1"});
  StartupParameters parameters = parse_startup(protocol_version_3 + 2, body);
  EXPECT_EQ(parameters.user, "ann");
  EXPECT_EQ(parameters.database, "shop");
  EXPECT_EQ(parameters.minor_version, 2u);
  EXPECT_EQ(parameters.settings, (Settings{{"statement_timeout", "5s"},
                                           {"extra_float_digits", "2"},
                                           {"DateStyle", "ISO DMY"},
                                           {"application_name", "psql"}}));
  ASSERT_EQ(parameters.unknown_protocol_options.size(), 1u);
  EXPECT_EQ(parameters.unknown_protocol_options[0], "_pq_.x");
}

TEST(StartupTest, TheDatabaseIsTheUsersByDefault) {
  std::string body = packet({"user", "ann"});
  EXPECT_EQ(parse_startup(protocol_version_3, body).database, "ann");
}

TEST(StartupTest, RefusesWhatIsMalformed) {
  EXPECT_EQ(state_of(packet({"user", "ann"})), "ok");
  EXPECT_EQ(state_of(packet({"database", "ann"})), "28000");
  EXPECT_EQ(state_of("user"), "08P01");
  EXPECT_EQ(state_of(std::string("user\0ann\0", 9)), "08P01");
  EXPECT_EQ(state_of(packet({"user", "ann"}) + "x"), "08P01");
  EXPECT_EQ(state_of(packet({"user", "ann"}), 2u << 16), "0A000");
  EXPECT_EQ(state_of(packet({"user", "ann", "replication", "true"})), "0A000");
  EXPECT_EQ(state_of(packet({"user", "ann", "options", "-c nonsense"})), "42601");
  EXPECT_EQ(state_of(packet({"user", "ann", "options", "word"})), "42601");
}

}  // namespace
}  // namespace pgsilo
