// Clients that break the rules, do not read, leave, come in thousands, or want their query
// cancelled.
#include <gtest/gtest.h>

#include <memory>
#include <thread>

#include "tests/protocol/raw_client.h"

namespace pgsilo::protocol_test {
namespace {

// Others are served as ever.
void expect_service() {
  RawClient client;
  client.start();
  EXPECT_EQ(client.ask(query("select 1")), "TDCZI");
}

std::string fate(const std::string& bytes) {
  RawClient client;
  client.start();
  client.send(bytes);
  Message said = client.read();
  std::string fate =
      said.type == 'E' ? field(said, 'S') + " " + field(said, 'C') : std::string("closed");
  if (said.type == 'E') {
    EXPECT_EQ(client.read().type, '\0');
  }
  return fate;
}

TEST(HostileTest, ImpossibleMessagesEndTheSession) {
  // PostgreSQL closes without a word where the length cannot be right; we say why.
  for (const std::string& bytes :
       {"Q" + int32(3), "Q" + int32(0), "Q" + int32(-1), "Q" + int32(0x7fffffff),
        "S" + int32(1000000), "E" + int32(10001), "X" + int32(3)}) {
    std::string end = fate(bytes);
    EXPECT_TRUE(end == "FATAL 08P01" || end == "closed") << end;
  }
  EXPECT_EQ(fate("!" + int32(4)), "FATAL 08P01");
  EXPECT_EQ(fate(std::string(5, '\0')), "FATAL 08P01");
  EXPECT_EQ(fate("p" + int32(4)), "FATAL 08P01");
  expect_service();
}

TEST(HostileTest, ABillionBytesMayBePromisedButCostNothing) {
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 20; ++i) {
    clients.push_back(std::make_unique<RawClient>());
    clients.back()->start();
    clients.back()->send("Q" + int32(1000000000) + "select 1");
  }
  for (auto& client : clients) EXPECT_TRUE(client->is_silent(1));
  expect_service();
}

TEST(HostileTest, LeavingInTheMiddleHarmsNobody) {
  for (const std::string& bytes :
       {std::string("Q"), "Q" + int32(100) + "sel", query("begin; create table hostile (a int)"),
        parse("", "select 1") + bind("", ""), std::string()}) {
    RawClient client;
    client.start();
    client.send(bytes);
  }
  expect_service();
  RawClient client;
  client.start();
  EXPECT_EQ(client.ask(query("select * from hostile")), "E(42P01)ZI");
}

TEST(HostileTest, TerminateEndsTheSession) {
  RawClient client;
  client.start();
  client.send(message('X'));
  EXPECT_EQ(client.read().type, '\0');
}

TEST(HostileTest, AClientThatDoesNotReadWaitsAlone) {
  RawClient lazy;
  lazy.start();
  // Far more than any socket holds.
  lazy.send(query("select repeat('x', 1000) from generate_series(1, 50000)"));
  for (int i = 0; i < 20; ++i) expect_service();
  size_t rows = 0;
  for (const Message& each : lazy.read_answer()) rows += each.type == 'D';
  EXPECT_EQ(rows, 50000u);
  EXPECT_EQ(lazy.ask(query("select 1")), "TDCZI");
}

TEST(HostileTest, CancelEndsAQuery) {
  RawClient client;
  client.start();
  client.send(query("select count(*) from generate_series(1, 100000000000) g where g % 3 = 4"));
  EXPECT_TRUE(client.is_silent());
  auto cancel = [&](int32_t secret) {
    RawClient canceller;
    canceller.send(int32(16) + int32(80877102) + int32(client.process) + int32(secret));
    EXPECT_EQ(canceller.read().type, '\0');
  };
  cancel(client.secret ^ 1);
  EXPECT_TRUE(client.is_silent());
  cancel(client.secret);
  std::vector<Message> messages = client.read_answer();
  // A column's description may have left before.
  const Message& error = messages[messages.size() - 2];
  EXPECT_EQ(field(error, 'C'), "57014");
  EXPECT_EQ(field(error, 'M'), "canceling statement due to user request");
  // One that comes too late does nothing.
  cancel(client.secret);
  EXPECT_EQ(client.ask(query("select 1")), "TDCZI");
}

TEST(HostileTest, StatementsMayHaveATimeLimit) {
  RawClient client;
  client.start();
  EXPECT_EQ(client.ask(query("set statement_timeout = '50ms'")), "CZI");
  client.send(query("select count(*) from generate_series(1, 100000000000) g where g % 3 = 4"));
  std::vector<Message> messages = client.read_answer();
  const Message& error = messages[messages.size() - 2];
  EXPECT_EQ(field(error, 'C'), "57014");
  EXPECT_EQ(field(error, 'M'), "canceling statement due to statement timeout");
  EXPECT_EQ(client.ask(query("select 1")), "TDCZI");
}

// No row of a WITH query that is read again and again fits.
TEST(HostileTest, ScansThatGiveNothingMayHaveATimeLimit) {
  RawClient client;
  client.start();
  EXPECT_EQ(client.ask(query("set statement_timeout = '50ms'")), "CZI");
  EXPECT_EQ(client.ask(query(
                "with x as materialized (select g, g::text t from generate_series(1, 40000) g)"
                " select from x p where exists"
                " (select from x q where q.g = p.g + 50000 and q.t = p.t)")),
            "TE(57014)ZI");
  EXPECT_EQ(client.ask(query("select 1")), "TDCZI");
}

TEST(HostileTest, IdleTransactionsMayHaveATimeLimit) {
  RawClient client;
  client.start();
  EXPECT_EQ(client.ask(query("set idle_in_transaction_session_timeout = '30ms'; begin")), "CCZT");
  Message said = client.read();
  EXPECT_EQ(field(said, 'S') + " " + field(said, 'C'), "FATAL 25P03");
  EXPECT_EQ(client.read().type, '\0');
}

TEST(HostileTest, LongStatementsLetOthersRun) {
  RawClient busy;
  busy.start();
  busy.send(query("select count(*) from generate_series(1, 100000000000) g where g % 3 = 4"));
  for (int i = 0; i < 50; ++i) expect_service();
  EXPECT_TRUE(busy.is_silent(1));
  RawClient canceller;
  canceller.send(int32(16) + int32(80877102) + int32(busy.process) + int32(busy.secret));
  busy.read_answer();
}

}  // namespace
}  // namespace pgsilo::protocol_test
