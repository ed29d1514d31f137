// The first packets of a connection, right and wrong.
#include <gtest/gtest.h>

#include <map>

#include "tests/protocol/raw_client.h"

namespace pgsilo::protocol_test {
namespace {

std::map<std::string, std::string> parameter_statuses(const std::vector<Message>& messages) {
  std::map<std::string, std::string> statuses;
  for (const Message& each : messages) {
    if (each.type != 'S') continue;
    size_t end = each.body.find('\0');
    statuses[each.body.substr(0, end)] = each.body.substr(end + 1, each.body.size() - end - 2);
  }
  return statuses;
}

TEST(StartupProtocolTest, TellsWhatClientsExpect) {
  RawClient client;
  client.send(RawClient::startup_packet({{"user", "postgres"},
                                         {"database", "postgres"},
                                         {"application_name", "me"},
                                         {"options", "-c IntervalStyle=iso_8601"}}));
  std::vector<Message> messages = client.read_answer();
  EXPECT_EQ(summary(messages), "RKZI");
  auto statuses = parameter_statuses(messages);
  for (const char* name :
       {"application_name", "client_encoding", "DateStyle", "default_transaction_read_only",
        "in_hot_standby", "integer_datetimes", "IntervalStyle", "is_superuser", "server_encoding",
        "server_version", "session_authorization", "standard_conforming_strings", "TimeZone"}) {
    EXPECT_TRUE(statuses.contains(name)) << name;
  }
  EXPECT_EQ(statuses.size(), 13u);
  EXPECT_EQ(statuses["application_name"], "me");
  EXPECT_EQ(statuses["IntervalStyle"], "iso_8601");
  EXPECT_EQ(statuses["session_authorization"], "postgres");
  EXPECT_EQ(statuses["server_version"].substr(0, 3), "15.");
  EXPECT_EQ(statuses["client_encoding"], "UTF8");
}

TEST(StartupProtocolTest, SettingChangesAreReported) {
  RawClient client;
  client.start();
  client.send(query("SET application_name = 'changed'"));
  std::vector<Message> messages = client.read_answer();
  EXPECT_EQ(summary(messages), "CZI");
  EXPECT_EQ(parameter_statuses(messages)["application_name"], "changed");
  client.send(query("BEGIN; SET application_name = 'never'; ROLLBACK"));
  EXPECT_TRUE(parameter_statuses(client.read_answer()).empty());
}

TEST(StartupProtocolTest, EncryptionIsDeclined) {
  RawClient client;
  client.send(int32(8) + int32(80877104));
  EXPECT_EQ(client.read_byte(), 'N');
  client.send(int32(8) + int32(80877103));
  EXPECT_EQ(client.read_byte(), 'N');
  client.start();
  EXPECT_EQ(client.ask(query("select 1")), "TDCZI");
}

TEST(StartupProtocolTest, ComesInPieces) {
  RawClient client;
  for (char c : RawClient::startup_packet({{"user", "postgres"}, {"database", "postgres"}}))
    client.send({&c, 1});
  EXPECT_EQ(client.answer(), "RKZI");
}

TEST(StartupProtocolTest, NewerMinorVersionsAreNegotiated) {
  RawClient client;
  client.send(RawClient::startup_packet(
      {{"user", "postgres"}, {"database", "postgres"}, {"_pq_.new", "1"}}, (3u << 16) + 7));
  std::vector<Message> messages = client.read_answer();
  EXPECT_EQ(summary(messages), "vRKZI");
  EXPECT_EQ(messages[0].body, int32(3u << 16) + int32(1) + cstring("_pq_.new"));
}

std::string refusal(const std::string& bytes) {
  RawClient client;
  client.send(bytes);
  Message said = client.read();
  // Who connects is settled before where to.
  if (said.type == 'R') said = client.read();
  if (said.type != 'E') return said.type == '\0' ? "closed" : std::string(1, said.type);
  EXPECT_EQ(field(said, 'S'), "FATAL");
  EXPECT_EQ(client.read().type, '\0');
  return field(said, 'C') + " " + field(said, 'M');
}

TEST(StartupProtocolTest, RefusesWhatItCannotServe) {
  EXPECT_EQ(refusal(RawClient::startup_packet({{"user", "postgres"}, {"database", "nosuchdb"}})),
            "3D000 database \"nosuchdb\" does not exist");
  EXPECT_EQ(refusal(RawClient::startup_packet({{"user", "alice"}, {"database", "postgres"}})),
            "28000 role \"alice\" does not exist");
  EXPECT_EQ(refusal(RawClient::startup_packet({{"user", "alice"}, {"database", "nosuchdb"}})),
            "28000 role \"alice\" does not exist");
  EXPECT_EQ(refusal(RawClient::startup_packet({{"database", "postgres"}})),
            "28000 no PostgreSQL user name specified in startup packet");
  EXPECT_EQ(refusal(RawClient::startup_packet(
                {{"user", "postgres"}, {"database", "postgres"}, {"nosuch", "1"}})),
            "42704 unrecognized configuration parameter \"nosuch\"");
  EXPECT_EQ(refusal(RawClient::startup_packet(
                {{"user", "postgres"}, {"database", "postgres"}, {"options", "-c work_mem=many"}})),
            "22023 invalid value for parameter \"work_mem\": \"many\"");
  EXPECT_EQ(refusal(RawClient::startup_packet({{"user", "postgres"}}, 4u << 16)),
            "0A000 unsupported frontend protocol 4.0: server supports 3.0 to 3.0");
}

TEST(StartupProtocolTest, EndsWithoutASessionOnNonsense) {
  for (const std::string& bytes : {int32(7), int32(4), int32(0), int32(1000000000), int32(-1),
                                   std::string("GET / HTTP/1.1\r\n\r\n")}) {
    RawClient client;
    client.send(bytes);
    client.shut_down();
    Message said = client.read();
    EXPECT_TRUE(said.type == '\0' || said.type == 'E') << said.type;
    if (said.type == 'E') {
      EXPECT_EQ(client.read().type, '\0');
    }
  }
}

}  // namespace
}  // namespace pgsilo::protocol_test
