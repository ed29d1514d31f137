// Messages and answers on their way: what they take is counted, long ones are refused.
#include <gtest/gtest.h>
#include <libpq-fe.h>

#include <memory>
#include <string>

#include "tests/memory/memory_limit_support.h"
#include "tests/protocol/monitoring_support.h"
#include "tests/protocol/raw_client.h"

namespace pgsilo::memory_test {
namespace {

TEST_F(MemoryLimitTest, LongMessagesAreRefused) {
  std::string parameter(300 << 20, 'x');
  EXPECT_EQ(client.run("select length($1)", parameter), "53200");
  EXPECT_EQ(client.value("select 1"), "1");
  EXPECT_EQ(client.run("select length('" + parameter + "')"), "53200");
  EXPECT_EQ(client.value("select 2"), "2");
  parameter.resize(1 << 20);
  EXPECT_EQ(client.run("select length($1)", parameter), "");
}

// What came before in a pipeline is kept, so that it can run again, only while there is room.
TEST_F(MemoryLimitTest, ShortMessagesOfAPipelineAreNotKept) {
  ASSERT_EQ(fill(client), "53200");
  Client other;
  PGconn* connection = other.connection();
  ASSERT_EQ(PQenterPipelineMode(connection), 1);
  const std::string parameter(100'000, 'x');
  const char* values[] = {parameter.c_str()};
  constexpr int messages = 100;
  for (int i = 0; i < messages; ++i) {
    ASSERT_EQ(
        PQsendQueryParams(connection, "select length($1)", 1, nullptr, values, nullptr, nullptr, 0),
        1);
  }
  while (PQflush(connection) == 1) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_TRUE(comes_true([&] { return waits(connection, "wait_event = 'ClientRead'"); }));
  EXPECT_GT(free_bytes(), -(3 << 20));
  ASSERT_EQ(PQpipelineSync(connection), 1);
  for (int i = 0; i < messages; ++i) {
    std::unique_ptr<PGresult, decltype(&PQclear)> result(PQgetResult(connection), PQclear);
    EXPECT_STREQ(PQgetvalue(result.get(), 0, 0), "100000");
    EXPECT_EQ(PQgetResult(connection), nullptr);
  }
}

// Nothing runs again behind a message that was thrown away: what was said before it is true.
TEST_F(MemoryLimitTest, WhatWasSaidBeforeALongMessageIsTrue) {
  must("insert into filled values (1, 'old'), (2, 'old')");
  Client other;
  PGconn* pipeline = other.connection();
  ASSERT_EQ(PQenterPipelineMode(pipeline), 1);
  std::string parameter;
  auto send = [&](const std::string& sql) {
    const char* values[] = {parameter.c_str()};
    ASSERT_EQ(PQsendQueryParams(pipeline, sql.c_str(), 1, nullptr, values, nullptr, nullptr, 0), 1);
    ASSERT_EQ(PQflush(pipeline), 0);
    EXPECT_TRUE(comes_true([&] {
      return waits(pipeline, "wait_event = 'ClientRead' and query = '" + sql + "'");
    })) << sql;
  };
  send("select payload || $1 from filled where id = 1");
  must("update filled set payload = 'new'");
  send("select payload || $1 from filled where id = 2");
  parameter.assign(300 << 20, 'x');
  const char* values[] = {parameter.c_str()};
  ASSERT_EQ(PQsendQueryParams(pipeline, "select $1", 1, nullptr, values, nullptr, nullptr, 0), 1);
  ASSERT_EQ(PQpipelineSync(pipeline), 1);
  std::string said;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(other.result(), i < 2 ? "" : "53200");
    if (i < 2) said += other.first_value();
    EXPECT_EQ(PQgetResult(pipeline), nullptr);
  }
  EXPECT_EQ(said, "newnew");
}

// Nor does what cannot run again get two answers.
TEST_F(MemoryLimitTest, ALongMessageBehindAConflictIsAnsweredOnce) {
  using namespace protocol_test;
  must("insert into filled values (1, 'old'), (2, 'old')");
  RawClient other;
  other.start();
  ASSERT_EQ(other.ask(query("select pg_advisory_lock(78)")), "TDCZI");
  std::string steps;
  for (const std::string& sql : {std::string("select payload from filled where id = 1"),
                                 std::string("select pg_advisory_unlock(78)"), "select " + pause,
                                 std::string("select payload from filled where id = 2")})
    steps += parse("", sql) + bind("", "", {}) + execute();
  while_paused(other, steps, [this] { must("update filled set payload = 'new'"); });
  other.send(query("select '" + std::string(300 << 20, 'x') + "'"));
  EXPECT_EQ(other.answer(), "E(40001)ZI");
  EXPECT_TRUE(other.is_silent());
  EXPECT_EQ(other.ask(query("select 1")), "TDCZI");
}

// A client that does not read what it has asked for in a pipeline without Sync: the server goes on
// when that has left.
class UnreadPipelineTest : public MemoryLimitTest {
 protected:
  void SetUp() override {
    MemoryLimitTest::SetUp();
    other_ = std::make_unique<Client>();
    other = other_->connection();
    ASSERT_EQ(PQsetnonblocking(other, 1), 0);
  }
  void TearDown() override {
    other_.reset();
    MemoryLimitTest::TearDown();
  }
  void expect_little_is_held() {
    int unsent = 1;
    EXPECT_TRUE(comes_true([&] {
      unsent = PQflush(other);
      return waits(other, "wait_event = 'ClientWrite'");
    }));
    EXPECT_EQ(unsent, 0);
    EXPECT_GT(free_bytes(), free_at_begin_ - (80 << 20));
  }
  PGconn* other = nullptr;

 private:
  std::unique_ptr<Client> other_;
};

TEST_F(UnreadPipelineTest, AnswersToFlush) {
  ASSERT_EQ(PQenterPipelineMode(other), 1);
  for (int i = 0; i < 400; ++i) {
    ASSERT_EQ(PQsendQueryParams(other, "select repeat('x', 1000000)", 0, nullptr, nullptr, nullptr,
                                nullptr, 0),
              1);
    ASSERT_EQ(PQsendFlushRequest(other), 1);
  }
  expect_little_is_held();
}

TEST_F(UnreadPipelineTest, Descriptions) {
  std::string columns = "select 1";
  for (int i = 0; i < 1500; ++i) columns += ", 1";
  ASSERT_EQ(PQsetnonblocking(other, 0), 0);
  PQclear(PQprepare(other, "wide", columns.c_str(), 0, nullptr));
  ASSERT_EQ(PQsetnonblocking(other, 1), 0);
  ASSERT_EQ(PQenterPipelineMode(other), 1);
  for (int i = 0; i < 6000; ++i) ASSERT_EQ(PQsendDescribePrepared(other, "wide"), 1);
  expect_little_is_held();
}

TEST_F(UnreadPipelineTest, Notices) {
  ASSERT_EQ(
      PQsendQuery(other, "select count(pg_advisory_unlock(g)) from generate_series(1, 1000000) g"),
      1);
  expect_little_is_held();
}

// Nobody reads it.
TEST_F(MemoryLimitTest, LongRowsOnTheirWayAreRefused) {
  insert_long_row();
  std::vector<std::unique_ptr<Client>> readers(12);
  for (auto& reader : readers) {
    reader = std::make_unique<Client>();
    const char* sql =
        &reader - readers.data() < 6 ? "copy filled to stdout" : "select * from filled";
    ASSERT_TRUE(PQsendQuery(reader->connection(), sql));
  }
  EXPECT_TRUE(comes_true([&] {
    return client.number(
               "select count(*) from pg_stat_activity where query like '%filled%' and "
               "(wait_event = 'ClientWrite' or state = 'idle')") == 12;
  }));
  // The reserve, and a row of each worker that was admitted before it was used up.
  EXPECT_GT(free_bytes(), -(62 << 20));
}

}  // namespace
}  // namespace pgsilo::memory_test
