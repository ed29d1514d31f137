// What a session keeps of portals that are done with.
#include <gtest/gtest.h>

#include <string>

#include "tests/protocol/monitoring_support.h"
#include "tests/protocol/raw_client.h"

namespace pgsilo::protocol_test {
namespace {

constexpr int64_t megabyte = 1 << 20;

class PortalMemoryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (runs_on_postgres()) GTEST_SKIP() << "it does not tell its memory";
    control.start();
    client.start();
  }
  // Megabytes more than at the first call.
  int64_t grown() {
    int64_t used = std::stoll(control.first_value("select used from pgsilo_memory"));
    if (at_first_ == 0) at_first_ = used;
    return (used - at_first_) / megabyte;
  }
  RawClient control;
  RawClient client;

 private:
  int64_t at_first_ = 0;
};

// Under READ COMMITTED all rows of what reads tables are made at once, here with room for them in
// memory; the plan's execution is kept for its next run.
TEST_F(PortalMemoryTest, RowsThatWereHandedOutAreGivenBack) {
  const std::string rows =
      "select repeat('x', 1000) from generate_series(1, 60000), (select from pg_class limit 1) one";
  ASSERT_EQ(client.ask(query("set work_mem = '256MB'")), "CZI");
  ASSERT_EQ(client.ask(query("begin isolation level read committed")), "CZT");
  grown();
  client.send(parse("", rows) + bind("", "") + execute("", 59'999) + sync());
  EXPECT_EQ(client.read_answer().size(), 60'003u);
  // Of 57; what tests before this one have left is freed meanwhile.
  EXPECT_GE(grown(), 28);
  client.send(bind("", "") + execute("", 60'001) + sync());
  EXPECT_EQ(client.read_answer().size(), 60'003u);
  EXPECT_EQ(client.ask(query("commit")), "CZI");
  EXPECT_LT(grown(), 10);
}

TEST_F(PortalMemoryTest, ParametersOfAFailedBlockAreGivenBack) {
  ASSERT_EQ(client.ask(query("begin")), "CZT");
  grown();
  EXPECT_EQ(client.ask(parse("long", "select length($1::text)") +
                       bind("waits", "long", {std::string(32 * megabyte, 'x')}) + sync()),
            "12ZT");
  EXPECT_GE(grown(), 20);
  EXPECT_EQ(client.ask(query("select 1/0")), "E(22012)ZE");
  EXPECT_LT(grown(), 10);
  EXPECT_EQ(client.ask(query("rollback")), "CZI");
}

}  // namespace
}  // namespace pgsilo::protocol_test
