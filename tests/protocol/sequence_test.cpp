// Sequences between sessions: no value twice, rising across sessions, nothing taken back, DDL
// beside users. What they do within one session: tests/sql/sequences.slt, identity.slt.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "tests/protocol/crowd.h"
#include "tests/protocol/raw_client.h"

namespace pgsilo::protocol_test {
namespace {

constexpr int clients = 6;
constexpr int rounds = 100;

class SequenceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    control.start();
    drop();
    control.ask(query("create sequence seq_test"));
    control.ask(query("create table seq_table (id bigserial primary key, note int)"));
  }
  void TearDown() override { drop(); }
  void drop() {
    control.ask(query("drop sequence if exists seq_test cascade"));
    control.ask(query("drop table if exists seq_table"));
  }
  // The values that `body`, run by each client, has returned for so many rounds; sorted.
  using Body = std::function<std::string(RawClient&, int client, int round)>;
  static std::vector<int64_t> gather(const Body& body) {
    std::vector<std::vector<int64_t>> found(clients);
    hammer(clients, rounds, [&](RawClient& client, int index, int round) {
      std::string value = body(client, index, round);
      if (!value.empty()) found[index].push_back(std::stoll(value));
      return true;
    });
    std::vector<int64_t> all;
    for (const auto& of_client : found) all.insert(all.end(), of_client.begin(), of_client.end());
    std::sort(all.begin(), all.end());
    return all;
  }
  static void expect_no_duplicates(const std::vector<int64_t>& values) {
    auto twice = std::adjacent_find(values.begin(), values.end());
    if (twice != values.end()) ADD_FAILURE() << "value " << *twice << " was handed out twice";
  }
  RawClient control;
};

TEST_F(SequenceTest, HandsOutEachValueOnce) {
  for (std::string cache : {"1", "7"}) {
    control.ask(query("alter sequence seq_test cache " + cache));
    std::vector<int64_t> values = gather([](RawClient& client, int, int round) {
      if (round % 10 != 9) return client.first_value("select nextval('seq_test')");
      // What was taken in a block that ends badly does not come again.
      client.ask(query("begin"));
      std::string value = client.first_value("select nextval('seq_test')");
      client.ask(query("rollback"));
      return value;
    });
    EXPECT_EQ(values.size(), size_t{clients} * rounds);
    expect_no_duplicates(values);
  }
}

// Whoever asks after another was answered gets a later value.
TEST_F(SequenceTest, RisesAcrossSessions) {
  std::atomic<int64_t> newest{0};
  gather([&](RawClient& client, int, int) {
    int64_t before = newest.load();
    std::string value = client.first_value("select nextval('seq_test')");
    int64_t mine = std::stoll(value);
    EXPECT_GT(mine, before);
    while (before < mine && !newest.compare_exchange_weak(before, mine)) {
    }
    return value;
  });
}

TEST_F(SequenceTest, NumbersRowsOnce) {
  std::vector<int64_t> ids = gather([](RawClient& client, int number, int round) {
    bool in_block = round % 3 == 0;
    if (in_block) client.ask(query("begin"));
    std::string id = client.first_value("insert into seq_table (note) values (" +
                                        std::to_string(number) + ") returning id");
    if (in_block) client.ask(query(round % 2 == 0 ? "rollback" : "commit"));
    return id;
  });
  EXPECT_EQ(ids.size(), size_t{clients} * rounds);
  expect_no_duplicates(ids);
}

TEST_F(SequenceTest, KeepsCurrvalPerSession) {
  RawClient other;
  other.start();
  EXPECT_EQ(control.first_value("select nextval('seq_test')"), "1");
  EXPECT_EQ(other.first_value("select currval('seq_test')"), "55000");
  EXPECT_EQ(other.first_value("select lastval()"), "55000");
  EXPECT_EQ(other.first_value("select nextval('seq_test')"), "2");
  EXPECT_EQ(control.first_value("select currval('seq_test')"), "1");
  EXPECT_EQ(control.first_value("select lastval()"), "1");
  other.ask(query("discard sequences"));
  EXPECT_EQ(other.first_value("select currval('seq_test')"), "55000");
}

// What a session has taken ahead is not used after another has changed the definition.
TEST_F(SequenceTest, ForgetsCachedValuesAfterAlter) {
  RawClient other;
  other.start();
  control.ask(query("alter sequence seq_test cache 10"));
  EXPECT_EQ(control.first_value("select nextval('seq_test')"), "1");
  EXPECT_EQ(other.first_value("select nextval('seq_test')"), "11");
  EXPECT_EQ(control.first_value("select nextval('seq_test')"), "2");
  EXPECT_EQ(other.ask(query("alter sequence seq_test restart with 1000")), "CZI");
  EXPECT_EQ(control.first_value("select nextval('seq_test')"), "1000");
}

TEST_F(SequenceTest, AlterWaitsForUsers) {
  RawClient other;
  other.start();
  control.ask(query("begin"));
  EXPECT_EQ(control.first_value("select nextval('seq_test')"), "1");
  other.send(query("alter sequence seq_test restart"));
  EXPECT_TRUE(other.is_silent());
  EXPECT_EQ(control.first_value("select nextval('seq_test')"), "2");
  EXPECT_EQ(control.ask(query("commit")), "CZI");
  EXPECT_EQ(other.answer(), "CZI");
  EXPECT_EQ(control.first_value("select nextval('seq_test')"), "1");
}

TEST_F(SequenceTest, UsersWaitForAlter) {
  RawClient other, block;
  other.start();
  block.start();
  EXPECT_EQ(control.first_value("select nextval('seq_test')"), "1");
  for (bool commits : {false, true}) {
    control.ask(query("begin"));
    EXPECT_EQ(control.ask(query("alter sequence seq_test restart with 500")), "CZT");
    EXPECT_EQ(control.first_value("select nextval('seq_test')"), "500");
    other.send(query("select nextval('seq_test')"));
    block.ask(query("begin"));
    block.send(query("select nextval('seq_test')"));
    EXPECT_TRUE(other.is_silent());
    EXPECT_TRUE(block.is_silent());
    control.ask(query(commits ? "commit" : "rollback"));
    std::vector<std::string> values;
    for (RawClient* client : {&other, &block}) {
      for (const Message& each : client->read_answer()) {
        if (each.type == 'D') values.push_back(row_values(each)[0]);
      }
    }
    block.ask(query("commit"));
    std::sort(values.begin(), values.end());
    // As PostgreSQL, a statement that waits for the definition takes a value by the new one.
    EXPECT_EQ(values, commits ? std::vector<std::string>({"501", "502"})
                              : std::vector<std::string>({"2", "3"}));
  }
}

// The sequence comes and goes under its users: values or "does not exist", nothing else.
TEST_F(SequenceTest, IsDroppedAndMadeUnderItsUsers) {
  std::atomic<bool> ended{false};
  std::thread definer([&] {
    RawClient client;
    client.start();
    for (int64_t start = 1000; !ended; start += 100000) {
      EXPECT_EQ(client.ask(query("drop sequence seq_test")), "CZI");
      EXPECT_EQ(client.ask(query("create sequence seq_test start " + std::to_string(start))),
                "CZI");
    }
  });
  std::vector<int64_t> values = gather([](RawClient& client, int, int) {
    std::string value = client.first_value("select nextval('seq_test')");
    bool is_state = value == "42P01" || value == "XX000";
    return is_state ? std::string() : value;
  });
  ended = true;
  definer.join();
  expect_no_duplicates(values);
}

// Definitions that do not restart it lose and repeat nothing.
TEST_F(SequenceTest, IsAlteredUnderItsUsers) {
  std::atomic<bool> ended{false};
  std::thread definer([&] {
    RawClient client;
    client.start();
    for (int i = 0; !ended; ++i) {
      EXPECT_EQ(client.ask(query("alter sequence seq_test cache " + std::to_string(1 + i % 5))),
                "CZI");
      client.ask(query("begin"));
      EXPECT_EQ(client.ask(query("alter sequence seq_test cache 3")), "CZT");
      client.ask(query("rollback"));
    }
  });
  std::vector<int64_t> values = gather([](RawClient& client, int, int round) {
    if (round % 4 != 0) return client.first_value("select nextval('seq_test')");
    client.ask(query("begin"));
    std::string value = client.first_value("select nextval('seq_test')");
    client.ask(query("commit"));
    return value;
  });
  ended = true;
  definer.join();
  expect_no_duplicates(values);
}

TEST_F(SequenceTest, CopyNumbersRows) {
  EXPECT_EQ(control.ask(query("copy seq_table (note) from stdin") + message('d', "1\n2\n3\n") +
                        message('c')),
            "GCZI");
  EXPECT_EQ(control.first_value("select string_agg(id || ':' || note, ',') from "
                                "(select * from seq_table order by id) t"),
            "1:1,2:2,3:3");
  control.ask(query("create table seq_identity (id int generated always as identity, v int)"));
  EXPECT_EQ(
      control.ask(query("copy seq_identity from stdin") + message('d', "7\t1\n") + message('c')),
      "GCZI");
  EXPECT_EQ(control.first_value("select id from seq_identity"), "7");
  control.ask(query("drop table seq_identity"));
}

TEST_F(SequenceTest, IsNotCopied) {
  EXPECT_EQ(control.ask(query("copy seq_test to stdout")), "E(42809)ZI");
  // PostgreSQL asks for the data first.
  EXPECT_TRUE(control.ask(query("copy seq_test from stdin")).ends_with("E(42809)ZI"));
}

// A prepared statement goes on with whatever has the name now.
TEST_F(SequenceTest, PreparedStatementsFollowTheName) {
  EXPECT_EQ(control.ask(parse("next", "select nextval('seq_test')") + sync()), "1ZI");
  auto next = [&] {
    control.send(bind("", "next") + execute() + sync());
    for (const Message& each : control.read_answer()) {
      if (each.type == 'D') return row_values(each)[0];
      if (each.type == 'E') return field(each, 'C');
    }
    return std::string();
  };
  EXPECT_EQ(next(), "1");
  control.ask(query("drop sequence seq_test"));
  EXPECT_EQ(next(), "42P01");
  control.ask(query("create sequence seq_test start 70"));
  EXPECT_EQ(next(), "70");
}

}  // namespace
}  // namespace pgsilo::protocol_test
