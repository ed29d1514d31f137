// Blocks at SERIALIZABLE, however many statements they have: the last costs what the first did, and
// yet each sees what was true together with all before it.
#include <gtest/gtest.h>

#include <string>

#include "tests/protocol/monitoring_support.h"
#include "tests/protocol/raw_client.h"
#include "tests/protocol/wait_time.h"

namespace pgsilo::protocol_test {
namespace {

class LongBlockTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (RawClient* client : {&one, &other}) client->start();
    drop();
    one.ask(query("create table long_block_test (id int primary key, v int)"));
    one.ask(query("insert into long_block_test select i, 0 from generate_series(1, 4) i"));
    one.ask(
        query("create table long_block_child (id serial primary key, u int unique, "
              "parent int references long_block_test)"));
    one.ask(query("create index on long_block_child (parent)"));
  }
  void TearDown() override {
    for (RawClient* client : {&one, &other}) client->ask(query("rollback"));
    drop();
  }
  void drop() { one.ask(query("drop table if exists long_block_child, long_block_test")); }
  void begin_with_a_read() {
    ASSERT_EQ(one.ask(query("begin isolation level serializable")), "CZT");
    EXPECT_EQ(one.column("select v from long_block_test where id = 1"), "0 ");
    EXPECT_EQ(one.column("select v from long_block_test where id = 1"), "0 ");
  }
  // What a block has read others change, and something besides; `statement` would show that.
  void expect_conflict(const std::string& besides, const std::string& statement) {
    one.ask(query("discard all"));  // what was beaten before makes it careful
    begin_with_a_read();
    ASSERT_EQ(other.ask(query(besides)), "CZI") << besides;
    ASSERT_EQ(other.ask(query("update long_block_test set v = 1 where id = 1")), "CZI");
    std::string said = one.ask(query(statement));
    EXPECT_TRUE(said.ends_with("E(40001)ZE")) << statement << ": " << said;
    EXPECT_EQ(one.ask(query("rollback")), "CZI");
    other.ask(query("update long_block_test set v = 0 where id = 1"));
  }

  RawClient one, other;
};

TEST_F(LongBlockTest, ItsLastStatementsCostWhatItsFirstDid) {
  constexpr int rounds = 20, size = 500;
  ASSERT_EQ(one.ask(query("begin isolation level serializable")), "CZT");
  int64_t first_ms = 0, last_ms = 0;
  for (int round = 0; round < rounds; ++round) {
    std::string batch;
    for (int i = 0; i < size; ++i) {
      std::string number = std::to_string(round * size + i);
      batch += query("insert into long_block_child (u, parent) values (" + number + ", 1)") +
               query("select from long_block_child where u = -" + number);
    }
    WaitTime wait(one);
    one.send(batch);
    for (int i = 0; i < size; ++i) {
      ASSERT_EQ(one.answer(), "CZT");
      ASSERT_EQ(one.answer(), i == 0 && round == 0 ? "TDCZT" : "TCZT");
    }
    last_ms = wait.milliseconds();
    if (round == 0) first_ms = last_ms;
  }
  EXPECT_EQ(one.ask(query("commit")), "CZI");
  EXPECT_LE(last_ms, 4 * first_ms + 50);
}

// As drivers fetch large results.
TEST_F(LongBlockTest, TheLastPiecesOfAPortalCostWhatItsFirstDid) {
  constexpr int rounds = 20, size = 250, rows = 100;
  one.ask(query("create table long_block_rows as select i from generate_series(1, 500000) i"));
  ASSERT_EQ(one.ask(query("begin isolation level serializable")), "CZT");
  EXPECT_EQ(one.ask(parse("", "select i from long_block_rows") + bind("p", "") + sync()), "12ZT");
  std::string answer = std::string(rows, 'D') + "sZT";
  int64_t first_ms = 0, last_ms = 0;
  for (int round = 0; round < rounds; ++round) {
    std::string batch;
    for (int i = 0; i < size; ++i) batch += execute("p", rows) + sync();
    WaitTime wait(one);
    one.send(batch);
    for (int i = 0; i < size; ++i) ASSERT_EQ(one.answer(), answer);
    last_ms = wait.milliseconds();
    if (round == 0) first_ms = last_ms;
  }
  EXPECT_EQ(one.ask(query("commit")), "CZI");
  one.ask(query("drop table long_block_rows"));
  EXPECT_LE(last_ms, 4 * first_ms + 50);
}

// PostgreSQL's unique checks look at the present whatever the block has seen.
TEST_F(LongBlockTest, AKeyThatIsFreeNowWasNotBefore) {
  if (runs_on_postgres()) GTEST_SKIP() << "there they are no conflict";
  for (std::string statement : {"insert into long_block_test values (3, 1)",
                                "select v from long_block_test where id = 3"}) {
    expect_conflict("delete from long_block_test where id = 3", statement);
    other.ask(query("insert into long_block_test values (3, 0)"));
  }
}

// What is locked against all others is read without a trace, and had changed before.
TEST_F(LongBlockTest, ATableThatIsLockedNowWasNotBefore) {
  if (runs_on_postgres()) GTEST_SKIP() << "there the block sees what was before";
  for (std::string exclude : {"lock table long_block_child in access exclusive mode",
                              "alter table long_block_child add column w int",
                              "alter table long_block_child drop column if exists w"}) {
    for (std::string savepoint : {"", "savepoint a; "})
      expect_conflict("insert into long_block_child (u) values (default)", savepoint + exclude);
  }
}

TEST_F(LongBlockTest, ATableThatIsEmptyNowWasNotBefore) {
  if (runs_on_postgres()) GTEST_SKIP() << "there whoever truncates is seen by all";
  for (std::string statement : {"insert into long_block_child (id, u) values (7, 7)",
                                "select from long_block_child where u = 7"}) {
    other.ask(query("insert into long_block_child (id, u) values (7, 7)"));
    expect_conflict("truncate long_block_child", statement);
  }
}

}  // namespace
}  // namespace pgsilo::protocol_test
