// Blocks at SERIALIZABLE that were beaten: their successors hold what they read, so that they end;
// and blocks that only read, which nobody beats.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>

#include "tests/protocol/raw_client.h"

namespace pgsilo::protocol_test {
namespace {

class OwnCautionTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (RawClient* client : {&one, &other}) client->start();
    other.ask(query("drop table if exists caution_test"));
    other.ask(query("create table caution_test (id int primary key, v int)"));
    other.ask(query("insert into caution_test select i, 0 from generate_series(1, 100) i"));
    other.ask(query("set lock_timeout = 50"));
  }
  void TearDown() override {
    for (RawClient* client : {&one, &other}) client->ask(query("rollback"));
    other.ask(query("drop table caution_test"));
  }
  static void begin(RawClient& client, const std::string& more = "") {
    EXPECT_EQ(client.ask(query("begin isolation level serializable" + more)), "CZT");
  }
  std::string change(RawClient& client, int id) {
    return client.ask(query("update caution_test set v = v + 1 where id = " + std::to_string(id)));
  }
  std::string look(RawClient& client, int id) {
    return client.column("select v >= 0 from caution_test where id = " + std::to_string(id));
  }
  void be_beaten(RawClient& client) {
    begin(client);
    EXPECT_EQ(client.column("select sum(v) >= 0 from caution_test"), "t ");
    // An update by somebody else, and one that rests on what was read before.
    RawClient third;
    third.start();
    EXPECT_EQ(change(third, 100), "CZI");
    std::string said = change(client, 100);
    if (said == "CZT") said = client.ask(query("commit"));
    EXPECT_TRUE(said.starts_with("E(40001)")) << said;
    client.ask(query("rollback"));
  }

  void be_beaten_often(RawClient& client) {
    for (int blocks = 0; blocks < 8; ++blocks) be_beaten(client);
  }

  RawClient one, other;
};

constexpr const char* refused = "E(55P03)ZI";

TEST_F(OwnCautionTest, ABlockThatOnlyReadsSeesOneMoment) {
  for (std::string level : {"serializable", "repeatable read"}) {
    EXPECT_EQ(one.ask(query("begin isolation level " + level + " read only")), "CZT");
    const std::string sum = one.column("select sum(v) from caution_test");
    for (int id = 1; id < 20; ++id) {
      EXPECT_EQ(change(other, id), "CZI");
      EXPECT_EQ(one.column("select sum(v) from caution_test"), sum);
    }
    EXPECT_EQ(one.ask(query("commit")), "CZI");
  }
}

TEST_F(OwnCautionTest, TheFirstBlocksHoldNothing) {
  begin(one);
  EXPECT_EQ(look(one, 1), "t ");
  EXPECT_EQ(change(other, 1), "CZI");
  one.ask(query("rollback"));
}

TEST_F(OwnCautionTest, ABeatenOnesSuccessorHoldsTheRowsThatItReads) {
  be_beaten_often(one);
  begin(one);
  EXPECT_EQ(look(one, 1), "t ");
  EXPECT_EQ(change(other, 1), refused);
  EXPECT_EQ(look(other, 1), "t ");
  EXPECT_EQ(change(other, 2), "CZI");
  EXPECT_EQ(change(one, 1), "CZT");
  EXPECT_EQ(one.ask(query("commit")), "CZI");
  EXPECT_EQ(change(other, 1), "CZI");
}

TEST_F(OwnCautionTest, ABeatenOnesSuccessorHoldsTheTablesThatItScans) {
  be_beaten_often(one);
  begin(one);
  EXPECT_EQ(one.column("select count(*) from caution_test"), "100 ");
  EXPECT_EQ(other.ask(query("insert into caution_test values (101, 0)")), refused);
  EXPECT_EQ(other.column("select count(*) from caution_test"), "100 ");
  EXPECT_EQ(one.ask(query("insert into caution_test values (101, 0)")), "CZT");
  EXPECT_EQ(one.ask(query("commit")), "CZI");
  EXPECT_EQ(other.ask(query("insert into caution_test values (102, 0)")), "CZI");
}

TEST_F(OwnCautionTest, ItWearsOff) {
  be_beaten_often(one);
  for (int blocks = 0; blocks < 16; ++blocks) {
    begin(one);
    EXPECT_EQ(look(one, 1), "t ");
    EXPECT_EQ(one.ask(query("commit")), "CZI");
  }
  begin(one);
  EXPECT_EQ(look(one, 1), "t ");
  EXPECT_EQ(change(other, 1), "CZI");
}

TEST_F(OwnCautionTest, NobodyWaitsForItsClient) {
  other.ask(query("set lock_timeout = 0"));
  be_beaten_often(one);
  begin(one);
  EXPECT_EQ(look(one, 1), "t ");
  EXPECT_EQ(change(other, 1), "CZI");
  one.ask(query("rollback"));
  one.ask(query("discard all"));
  be_beaten_often(one);
  begin(one);
  EXPECT_EQ(one.column("select count(*) from caution_test"), "100 ");
  EXPECT_EQ(change(other, 1), "CZI");
}

TEST_F(OwnCautionTest, DiscardAllForgetsIt) {
  be_beaten_often(one);
  EXPECT_EQ(one.ask(query("discard all")), "CZI");
  begin(one);
  EXPECT_EQ(look(one, 1), "t ");
  EXPECT_EQ(change(other, 1), "CZI");
}

// Other levels do not read what has to stay true.
TEST_F(OwnCautionTest, ReadCommittedHoldsNothing) {
  be_beaten_often(one);
  EXPECT_EQ(one.ask(query("begin isolation level read committed")), "CZT");
  EXPECT_EQ(look(one, 1), "t ");
  EXPECT_EQ(change(other, 1), "CZI");
  EXPECT_EQ(one.ask(query("commit")), "CZI");
}

// Nor does the lock that a read waits for end it: it goes on without, and may be beaten again.
TEST_F(OwnCautionTest, AReadNeverFailsForALock) {
  be_beaten_often(one);
  one.ask(query("set lock_timeout = 50"));
  EXPECT_EQ(other.ask(query("begin")), "CZT");
  EXPECT_EQ(change(other, 1), "CZT");
  begin(one);
  EXPECT_EQ(look(one, 1), "t ");
  EXPECT_EQ(one.column("select count(*) from caution_test"), "100 ");
  EXPECT_EQ(one.ask(query("commit")), "CZI");
  EXPECT_EQ(other.ask(query("commit")), "CZI");
}

TEST_F(OwnCautionTest, ReadsThatMeetCrosswiseAreNoDeadlock) {
  for (RawClient* client : {&one, &other}) {
    client->ask(query("set lock_timeout = 0"));
    client->ask(query("set deadlock_timeout = '10ms'"));
    be_beaten_often(*client);
    begin(*client);
  }
  EXPECT_EQ(look(one, 1), "t ");
  EXPECT_EQ(look(other, 2), "t ");
  one.send(query("select v >= 0 from caution_test where id = 2"));
  EXPECT_EQ(look(other, 1), "t ");
  EXPECT_EQ(other.ask(query("commit")), "CZI");
  EXPECT_EQ(first_column(one.read_answer()), "t ");
  EXPECT_EQ(one.ask(query("commit")), "CZI");
}

}  // namespace
}  // namespace pgsilo::protocol_test
