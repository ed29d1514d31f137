// Objects of which a session may have any number: kept while there is room, and gone with it.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>

#include "tests/memory/memory_limit_support.h"
#include "tests/protocol/raw_client.h"

namespace pgsilo::memory_test {
namespace {

TEST_F(MemoryLimitTest, PortalsAreKeptWhileThereIsRoom) {
  protocol_test::RawClient other;
  other.start();
  ASSERT_EQ(other.ask(protocol_test::query("begin")), "CZT");
  other.send(protocol_test::parse("", "select generate_series(1, 10)"));
  std::string state;
  for (int portal = 0; state.empty() && portal < 1000000; portal += 1000) {
    std::string bytes;
    for (int i = portal; i < portal + 1000; ++i) {
      std::string name = "p" + std::to_string(i);
      bytes += protocol_test::bind(name, "", {}) + protocol_test::execute(name, 1);
    }
    other.send(bytes + protocol_test::sync());
    std::string said = other.answer();
    if (said.ends_with("ZE")) state = said.substr(said.size() - 10);
  }
  EXPECT_EQ(state, "E(53200)ZE");
  EXPECT_GT(free_bytes(), -(44 << 20));
  EXPECT_EQ(other.ask(protocol_test::query("rollback")), "CZI");
  EXPECT_TRUE(comes_true([this] { return free_bytes() > free_at_begin_ - (16 << 20); }));
}

TEST_F(MemoryLimitTest, SavepointsAreKeptWhileThereIsRoom) {
  Client other;
  EXPECT_EQ(other.run("begin"), "");
  std::string many;
  for (int i = 0; i < 2000; ++i) many += "savepoint a;";
  std::string state;
  for (int i = 0; state.empty() && i < 500; ++i) state = other.run(many);
  EXPECT_EQ(state, "53200");
  EXPECT_GT(free_bytes(), -(44 << 20));
  EXPECT_EQ(other.run("rollback"), "");
  EXPECT_TRUE(comes_true([this] { return free_bytes() > free_at_begin_ - (16 << 20); }));
}

TEST_F(MemoryLimitTest, AdvisoryLocksAreKeptWhileThereIsRoom) {
  {
    Client other;
    EXPECT_EQ(other.run("select pg_advisory_lock(g) from generate_series(1, 4000000) g"), "53200");
    EXPECT_GT(free_bytes(), -(44 << 20));
    EXPECT_EQ(other.run("select pg_advisory_unlock_all()"), "");
    EXPECT_TRUE(comes_true([this] { return free_bytes() > free_at_begin_ - (8 << 20); }));
    EXPECT_EQ(other.run("select count(pg_advisory_lock(g)) from generate_series(1, 200000) g"), "");
    EXPECT_LT(free_bytes(), free_at_begin_ - (20 << 20));
    for (int first = 1; first <= 200000; first += 1000)
      EXPECT_EQ(other.run("select count(pg_advisory_unlock(g)) from generate_series(" +
                          std::to_string(first) + ", " + std::to_string(first + 999) + ") g"),
                "");
    EXPECT_TRUE(comes_true([this] { return free_bytes() > free_at_begin_ - (8 << 20); }));
    EXPECT_EQ(other.run("select count(pg_advisory_lock(g)) from generate_series(1, 200000) g"), "");
  }
  EXPECT_TRUE(comes_true([this] { return free_bytes() > free_at_begin_ - (8 << 20); }));
}

// What the oldest reader keeps is not freed by ending another one, and a statement is never ended.
TEST_F(MemoryLimitTest, NobodyIsEndedForWhatAStatementKeeps) {
  ASSERT_EQ(fill(client), "53200");
  Client reader, idle;
  ASSERT_EQ(PQsendQuery(reader.connection(), "select id, pg_sleep(600) from filled where id = 1"),
            1);
  EXPECT_TRUE(comes_true([this] {
    return client.number("select count(*) from pg_stat_activity where wait_event = 'PgSleep'") == 1;
  }));
  EXPECT_EQ(idle.run("begin"), "");
  EXPECT_EQ(idle.number("select count(*) from filled where id = 1"), 1);
  remove_half(client);
  EXPECT_EQ(ended_while_refused(), 0);
  EXPECT_EQ(idle.run("select 1"), "");
  EXPECT_EQ(client.run("select pg_cancel_backend(pid) from pg_stat_activity where wait_event = "
                       "'PgSleep'"),
            "");
  EXPECT_EQ(reader.result(), "57014");
  EXPECT_TRUE(inserts_again(client));
  EXPECT_NE(idle.run("select 1"), "");
}

TEST_F(MemoryLimitTest, ASessionThatKeepsOneAdvisoryLockGivesBackWhatTheOthersTook) {
  Client other;
  EXPECT_EQ(other.run("select pg_advisory_lock(0)"), "");
  EXPECT_EQ(other.run("begin"), "");
  EXPECT_EQ(other.run("select count(pg_advisory_xact_lock(g)) from generate_series(1, 200000) g"),
            "");
  EXPECT_EQ(other.run("commit"), "");
  EXPECT_TRUE(comes_true([this] { return free_bytes() > free_at_begin_ - (4 << 20); }));
}

TEST_F(MemoryLimitTest, ReleasedSavepointsKeepNoSettings) {
  Client other;
  EXPECT_EQ(other.run("begin"), "");
  std::string state;
  for (int i = 0; state.empty() && i < 2000; ++i) {
    state = other.run("savepoint a; set local my.key = '" + std::to_string(i) +
                      std::string(200000, 'x') + "'; release a");
  }
  EXPECT_EQ(state, "");
  EXPECT_GT(free_bytes(), free_at_begin_ - (8 << 20));
  EXPECT_EQ(other.run("rollback"), "");
}

// Until an answer ends in an error or so many were asked for; the answer's end.
std::string bind_many(protocol_test::RawClient& client, int most,
                      const std::function<std::string(const std::string&)>& messages_for) {
  std::string end;
  for (int portal = 0; !end.ends_with("ZE") && portal < most; portal += 10) {
    std::string bytes;
    for (int i = portal; i < portal + 10; ++i) bytes += messages_for("p" + std::to_string(i));
    client.send(bytes + protocol_test::sync());
    std::string said = client.answer();
    end = said.substr(said.size() - std::min<size_t>(said.size(), 10));
  }
  return end;
}

TEST_F(MemoryLimitTest, PortalsAskForTheirParameters) {
  const std::string parameter(240000, 'x');
  auto bind = [&](const std::string& name) { return protocol_test::bind(name, "s", {parameter}); };
  protocol_test::RawClient other;
  other.start();
  for (int round = 0; round < 2; ++round) {
    ASSERT_EQ(other.ask(protocol_test::query("begin")), "CZT");
    if (round == 0) other.ask(protocol_test::parse("s", "select $1::text") + protocol_test::sync());
    EXPECT_EQ(bind_many(other, 3000, bind), "E(53200)ZE");
    EXPECT_GT(free_bytes(), -(44 << 20));
    EXPECT_EQ(other.ask(protocol_test::query("rollback")), "CZI");
    EXPECT_TRUE(comes_true([this] { return free_bytes() > free_at_begin_ - (16 << 20); }));
  }
}

TEST_F(MemoryLimitTest, PortalsAskForStatementsThatOnlyTheyKeep) {
  const std::string comment(240000, 'x');
  protocol_test::RawClient other;
  other.start();
  ASSERT_EQ(other.ask(protocol_test::query("begin")), "CZT");
  EXPECT_EQ(bind_many(other, 3000,
                      [&](const std::string& name) {
                        return protocol_test::parse("", "select 1 /*" + name + comment + "*/") +
                               protocol_test::bind(name, "");
                      }),
            "E(53200)ZE");
  EXPECT_GT(free_bytes(), -(44 << 20));
  EXPECT_EQ(other.ask(protocol_test::query("rollback")), "CZI");
  EXPECT_TRUE(comes_true([this] { return free_bytes() > free_at_begin_ - (16 << 20); }));
}

// What SQL's EXECUTE runs comes when the portal is run.
TEST_F(MemoryLimitTest, PortalsOfExecuteAskForItsParameters) {
  using protocol_test::execute, protocol_test::parse, protocol_test::query;
  protocol_test::RawClient other;
  other.start();
  const char* prepare = "prepare q(text) as select g from generate_series(1, 3) g where $1 <> ''";
  ASSERT_EQ(other.ask(query(prepare)), "CZI");
  ASSERT_EQ(other.ask(parse("s", "execute q(repeat('x', 240000))") + parse("t", "execute s") +
                      protocol_test::sync()),
            "11ZI");
  for (const std::string statement : {"s", "t"}) {
    ASSERT_EQ(other.ask(query("begin")), "CZT");
    EXPECT_EQ(bind_many(other, 3000,
                        [&](const std::string& name) {
                          return protocol_test::bind(name, statement) + execute(name, 1);
                        }),
              "E(53200)ZE");
    EXPECT_GT(free_bytes(), -(44 << 20));
    EXPECT_EQ(other.ask(query("rollback")), "CZI");
    EXPECT_TRUE(comes_true([this] { return free_bytes() > free_at_begin_ - (16 << 20); }));
  }
}

TEST_F(MemoryLimitTest, PortalsOfExecuteAskForStatementsThatOnlyTheyKeep) {
  using protocol_test::execute, protocol_test::parse, protocol_test::query;
  const std::string comment(100000, 'x');  // short enough for Parse not to ask
  protocol_test::RawClient other;
  other.start();
  const std::string close = protocol_test::close_message('S', "q");
  ASSERT_EQ(other.ask(parse("q", "select 1") + parse("s", "execute q") + close + query("begin")),
            "113CZT");
  auto messages = [&](const std::string& name) {
    return parse("q", "select 1 /*" + name + comment + "*/") + protocol_test::bind(name, "s") +
           execute(name, 1) + close;
  };
  EXPECT_EQ(bind_many(other, 3000, messages), "E(53200)ZE");
  EXPECT_GT(free_bytes(), -(44 << 20));
  EXPECT_EQ(other.ask(query("rollback")), "CZI");
  EXPECT_TRUE(comes_true([this] { return free_bytes() > free_at_begin_ - (16 << 20); }));
}

// In the midst of a statement, too, a client may do nothing for ever.
TEST_F(MemoryLimitTest, WhoDoesNotReadItsAnswerMakesRoom) {
  ASSERT_EQ(fill(client), "53200");
  protocol_test::RawClient other;
  other.start();
  ASSERT_EQ(other.ask(protocol_test::query("begin isolation level repeatable read; "
                                           "select count(*) from filled")),
            "CTDCZT");
  other.send(protocol_test::query("select payload from filled"));
  ASSERT_TRUE(comes_true(
      [&] { return waits(other.process, "state = 'active' and wait_event = 'ClientWrite'"); }));
  remove_half(client);
  // What the trees have free of that is not enough.
  for (int wanted = rows + rows / 4; rows < wanted;) ASSERT_TRUE(inserts_again(client));
  EXPECT_FALSE(waits(other.process, "pin_start is not null"));
}

TEST_F(MemoryLimitTest, WhoSendsNothingOfACopyMakesRoom) {
  must("create table filled_too (id int)");
  ASSERT_EQ(fill(client), "53200");
  protocol_test::RawClient other;
  other.start();
  ASSERT_EQ(other.ask(protocol_test::query("begin; select count(*) from filled")), "CTDCZT");
  other.send(protocol_test::query("copy filled_too from stdin"));
  EXPECT_EQ(other.read().type, 'G');
  EXPECT_TRUE(comes_true(
      [&] { return waits(other.process, "state = 'active' and wait_event = 'ClientRead'"); }));
  remove_half(client);
  ASSERT_TRUE(inserts_again(client));
  EXPECT_EQ(protocol_test::field(other.read(), 'C'), "53200");
  EXPECT_EQ(other.read().type, '\0');
}

// Who waits for a lock keeps memory until those are done for whom it waits.
TEST_F(MemoryLimitTest, NobodyIsEndedForWhatKeepsWhoWaitsForAStatement) {
  must("create table filled_too as select 1 id");
  ASSERT_EQ(fill(client), "53200");
  Client holder, waiter, idle;
  EXPECT_EQ(waiter.run("begin isolation level repeatable read"), "");
  EXPECT_EQ(waiter.number("select count(*) from filled where id = 1"), 1);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(idle.run("begin isolation level repeatable read"), "");
  EXPECT_EQ(idle.number("select count(*) from filled where id = 1"), 1);
  EXPECT_EQ(holder.run("begin; select id from filled_too for update"), "");
  ASSERT_EQ(PQsendQuery(holder.connection(), "select pg_sleep(600)"), 1);
  ASSERT_EQ(PQsendQuery(waiter.connection(), "select id from filled_too for update"), 1);
  EXPECT_TRUE(comes_true([&] { return waits(waiter.connection(), "wait_event_type = 'Lock'"); }));
  remove_half(client);
  EXPECT_EQ(ended_while_refused(), 0);
  EXPECT_EQ(idle.run("select 1"), "");
  // It idles then, and is the one to end; and then the one that waited for it.
  EXPECT_EQ(client.run("select pg_cancel_backend(" +
                       std::to_string(PQbackendPID(holder.connection())) + ")"),
            "");
  EXPECT_EQ(holder.result(), "57014");
  EXPECT_TRUE(inserts_again(client));
  EXPECT_NE(idle.run("select 1"), "");
}

TEST_F(MemoryLimitTest, WhoIdlesAndHoldsWhatTheOldestWaitsForMakesRoom) {
  must("create table filled_too as select 1 id");
  ASSERT_EQ(fill(client), "53200");
  Client holder, waiter;
  EXPECT_EQ(waiter.run("begin isolation level repeatable read"), "");
  EXPECT_EQ(waiter.number("select count(*) from filled where id = 1"), 1);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(holder.run("begin; select id from filled_too for update"), "");
  ASSERT_EQ(PQsendQuery(waiter.connection(), "select id from filled_too for update"), 1);
  EXPECT_TRUE(comes_true([&] { return waits(waiter.connection(), "wait_event_type = 'Lock'"); }));
  remove_half(client);
  EXPECT_TRUE(inserts_again(client));
  EXPECT_NE(holder.run("select 1"), "");
}

}  // namespace
}  // namespace pgsilo::memory_test
