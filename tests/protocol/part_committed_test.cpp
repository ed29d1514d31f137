// One message, or one pipeline, of more than one transaction: what is committed in the middle
// stands, and is told, whatever happens to what follows.
#include <gtest/gtest.h>

#include <initializer_list>

#include "tests/protocol/monitoring_support.h"
#include "tests/protocol/raw_client.h"

namespace pgsilo::protocol_test {
namespace {

const std::string sleep = "select pg_sleep(1)";
const std::string look = "select v from part_read where id = 1";

// As one query, and as one pipeline.
std::vector<std::string> messages(std::initializer_list<std::string> statements) {
  std::string text, pipeline;
  for (const std::string& statement : statements) {
    text += statement + "; ";
    pipeline += parse("", statement) + bind("", "", {}) + execute();
  }
  return {query(text), pipeline + sync()};
}

// The answers to statements alone.
std::string without_steps(const std::string& answer) {
  std::string rest;
  for (char each : answer)
    if (each != '1' && each != '2' && each != 'T') rest += each;
  return rest;
}

class PartCommittedTest : public ::testing::Test {
 protected:
  void SetUp() override {
    control.start();
    TearDown();
    ASSERT_EQ(control.ask(query("create table part_done (n int); insert into part_done values (0); "
                                "create table part_read (id int primary key, v int); "
                                "insert into part_read values (1, 0); "
                                "create table part_other (id serial primary key)")),
              "CCCCCZI");
    one.start();
  }
  void TearDown() override {
    control.ask(query("drop table if exists part_done, part_read, part_other"));
  }
  // Sends it, and changes what it has read before it sleeps.
  void send(const std::string& bytes) {
    one.send(bytes);
    observer.await(one, "wait_event = 'PgSleep'");
    ASSERT_EQ(control.ask(query("update part_read set v = v + 1")), "CZI");
  }
  RawClient control, one;
  Observer observer;
};

TEST_F(PartCommittedTest, AConflictBehindAChainLeavesItAlone) {
  for (const char* end : {"commit and chain", "rollback and chain", "commit"}) {
    for (const std::string& bytes :
         messages({"begin", "update part_done set n = n + 1", "commit and chain", "select 1", end,
                   look, sleep, "insert into part_other default values", "commit"})) {
      control.ask(query("update part_done set n = 0"));
      send(bytes);
      EXPECT_EQ(without_steps(one.answer()).substr(0, 6), "CCCDCC") << end;
      EXPECT_EQ(control.first_value("select n from part_done"), "1") << end;
      one.ask(query("rollback"));
    }
  }
}

TEST_F(PartCommittedTest, ACancelBehindAChainLeavesItAlone) {
  for (const std::string& bytes :
       messages({"begin", "update part_done set n = n + 1", "commit and chain", look, sleep})) {
    control.ask(query("update part_done set n = 0"));
    send(bytes);
    EXPECT_EQ(observer.cancel(one), "t");
    EXPECT_EQ(without_steps(one.answer()).substr(0, 3), "CCC");
    EXPECT_EQ(one.ask(query("rollback")), "CZI");
    EXPECT_EQ(control.first_value("select n from part_done"), "1");
  }
}

TEST_F(PartCommittedTest, AnIndexBuiltConcurrentlyIsBuiltOnce) {
  send(messages({"create index concurrently on part_done (n)", look, sleep,
                 "insert into part_other default values"})
           .back());
  EXPECT_EQ(without_steps(one.answer()).substr(0, 1), "C");
  EXPECT_EQ(
      control.first_value("select count(*) from pg_index where indrelid = 'part_done'::regclass"),
      "1");
}

// A statement is there if and only if its client was told so.
TEST_F(PartCommittedTest, StatementsThatWereNotToldOfAreNone) {
  for (bool in_block : {false, true}) {
    if (in_block) {
      ASSERT_EQ(one.ask(query("begin")), "CZT");
    }
    send(parse("made", look) + bind("", "made", {}) + execute() + parse("", sleep) +
         bind("", "", {}) + execute() + sync());
    EXPECT_EQ(observer.cancel(one), "t");
    bool told = one.answer().front() == '1';
    one.ask(query("rollback"));
    EXPECT_EQ(one.ask(parse("made", look) + sync()), told ? "E(42P05)ZI" : "1ZI");
    one.ask(query("deallocate made"));
  }
}

// Behind what a COPY has let leave.
TEST_F(PartCommittedTest, StatementsThatWereToldOfStay) {
  ASSERT_EQ(one.ask(query("begin isolation level serializable")), "CZT");
  one.send(parse("made", look) + bind("", "made", {}) + execute() +
           parse("", "copy part_other from stdin") + bind("", "", {}) + execute() + flush());
  EXPECT_EQ(one.read().type, '1');
  ASSERT_EQ(control.ask(query("update part_read set v = v + 1")), "CZI");
  one.send(message('f', cstring("no more")) + sync());
  EXPECT_EQ(one.answer().substr(0, 3), "2DC");
  one.ask(query("rollback"));
  EXPECT_EQ(one.ask(bind("", "made", {}) + execute() + sync()), "2DCZI");
  one.ask(query("deallocate made"));
}

}  // namespace
}  // namespace pgsilo::protocol_test
