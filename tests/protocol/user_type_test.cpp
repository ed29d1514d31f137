// Types that users make, seen by several sessions: who has a plan of one while another changes it.
#include <gtest/gtest.h>

#include "tests/protocol/raw_client.h"

namespace pgsilo::protocol_test {
namespace {

class UserTypeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    one.start();
    other.start();
    one.ask(query("drop table if exists feelings"));
    one.ask(query("drop type if exists mood, mood2"));
    ASSERT_EQ(one.ask(query("create type mood as enum ('sad', 'ok', 'happy')")), "CZI");
    ASSERT_EQ(one.ask(query("create table feelings (id int primary key, m mood)")), "CZI");
    ASSERT_EQ(one.ask(query("insert into feelings values (1, 'sad'), (2, 'ok')")), "CZI");
  }
  void TearDown() override {
    one.ask(query("rollback"));
    other.ask(query("rollback"));
    one.ask(query("drop table if exists feelings"));
    one.ask(query("drop type if exists mood, mood2"));
  }

  RawClient one;
  RawClient other;
};

TEST_F(UserTypeTest, APlanIsMadeAgainWhenALabelIsRenamed) {
  const char* by_label = "select id from feelings where m = 'ok'";
  for (int i = 0; i < 4; ++i) EXPECT_EQ(one.first_value(by_label), "2");
  ASSERT_EQ(one.ask(query("prepare by_ok as select id from feelings where m = 'ok'")), "CZI");
  EXPECT_EQ(one.first_value("execute by_ok"), "2");
  ASSERT_EQ(other.ask(query("alter type mood rename value 'ok' to 'fine'")), "CZI");
  EXPECT_EQ(one.first_value(by_label), "22P02");
  EXPECT_EQ(one.first_value("select id from feelings where m = 'fine'"), "2");
  EXPECT_EQ(one.first_value("select m from feelings where id = 2"), "fine");
}

TEST_F(UserTypeTest, NobodySeesAnothersUncommittedChanges) {
  ASSERT_EQ(other.ask(query("begin")), "CZT");
  ASSERT_EQ(other.ask(query("alter type mood rename to mood2")), "CZT");
  ASSERT_EQ(other.ask(query("alter type mood2 add value 'great'")), "CZT");
  EXPECT_EQ(other.first_value("select pg_typeof(m)::text from feelings"), "mood2");
  EXPECT_EQ(one.first_value("select pg_typeof(m)::text from feelings"), "mood");
  EXPECT_EQ(one.first_value("select 'great'::mood"), "22P02");
  ASSERT_EQ(other.ask(query("rollback")), "CZI");
  EXPECT_EQ(one.first_value("select 'sad'::mood"), "sad");
  EXPECT_EQ(other.first_value("select 'sad'::mood2"), "42704");
}

}  // namespace
}  // namespace pgsilo::protocol_test
