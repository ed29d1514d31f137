// What one SERIALIZABLE transaction has read fits together wherever it is told, however the
// transaction ends: by ROLLBACK, by an error that keeps it from running again, with its session.
#include <gtest/gtest.h>

#include <initializer_list>

#include "tests/protocol/monitoring_support.h"
#include "tests/protocol/raw_client.h"

namespace pgsilo::protocol_test {
namespace {

const std::string first = "select 'v' || v from unvalidated where id = 1";
const std::string second = "select 'v' || v from unvalidated where id = 2";
const std::string wait = "select " + pause;

std::string pipeline(std::initializer_list<std::string> statements) {
  std::string bytes;
  for (const std::string& statement : statements)
    bytes += parse("", statement) + bind("", "", {}) + execute();
  return bytes;
}

// As one query, and as one pipeline.
std::vector<std::string> messages(std::initializer_list<std::string> statements) {
  std::string text;
  for (const std::string& statement : statements) text += statement + "; ";
  return {query(text), pipeline(statements) + sync()};
}

class UnvalidatedAnswerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    control.start();
    TearDown();
    ASSERT_EQ(control.ask(query("create table unvalidated (id int primary key, v int); "
                                "insert into unvalidated values (1, 0), (2, 0)")),
              "CCZI");
    one.start({{"options", "-c default_transaction_isolation=serializable"}});
  }
  void TearDown() override { control.ask(query("drop table if exists unvalidated")); }

  // Both rows change while the session pauses.
  void send(const std::string& bytes) {
    control.ask(query("update unvalidated set v = 0"));
    while_paused(one, bytes,
                 [&] { ASSERT_EQ(control.ask(query("update unvalidated set v = 1")), "CZI"); });
  }
  // What was told of the two rows is of one moment; the SQLSTATE at the end.
  std::string ends_with() {
    std::string said = first_column(one.read_answer());
    EXPECT_FALSE(said.find("v0 ") != std::string::npos && said.find("v1 ") != std::string::npos)
        << said;
    size_t error = said.size() < 6 ? std::string::npos : said.size() - 6;
    return error == std::string::npos ? said : said.substr(error, 5);
  }
  RawClient control, one;
  Observer observer;
};

TEST_F(UnvalidatedAnswerTest, OfARollbackOutsideOfABlock) {
  for (const std::string& bytes : messages({first, wait, second, "rollback"})) {
    send(bytes);
    std::string said = first_column(one.read_answer());
    EXPECT_TRUE(said.starts_with("v0  v0 ") || said.starts_with("v1  v1 ")) << said;
  }
}

// An advisory lock that is let go of for good keeps it from running again, whatever finds out.
TEST_F(UnvalidatedAnswerTest, OfWhatHasActed) {
  for (const char* last : {"update unvalidated set v = v where id = 2",
                           "select v from unvalidated where id = 2 for update", "begin"}) {
    for (const std::string& bytes :
         messages({first, "select pg_advisory_unlock(78)", wait, second, last})) {
      one.ask(query("select pg_advisory_lock(78)"));
      send(bytes);
      std::string end = ends_with();
      bool is_told = std::string(last) != "begin" || !runs_on_postgres();
      EXPECT_EQ(end == "40001", is_told) << last << ": " << end;
      one.ask(query("rollback"));
    }
  }
  one.ask(query("select pg_advisory_lock(78)"));
  send(pipeline({first, "select pg_advisory_unlock(78)", wait, second}) + flush() + sync());
  ends_with();
}

// So does a deadlock of a session that others wait for.
TEST_F(UnvalidatedAnswerTest, OfADeadlock) {
  RawClient other;
  other.start({{"options", "-c deadlock_timeout=100s"}});
  one.ask(query("set deadlock_timeout = '10ms'"));
  one.ask(query("select pg_advisory_lock(78)"));
  other.ask(query("select pg_advisory_lock(79)"));
  observer.send_blocked(other, query("select pg_advisory_lock(78)"));
  send(pipeline({first, wait, second, "select pg_advisory_lock(79)"}) + sync());
  EXPECT_EQ(ends_with(), "40P01");
  one.ask(query("select pg_advisory_unlock_all()"));
  other.answer();
}

// What is known to be true is told, though it is true no more.
TEST_F(UnvalidatedAnswerTest, OfABlockWhoseSessionIsEnded) {
  control.ask(query("update unvalidated set v = 0"));
  one.send(pipeline({"begin", first}));
  observer.await(one, "wait_event = 'ClientRead' and query = $$" + first + "$$");
  control.ask(query("update unvalidated set v = 1"));
  EXPECT_EQ(observer.terminate(one), "t");
  EXPECT_EQ(first_column(one.read_answer()), "v0 57P01 ");
}

TEST_F(UnvalidatedAnswerTest, OfASessionThatIsEnded) {
  send(pipeline({first, wait, second}));
  observer.await(one, "wait_event = 'ClientRead'");
  EXPECT_EQ(observer.terminate(one), "t");
  EXPECT_EQ(ends_with(), "57P01");
}

}  // namespace
}  // namespace pgsilo::protocol_test
