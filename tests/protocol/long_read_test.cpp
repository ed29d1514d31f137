// Statements outside of a block that only read, however long they are, meet no 40001: they go on in
// a snapshot before they fail. So do those of READ COMMITTED blocks, before their answer leaves.
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "tests/protocol/monitoring_support.h"
#include "tests/protocol/raw_client.h"

namespace pgsilo::protocol_test {
namespace {

constexpr int rows = 20000;

class LongReadTest : public ::testing::Test {
 protected:
  void SetUp() override {
    reader.start();
    if (!runs_on_postgres()) reader.ask(query("set retry_buffer_size = '64kB'"));
    reader.ask(query("drop table if exists long_read_test, long_read_copy"));
    reader.ask(query("drop sequence if exists long_read_sequence"));
    reader.ask(query("create table long_read_test (id int primary key, v int)"));
    ASSERT_EQ(reader.ask(query("insert into long_read_test select i, 1 from generate_series(1, " +
                               std::to_string(rows) + ") i")),
              "CZI");
    reader.ask(query("create table long_read_copy (v int)"));
    reader.ask(query("create sequence long_read_sequence"));
  }
  void TearDown() override {
    stop_writers();
    reader.ask(query("rollback; drop table long_read_test, long_read_copy"));
    reader.ask(query("drop sequence long_read_sequence"));
  }
  // Move a one from a row at the beginning to one at the end and back, in one statement each.
  void start_writers() {
    for (int id = 0; id < 2; ++id) {
      writers_.emplace_back([this, id] {
        RawClient client;
        client.start();
        for (int n = 0; !stop_; ++n) {
          std::string low = std::to_string(1 + (n * 7 + id) % 100);
          std::string high = std::to_string(rows - (n * 5 + id) % 100);
          client.ask(query("update long_read_test set v = case when id = " + low +
                           " then v - 1 else v + 1 end where id in (" + low + ", " + high + ")"));
        }
      });
    }
  }
  // Adds rows everywhere, and takes them away.
  void start_inserter() {
    writers_.emplace_back([this] {
      RawClient client;
      client.start();
      for (int n = 0; !stop_; ++n) {
        std::string id = std::to_string(-1 - n % 10);
        client.ask(query("insert into long_read_test values (" + id + ", 0)"));
        client.ask(query("delete from long_read_test where id = " + id));
      }
    });
  }
  void stop_writers() {
    stop_ = true;
    for (std::thread& thread : writers_) thread.join();
    writers_.clear();
    stop_ = false;
  }
  void begin() { EXPECT_EQ(reader.ask(query("begin isolation level read committed")), "CZT"); }
  // The summary of an answer with the number of its rows instead of each.
  static std::string shape(const std::vector<Message>& messages) {
    std::string shape;
    int count = 0;
    for (const Message& message : messages) {
      if (message.type == 'D' || message.type == 'd') {
        ++count;
        continue;
      }
      if (count != 0) shape += "(" + std::to_string(count) + ")";
      count = 0;
      shape += summary({message});
    }
    return shape;
  }
  std::string ask(const std::string& bytes) {
    reader.send(bytes);
    last = reader.read_answer();
    return shape(last);
  }
  int64_t sum_of_last() const {
    int64_t sum = 0;
    for (const Message& message : last) {
      if (message.type == 'D') sum += std::stoll(row_values(message).back());
      if (message.type == 'd') sum += std::stoll(message.body.substr(message.body.find('\t') + 1));
    }
    return sum;
  }
  const std::string whole = "(" + std::to_string(rows) + ")";

  RawClient reader;
  std::vector<Message> last;

 private:
  std::vector<std::thread> writers_;
  std::atomic<bool> stop_ = false;
};

TEST_F(LongReadTest, LongAnswersOfSimpleQueries) {
  start_writers();
  for (int round = 0; round < 20 && !HasFailure(); ++round) {
    EXPECT_EQ(ask(query("select id, v from long_read_test")), "T" + whole + "CZI");
    EXPECT_EQ(sum_of_last(), rows);
  }
}

TEST_F(LongReadTest, LongAnswersOfTheExtendedProtocol) {
  start_writers();
  EXPECT_EQ(reader.ask(parse("s", "select id, v from long_read_test where id > $1") + sync()),
            "1ZI");
  for (int round = 0; round < 20 && !HasFailure(); ++round) {
    EXPECT_EQ(ask(bind("", "s", {"0"}) + execute() + sync()), "2" + whole + "CZI");
    EXPECT_EQ(sum_of_last(), rows);
  }
}

TEST_F(LongReadTest, CopyTo) {
  start_writers();
  for (int round = 0; round < 20 && !HasFailure(); ++round) {
    EXPECT_EQ(ask(query("copy long_read_test to stdout")), "H" + whole + "cCZI");
    EXPECT_EQ(sum_of_last(), rows);
    EXPECT_EQ(ask(query("copy (select id, v from long_read_test) to stdout")),
              "H" + whole + "cCZI");
    EXPECT_EQ(sum_of_last(), rows);
  }
}

// Their answers are short, so they run again; but not for ever.
TEST_F(LongReadTest, LongScans) {
  start_writers();
  constexpr int rounds = 5;
  constexpr int times = 20;  // long enough for many writers to come between
  std::string sum =
      "select sum(t.v) from long_read_test t, generate_series(1, " + std::to_string(times) + ") i";
  for (int round = 0; round < rounds && !HasFailure(); ++round)
    EXPECT_EQ(reader.column(sum), std::to_string(rows * times) + " ");
  stop_writers();
  if (runs_on_postgres()) return;
  std::string retries = reader.first_value(
      "select sum(retries) from pgsilo_stat_statements where query like "
      "'select sum(t.v) from long_read_test t%'");
  // Four times at most (limits::read_failures_before_snapshot), then comes a snapshot.
  EXPECT_LE(std::stoi(retries), 4 * rounds);
}

TEST_F(LongReadTest, BlocksUnderReadCommitted) {
  start_writers();
  for (int round = 0; round < 20 && !HasFailure(); ++round) {
    begin();
    EXPECT_EQ(ask(query("select id, v from long_read_test")), "T" + whole + "CZT");
    EXPECT_EQ(sum_of_last(), rows);
    EXPECT_EQ(ask(query("copy long_read_test to stdout")), "H" + whole + "cCZT");
    EXPECT_EQ(sum_of_last(), rows);
    EXPECT_EQ(ask(parse("", "select random(), v from long_read_test where id > $1") +
                  bind("", "", {"0"}) + execute() + sync()),
              "12" + whole + "CZT");
    EXPECT_EQ(sum_of_last(), rows);
    EXPECT_EQ(ask(query("commit")), "CZI");
  }
}

TEST_F(LongReadTest, BlocksUnderReadCommittedSeeTheirOwnWrites) {
  start_writers();
  for (int round = 0; round < 5 && !HasFailure(); ++round) {
    begin();
    // Rows that the writers leave alone.
    EXPECT_EQ(ask(query("update long_read_test set v = v + 6 where id = 500; "
                        "update long_read_test set v = 9, id = -5 where id = 600; "
                        "delete from long_read_test where id = 700; savepoint a; "
                        "update long_read_test set v = 1000 where id in (500, 800); "
                        "insert into long_read_test values (-9, 1000); rollback to a; "
                        "insert into long_read_test values (-6, 100)")),
              "CCCCCCCCZT");
    EXPECT_EQ(ask(query("select id, v from long_read_test")), "T" + whole + "CZT");
    EXPECT_EQ(sum_of_last(), rows + 6 + 8 - 1 + 100);
    // By an index, forth and back.
    EXPECT_EQ(ask(query("select id, v from long_read_test where id < 15000 order by id desc")),
              "T(14999)CZT");
    if (!runs_on_postgres()) {
      EXPECT_EQ(reader.column("select count(*) from pgsilo_snapshots"), "0 ");
    }
    EXPECT_EQ(ask(query("rollback")), "CZI");
  }
}

TEST_F(LongReadTest, WhatAlsoWritesOrLocksUnderReadCommittedAnswersAtItsEnd) {
  start_inserter();
  for (int round = 0; round < 10 && !HasFailure(); ++round) {
    begin();
    EXPECT_EQ(ask(query("select id, v from long_read_test where id > 0 or v = 1 for update")),
              "T" + whole + "CZT");
    EXPECT_EQ(ask(query("update long_read_test set v = 1 where id > 0 or v = 1 returning id, v")),
              "T" + whole + "CZT");
    EXPECT_EQ(sum_of_last(), rows);
    EXPECT_EQ(ask(query("copy (update long_read_test set v = 1 where v = 1 returning id, v) "
                        "to stdout")),
              "H" + whole + "cCZT");
    EXPECT_EQ(ask(query("commit")), "CZI");
  }
}

TEST_F(LongReadTest, WhatFollowsInTheTransactionIsNotOfThePast) {
  std::string select = "select id, v from long_read_test";
  std::string insert = "insert into long_read_copy values (1)";
  auto piece = [](const std::string& sql) { return parse("", sql) + bind("", "") + execute(); };
  EXPECT_EQ(ask(query(select + "; " + insert)), "T" + whole + "CCZI");
  EXPECT_EQ(ask(piece(select) + piece(insert) + sync()), "12" + whole + "C12CZI");
  EXPECT_EQ(ask(query("begin; " + select + "; " + insert + "; commit")), "CT" + whole + "CCCZI");
  reader.send(piece(select) + flush());  // the rest comes later
  EXPECT_EQ(reader.read().type, '1');
  EXPECT_EQ(ask(piece(insert) + sync()), "2" + whole + "C12CZI");
  EXPECT_EQ(reader.first_value("select count(*) from long_read_copy"), "4");
}

TEST_F(LongReadTest, SequencesAreNotOfThePast) {
  EXPECT_EQ(ask(query("select nextval('long_read_sequence'), v from long_read_test")),
            "T" + whole + "CZI");
  EXPECT_EQ(reader.first_value("select nextval('long_read_sequence')"), std::to_string(rows + 1));
}

}  // namespace
}  // namespace pgsilo::protocol_test
