// Sessions go to the worker with least to do, and from one to another where much is to do; whatever
// a client has set up stays as it is. In a server with session_balancing = always
// (`protocol_moving`) each transaction of these tests, as of all others, is on another worker than
// the one before.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/protocol/session_move_support.h"

namespace pgsilo::protocol_test {
namespace {

TEST_F(SessionMoveTest, SettingsComeAlong) {
  for (const char* set : {"set datestyle to 'German'", "set timezone to 'Asia/Tokyo'",
                          "set application_name to 'mover'", "set my.own to 'value'",
                          "set statement_timeout to '1234ms'"}) {
    ASSERT_EQ(client.ask(query(set)), "CZI") << set;
    go_round();
  }
  EXPECT_EQ(client.column("select date '2001-02-03'"), "03.02.2001 ");
  EXPECT_EQ(client.column("show timezone"), "Asia/Tokyo ");
  EXPECT_EQ(client.column("show my.own"), "value ");
  EXPECT_EQ(client.column("show statement_timeout"), "1234ms ");
  EXPECT_EQ(observer.column(client, "application_name"), "mover");
  EXPECT_EQ(client.ask(query("reset all")), "CZI");
  go_round();
  EXPECT_EQ(client.column("show timezone"), client.column("show timezone"));
  EXPECT_EQ(client.column("select date '2001-02-03'"), "2001-02-03 ");
  EXPECT_EQ(client.column("show my.own"), " ");
}

TEST_F(SessionMoveTest, ItIsTheSameSession) {
  std::string process = std::to_string(client.process);
  std::string begun = observer.column(client, "backend_start");
  go_round();
  EXPECT_EQ(client.column("select pg_backend_pid()"), process + " ");
  EXPECT_EQ(observer.column(client, "backend_start"), begun);
  ASSERT_EQ(client.ask(query("select setseed(0.5)")), "TDCZI");
  std::string first = client.first_value("select random()");
  go_round();
  std::string second = client.first_value("select random()");
  ASSERT_EQ(client.ask(query("select setseed(0.5)")), "TDCZI");
  EXPECT_EQ(client.first_value("select random()"), first);
  EXPECT_EQ(client.first_value("select random()"), second);
}

TEST_F(SessionMoveTest, NobodyElseGetsItsAdvisoryLock) {
  ASSERT_EQ(client.first_value("select pg_try_advisory_lock(77)"), "t");
  stay();
  EXPECT_EQ(observer.client().first_value("select pg_try_advisory_lock(77)"), "f");
  EXPECT_EQ(client.first_value("select pg_advisory_unlock(77)"), "t");
  go_round();
}

// Those that are cached too: nobody else gets them.
TEST_F(SessionMoveTest, ValuesOfSequencesComeAlong) {
  client.ask(query("drop sequence if exists move_test, move_other"));
  ASSERT_EQ(client.ask(query("create sequence move_test cache 10; create sequence move_other")),
            "CCZI");
  RawClient other;
  other.start();
  int before = moves();
  ASSERT_EQ(client.first_value("select nextval('move_test')"), "1");
  ASSERT_EQ(other.first_value("select nextval('move_test')"), "11");
  for (int value = 2; value <= 10; ++value) {
    EXPECT_EQ(client.first_value("select currval('move_test')"), std::to_string(value - 1));
    EXPECT_EQ(client.first_value("select nextval('move_test')"), std::to_string(value));
    EXPECT_EQ(client.first_value("select lastval()"), std::to_string(value));
  }
  EXPECT_EQ(client.first_value("select nextval('move_test')"), "21");
  if (always_) {
    EXPECT_EQ(moves(), before + 29);
  }
  EXPECT_EQ(client.first_value("select nextval('move_other')"), "1");
  go_round();
  EXPECT_EQ(client.first_value("select lastval()"), "1");
  EXPECT_EQ(client.first_value("select setval('move_other', 7)"), "7");
  EXPECT_EQ(client.first_value("select currval('move_other')"), "7");
  EXPECT_EQ(client.first_value("select currval('move_test')"), "21");
  EXPECT_EQ(other.first_value("select nextval('move_test')"), "12");
  EXPECT_EQ(other.first_value("select currval('move_other')"), "55000");
  ASSERT_EQ(client.ask(query("discard sequences")), "CZI");
  EXPECT_EQ(client.first_value("select currval('move_test')"), "55000");
  EXPECT_EQ(client.first_value("select lastval()"), "55000");
  EXPECT_EQ(client.first_value("select nextval('move_test')"), "31");
  client.ask(query("drop sequence move_test, move_other"));
}

// What is cached is of the sequence as it was.
TEST_F(SessionMoveTest, ASequenceMayChangeMeanwhile) {
  client.ask(query("drop sequence if exists move_test"));
  ASSERT_EQ(client.ask(query("create sequence move_test cache 10")), "CZI");
  ASSERT_EQ(client.first_value("select nextval('move_test')"), "1");
  ASSERT_EQ(observer.client().ask(query("alter sequence move_test restart with 100")), "CZI");
  EXPECT_EQ(client.first_value("select currval('move_test')"), "1");
  EXPECT_EQ(client.first_value("select nextval('move_test')"), "100");
  EXPECT_EQ(client.first_value("select nextval('move_test')"), "101");
  // In a block nobody alters what it has used.
  ASSERT_EQ(client.ask(query("begin")), "CZT");
  ASSERT_EQ(client.first_value("select nextval('move_test')"), "102");
  observer.client().ask(query("set lock_timeout to '50ms'"));
  EXPECT_EQ(observer.client().ask(query("alter sequence move_test cycle")), "E(55P03)ZI");
  ASSERT_EQ(client.ask(query("commit")), "CZI");
  ASSERT_EQ(client.ask(query("begin")), "CZT");
  ASSERT_EQ(client.first_value("select nextval('move_test')"), "103");
  EXPECT_EQ(observer.client().ask(query("alter sequence move_test cycle")), "E(55P03)ZI");
  ASSERT_EQ(client.ask(query("commit")), "CZI");
  ASSERT_EQ(observer.client().ask(query("drop sequence move_test")), "CZI");
  EXPECT_EQ(client.first_value("select currval('move_test')"), "42P01");
  EXPECT_EQ(client.first_value("select lastval()"), "55000");
}

TEST_F(SessionMoveTest, ABlockStays) {
  ASSERT_EQ(client.ask(query("begin")), "CZT");
  int before = moves();
  for (int i = 0; i < 3; ++i) ASSERT_EQ(client.ask(query("select 1")), "TDCZT");
  EXPECT_EQ(moves(), before);
  ASSERT_EQ(client.ask(query("commit")), "CZI");
  go_round();
}

TEST_F(SessionMoveTest, WhatWasSentAheadComesAlong) {
  std::string many;
  for (int i = 0; i < 200; ++i) many += query("select " + std::to_string(i));
  client.send(many);
  for (int i = 0; i < 200; ++i) EXPECT_EQ(client.answer(), "TDCZI");
  go_round();
  // A message that is cut in two.
  std::string text = query("select 'a long text', " + std::string(300000, ' ') + "2");
  client.send(text.substr(0, 150000));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  client.send(text.substr(150000) + query("select 1"));
  EXPECT_EQ(client.answer(), "TDCZI");
  EXPECT_EQ(client.answer(), "TDCZI");
}

TEST_F(SessionMoveTest, ItIsFoundByWhoCancelsIt) {
  for (int i = 0; i < 5; ++i) {
    client.send(query("select pg_sleep(30)"));
    observer.await(client, "wait_event = 'PgSleep'");
    EXPECT_EQ(observer.cancel(client), "t");
    EXPECT_EQ(client.answer(), "TE(57014)ZI");
    go_round();
  }
  EXPECT_EQ(observer.terminate(client), "t");
  EXPECT_EQ(client.read().type, 'E');
  observer.await_end(client.process);
}

// --- by load ---

// What a client asks again and again.
struct Asked {
  std::string bytes, answer;
};

class BalanceTest : public SessionMoveTest {
 protected:
  void SetUp() override {
    SessionMoveTest::SetUp();
    if (IsSkipped()) return;
    if (always_) GTEST_SKIP() << "sessions move anyway";
    if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "one worker";
  }
  void heavy_ones_spread(const std::string& prepares, const Asked& heavily);
};

// Of many connections those are heavy that one worker has. Two of them for each worker would be
// best.
void BalanceTest::heavy_ones_spread(const std::string& prepares, const Asked& heavily) {
  std::vector<std::unique_ptr<RawClient>> clients;
  std::vector<RawClient*> heavy, light;
  for (int i = 0; i < 16; ++i) {
    clients.push_back(std::make_unique<RawClient>());
    clients.back()->start();
    bool is_heavy = of(*clients.back(), "worker") == "0" && heavy.size() < 4;
    (is_heavy ? heavy : light).push_back(clients.back().get());
  }
  ASSERT_EQ(heavy.size(), 4u);
  std::atomic<bool> stops = false;
  std::vector<std::thread> threads;
  auto ask = [&](RawClient& session, const Asked& asked, int pause_ms) {
    threads.emplace_back([&session, asked, pause_ms, &stops] {
      while (!stops) {
        ASSERT_EQ(session.ask(asked.bytes), asked.answer);
        if (pause_ms != 0) std::this_thread::sleep_for(std::chrono::milliseconds(pause_ms));
      }
    });
  };
  for (RawClient* each : heavy) {
    each->ask(prepares);
    ask(*each, heavily, 0);
  }
  for (RawClient* each : light) ask(*each, {query("select 1"), "TDCZI"}, 20);
  auto most_on_one = [&] {
    std::map<std::string, int> on;
    for (RawClient* each : heavy) ++on[of(*each, "worker")];
    int most = 0;
    for (const auto& [worker, count] : on) most = std::max(most, count);
    return most;
  };
  EXPECT_EQ(most_on_one(), 4);
  int most = 4;
  for (int round = 0; round < 300 && (most = most_on_one()) > 2; ++round)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_LE(most, 2);
  stops = true;
  for (std::thread& thread : threads) thread.join();
}

TEST_F(BalanceTest, HeavySessionsSpread) {
  heavy_ones_spread(query(""), {query("select count(*) from generate_series(1, 50000)"), "TDCZI"});
}

// As nearly every driver asks.
TEST_F(BalanceTest, HeavyOnesWithPreparedStatementsSpread) {
  heavy_ones_spread(parse("p", "select count(*) from generate_series(1, $1::int)") + sync(),
                    {bind("", "p", {"50000"}) + execute() + sync(), "2DCZI"});
}

TEST_F(BalanceTest, NewOnesGoWhereLessIsToDo) {
  std::string busy = of(client, "worker");
  std::atomic<bool> stops = false;
  std::thread thread([&] {
    while (!stops)
      ASSERT_EQ(client.ask(query("select count(*) from generate_series(1, 200000)")), "TDCZI");
  });
  std::vector<std::unique_ptr<RawClient>> clients;
  int elsewhere = 0;
  for (int i = 0; i < 2; ++i) {
    // What a session does as it begins is work, too: it is forgotten before the next one comes.
    std::this_thread::sleep_for(std::chrono::milliseconds(600));
    clients.push_back(std::make_unique<RawClient>());
    clients.back()->start();
    elsewhere += of(*clients.back(), "worker") != busy;
  }
  stops = true;
  thread.join();
  EXPECT_EQ(elsewhere, 2);
}

}  // namespace
}  // namespace pgsilo::protocol_test
