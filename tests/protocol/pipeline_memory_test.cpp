// What is kept of a pipeline so that it can run again after a conflict.
#include <gtest/gtest.h>

#include <string>

#include "tests/protocol/monitoring_support.h"
#include "tests/protocol/raw_client.h"

namespace pgsilo::protocol_test {
namespace {

constexpr int64_t megabyte = 1 << 20;
const std::string read_row = "select v from pipeline_memory where id = 1";

std::string extended(const std::string& sql) {
  return parse("", sql) + bind("", "", {}) + execute();
}

class PipelineMemoryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (runs_on_postgres()) GTEST_SKIP() << "it runs nothing again";
    control.start();
    client.start();
    drop();
    ASSERT_EQ(control.ask(query("create table pipeline_memory (id int primary key, v int);"
                                "insert into pipeline_memory values (1, 0), (2, 0)")),
              "CCZI");
    ASSERT_EQ(client.ask(parse("measure", "select length($1::text)", {25}) + sync()), "1ZI");
  }
  void TearDown() override {
    if (!runs_on_postgres()) drop();
  }
  void drop() { control.ask(query("drop table if exists pipeline_memory")); }
  static std::string measure(size_t bytes) {
    return bind("", "measure", {std::string(bytes, 'x')}) + execute();
  }
  int64_t used_bytes() { return std::stoll(control.first_value("select used from pgsilo_memory")); }
  // What `count` such messages without a Sync take while the server waits for the next one.
  int64_t kept_megabytes(int count, size_t bytes) {
    int64_t before = used_bytes();
    for (int i = 0; i < count; ++i) client.send(measure(bytes));
    observer.await(client, "wait_event = 'ClientRead'");
    int64_t kept = (used_bytes() - before) / megabyte;
    client.send(sync());
    EXPECT_EQ(client.read_answer().size(), 3 * static_cast<size_t>(count) + 1);
    return kept;
  }
  // The answer to a pipeline that has `long_messages` between what reads a row, which others change
  // then, and what writes.
  std::string beaten(const std::string& long_messages) {
    std::string bytes = extended(read_row) + long_messages + extended("select " + pause) +
                        extended("update pipeline_memory set v = v + 10 where id = 2") + sync();
    while_paused(client, bytes, [this] {
      EXPECT_EQ(control.ask(query("update pipeline_memory set v = v + 1 where id = 1")), "CZI");
    });
    return client.answer();
  }
  RawClient control;
  RawClient client;
  Observer observer;
};

// The room for what arrives may be twice as long as what is kept.
TEST_F(PipelineMemoryTest, IsBounded) {
  EXPECT_LT(kept_megabytes(120, megabyte), 50);
  EXPECT_LT(kept_megabytes(1200, 100'000), 50);
}

TEST_F(PipelineMemoryTest, WhatIsNotKeptRunsOnce) {
  std::string many;
  for (int i = 0; i < 20; ++i) many += measure(megabyte);
  std::string said = beaten(many);
  EXPECT_TRUE(said.ends_with("E(40001)ZI")) << said;
  EXPECT_EQ(control.first_value("select v from pipeline_memory where id = 2"), "0");
  // It is not so for ever.
  EXPECT_EQ(beaten(""), "12DC12DC12CZI");
}

// If it is beaten before that, it runs again.
TEST_F(PipelineMemoryTest, WhatIsBeatenFirstRunsAgain) {
  while_paused(client, extended(read_row) + extended("select " + pause), [this] {
    EXPECT_EQ(control.ask(query("update pipeline_memory set v = v + 1 where id = 1")), "CZI");
  });
  std::string many;
  for (int i = 0; i < 20; ++i) many += measure(megabyte);
  std::string said = client.ask(many + sync());
  EXPECT_TRUE(said.ends_with("2DCZI")) << said;
}

TEST_F(PipelineMemoryTest, OneLongMessageRunsAgain) {
  EXPECT_EQ(beaten(measure(40 * megabyte)), "12DC2DC12DC12CZI");
  EXPECT_EQ(control.first_value("select v from pipeline_memory where id = 2"), "10");
}

}  // namespace
}  // namespace pgsilo::protocol_test
