// Foreign keys between sessions: who waits for whom, and that no row is left that refers to
// nothing. What one session sees: tests/sql/foreign_keys.slt.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "tests/protocol/crowd.h"
#include "tests/protocol/monitoring_support.h"
#include "tests/protocol/raw_client.h"

namespace pgsilo::protocol_test {
namespace {

const std::string levels[] = {"read committed", "serializable"};

class ForeignKeyTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (RawClient* client : {&one, &other, &third}) client->start();
    drop();
    ask("create table fk_parent (id int primary key, code int unique, v int)");
    ask("create table fk_child (id int primary key, pid int references fk_parent)");
    ask("insert into fk_parent select i, 100 + i, 0 from generate_series(1, 9) i");
  }
  void TearDown() override {
    for (RawClient* client : {&one, &other, &third}) client->ask(query("rollback"));
    drop();
  }
  void drop() { ask("drop table if exists fk_weak, fk_child, fk_parent"); }
  void ask(const std::string& sql) { EXPECT_EQ(one.ask(query(sql)).substr(0, 1), "C") << sql; }
  void ask_in_block(RawClient& client, const std::string& level, const std::string& sql) {
    client.ask(query("begin isolation level " + level));
    EXPECT_EQ(client.ask(query(sql)), "CZT") << sql;
  }
  void ask_alone(const std::string& sql) {
    EXPECT_TRUE(other.ask(query(sql)).ends_with("CZI")) << sql;
  }
  std::string orphans(const std::string& child = "fk_child") {
    return one.column("select count(*) from " + child +
                      " c where pid is not null and not exists (select 1 from fk_parent p where "
                      "p.id = c.pid)");
  }

  RawClient one, other, third;
};

TEST_F(ForeignKeyTest, WhoTakesAParentAwayWaitsForWhoRefersToIt) {
  for (const std::string& level : levels) {
    for (std::string change :
         {"delete from fk_parent where id = 1", "update fk_parent set id = 50 where id = 1"}) {
      for (bool commits : {true, false}) {
        ask("delete from fk_child");
        ask_in_block(one, level, "insert into fk_child values (1, 1)");
        other.send(query(change));
        EXPECT_TRUE(other.is_silent()) << change;
        one.ask(query(commits ? "commit" : "rollback"));
        EXPECT_EQ(summary(other.read_answer()), commits ? "E(23503)ZI" : "CZI") << change;
        EXPECT_EQ(orphans(), "0 ");
        ask("update fk_parent set id = 1 where id = 50");
        ask("insert into fk_parent values (1, 101, 0) on conflict do nothing");
      }
    }
  }
}

TEST_F(ForeignKeyTest, WhoRefersWaitsForWhoTakesTheParentAway) {
  for (const std::string& level : levels) {
    for (bool in_block : {false, true}) {
      for (bool commits : {true, false}) {
        ask_in_block(one, level, "delete from fk_parent where id = 1");
        if (in_block) other.ask(query("begin isolation level " + level));
        other.send(query("insert into fk_child values (1, 1)"));
        EXPECT_TRUE(other.is_silent());
        EXPECT_EQ(one.ask(query(commits ? "commit" : "rollback")), "CZI");
        std::string end = in_block ? (commits ? "ZE" : "ZT") : "ZI";
        std::string answer = summary(other.read_answer());
        // PostgreSQL's SERIALIZABLE says the one where ours says the other.
        if (answer != "E(40001)ZE" || level != "serializable") {
          EXPECT_EQ(answer, (commits ? "E(23503)" : "C") + end);
        }
        other.ask(query("rollback"));
        EXPECT_EQ(orphans(), "0 ");
        ask("delete from fk_child");
        ask("insert into fk_parent values (1, 101, 0) on conflict do nothing");
      }
    }
  }
}

TEST_F(ForeignKeyTest, OtherColumnsOfAParentMayChangeMeanwhile) {
  for (const std::string& level : levels) {
    ask("delete from fk_child");
    ask_in_block(one, level, "update fk_parent set v = v + 1 where id = 1");
    EXPECT_EQ(other.ask(query("insert into fk_child values (1, 1)")), "CZI");
    ask_in_block(other, level, "insert into fk_child values (2, 1)");
    EXPECT_EQ(one.ask(query("commit")), "CZI");
    EXPECT_EQ(third.ask(query("update fk_parent set v = v + 1 where id = 1")), "CZI");
    EXPECT_EQ(other.ask(query("insert into fk_child values (3, 1)")), "CZT");
    EXPECT_EQ(other.ask(query("commit")), "CZI");
  }
}

TEST_F(ForeignKeyTest, AForUpdateOfTheParentHoldsOffWhoWouldRefer) {
  one.ask(query("begin"));
  EXPECT_EQ(one.column("select id from fk_parent where id = 1 for update"), "1 ");
  other.send(query("insert into fk_child values (1, 1)"));
  EXPECT_TRUE(other.is_silent());
  EXPECT_EQ(third.ask(query("insert into fk_child values (2, 2)")), "CZI");
  one.ask(query("commit"));
  EXPECT_EQ(summary(other.read_answer()), "CZI");
}

TEST_F(ForeignKeyTest, WhatIsNotCommittedCannotBeReferredTo) {
  ask_in_block(one, "read committed", "insert into fk_parent values (20, 120, 0)");
  EXPECT_EQ(other.ask(query("insert into fk_child values (1, 20)")), "E(23503)ZI");
  other.ask(query("begin isolation level read committed"));
  EXPECT_EQ(other.ask(query("insert into fk_child values (1, 20)")), "E(23503)ZE");
  EXPECT_EQ(one.ask(query("insert into fk_child values (1, 20)")), "CZT");
  EXPECT_EQ(one.ask(query("commit")), "CZI");
}

TEST_F(ForeignKeyTest, AUniqueKeyThatIsNotThePrimaryOneIsGuardedAsWell) {
  ask("create table fk_weak (id int primary key, code int references fk_parent (code))");
  for (const std::string& level : levels) {
    ask("delete from fk_weak");
    ask_in_block(one, level, "insert into fk_weak values (1, 101)");
    EXPECT_EQ(third.ask(query("update fk_parent set v = v + 1 where id = 1")), "CZI");
    other.send(query("update fk_parent set code = 999 where id = 1"));
    EXPECT_TRUE(other.is_silent());
    EXPECT_EQ(one.ask(query("commit")), "CZI");
    EXPECT_EQ(summary(other.read_answer()), "E(23503)ZI");
    ask_in_block(one, level, "update fk_parent set code = 999 where id = 2");
    other.send(query("insert into fk_weak values (2, 102)"));
    EXPECT_TRUE(other.is_silent());
    EXPECT_EQ(one.ask(query("commit")), "CZI");
    EXPECT_EQ(summary(other.read_answer()), "E(23503)ZI");
    ask("update fk_parent set code = 102 where id = 2");
  }
}

TEST_F(ForeignKeyTest, ARowThatIsAboutToGoIsWaitedFor) {
  ask("insert into fk_child values (1, 1)");
  for (const std::string& level : levels) {
    ask_in_block(one, level, "delete from fk_child where id = 1");
    other.send(query("delete from fk_parent where id = 1"));
    EXPECT_TRUE(other.is_silent());
    EXPECT_EQ(one.ask(query("commit")), "CZI");
    EXPECT_EQ(summary(other.read_answer()), "CZI");
    ask("insert into fk_parent values (1, 101, 0)");
    ask("insert into fk_child values (1, 1)");
  }
}

TEST_F(ForeignKeyTest, ADeferredCheckThatFailsEndsTheTransaction) {
  ask("alter table fk_child alter constraint fk_child_pid_fkey deferrable initially deferred");
  ask_in_block(one, "serializable", "insert into fk_child values (1, 77)");
  EXPECT_EQ(one.ask(query("commit")), "E(23503)ZI");
  EXPECT_EQ(one.ask(query("insert into fk_child values (1, 77)")), "E(23503)ZI");
  EXPECT_EQ(one.column("select count(*) from fk_child"), "0 ");
  // The parent may go and come back; who refers to it meanwhile waits.
  ask("insert into fk_child values (1, 1)");
  ask_in_block(one, "read committed", "delete from fk_parent where id = 1");
  other.send(query("insert into fk_child values (2, 1)"));
  EXPECT_TRUE(other.is_silent());
  EXPECT_EQ(one.ask(query("insert into fk_parent values (1, 101, 0)")), "CZT");
  EXPECT_EQ(one.ask(query("commit")), "CZI");
  std::string answer = summary(other.read_answer());
  // To PostgreSQL the row that it waited for is gone, and the one that came is another.
  EXPECT_TRUE(answer == "CZI" || answer == "E(23503)ZI") << answer;
}

// The row that refers gets another key while it is waited for: it was behind the scan, and is
// before it now.
TEST_F(ForeignKeyTest, ARowThatMovesWhileItIsLookedForIsFound) {
  ask("insert into fk_child values (5, 1)");
  for (std::string index : {"select 1", "create index on fk_child (pid)"}) {
    one.ask(query(index));
    for (const std::string& level : levels) {
      ask_in_block(one, level, "update fk_child set id = 0 where id = 5");
      other.send(query("delete from fk_parent where id = 1"));
      EXPECT_TRUE(other.is_silent());
      EXPECT_EQ(one.ask(query("commit")), "CZI");
      EXPECT_EQ(summary(other.read_answer()), "E(23503)ZI");
      ask("update fk_child set id = 5 where id = 0");
    }
  }
}

// A one-shot that cannot run again any more has locked nothing so far.
TEST_F(ForeignKeyTest, WhatAPipelineRefersToIsLockedWhenItsAnswerBeginsToLeave) {
  for (const std::string& level : levels) {
    one.ask(query("set default_transaction_isolation = '" + level + "'"));
    one.send(parse("", "insert into fk_child values (1, 1) returning id") + bind("", "") +
             execute() + flush());
    while (one.read().type != 'C') {
    }
    if (!runs_on_postgres()) {  // which locks rows in the rows
      EXPECT_EQ(third.column("select locktype, mode from pg_locks where relation = "
                             "'fk_parent'::regclass and locktype = 'tuple'"),
                "tuple ");
    }
    other.ask(query("set default_transaction_isolation = '" + level + "'"));
    other.send(query("delete from fk_parent where id = 1"));
    EXPECT_TRUE(other.is_silent());
    one.send(sync());
    EXPECT_EQ(summary(one.read_answer()), "ZI");
    EXPECT_EQ(summary(other.read_answer()), "E(23503)ZI");
    ask("delete from fk_child");
  }
}

TEST_F(ForeignKeyTest, ADeferredCheckThatFailsAtSyncIsAnswered) {
  ask("alter table fk_child alter constraint fk_child_pid_fkey deferrable initially deferred");
  EXPECT_EQ(
      one.ask(parse("", "insert into fk_child values (1, 77)") + bind("", "") + execute() + sync()),
      "12CE(23503)ZI");
  EXPECT_EQ(one.ask(query("select 1")), "TDCZI");
}

// Who has a table to itself changes it without locking rows.
TEST_F(ForeignKeyTest, NobodyHasATableToHimselfThatACopyRefersTo) {
  one.ask(query("set default_transaction_isolation = 'read committed'"));
  one.send(query("copy fk_child from stdin"));
  EXPECT_EQ(one.read().type, 'G');
  one.send(message('d', "1\t1\n"));
  EXPECT_TRUE(one.is_silent());
  other.ask(query("begin"));
  other.ask(query("set lock_timeout = '200ms'"));
  std::string altered = other.ask(query("alter table fk_parent add column z int"));
  EXPECT_EQ(altered, "E(55P03)ZE");  // it waits for who has referred to a row there
  other.ask(query("rollback"));
  one.send(message('c', ""));
  EXPECT_EQ(summary(one.read_answer()), "CZI");
}

// Of what cannot run again, as TRUNCATE in its block has it: the look at its end counts, not the
// one that found none before.
TEST_F(ForeignKeyTest, AParentMayAppearBeforeAnInsertOfReadCommittedEnds) {
  one.ask(query("begin isolation level read committed"));
  EXPECT_EQ(one.ask(query("truncate fk_child")), "CZT");
  while_paused(
      one,
      query("insert into fk_child select i, 10 from generate_series(1, 5) i where i < 3 or " +
            pause + " is not null"),
      [this] { ask_alone("insert into fk_parent values (10, 10, 0)"); });
  EXPECT_EQ(summary(one.read_answer()), "CZT");
  EXPECT_EQ(one.ask(query("commit")), "CZI");
  EXPECT_EQ(orphans(), "0 ");
}

// The same. It stays, or is there for a moment only.
TEST_F(ForeignKeyTest, AParentMayAppearBeforeACopyOfReadCommittedEnds) {
  for (bool stays : {true, false}) {
    one.ask(query("begin isolation level read committed"));
    one.send(query("copy fk_child from stdin"));
    EXPECT_EQ(one.read().type, 'G');
    one.send(message('d', "1\t10\n"));
    EXPECT_TRUE(one.is_silent());
    ask_alone("insert into fk_parent values (10, 10, 0)");
    if (!stays) ask_alone("delete from fk_parent where id = 10");
    one.send(message('c', ""));
    EXPECT_EQ(summary(one.read_answer()), stays ? "CZT" : "E(23503)ZE");
    one.ask(query("rollback"));
    other.ask(query("delete from fk_parent where id = 10"));
  }
}

// What one of several clients does next: children come and parents go, in blocks and alone, at both
// levels.
class Changes {
 public:
  explicit Changes(unsigned client) : client_(client), state_(client * 7919 + 1) {}
  // One query, or the three of a block.
  std::vector<std::string> next() {
    if (random(2) == 0) return {one()};
    std::string begin = "begin isolation level " + levels[random(2)];
    return {begin, one(), "commit"};
  }

 private:
  unsigned random(unsigned below) {
    state_ = state_ * 1664525 + 1013904223;
    return state_ / 65536 % below;
  }
  std::string one() {
    std::string id = std::to_string(1 + random(3));
    std::string table = random(2) == 0 ? "fk_child" : "fk_weak";
    switch (random(4)) {
      case 0:
        return "delete from fk_parent where id = " + id;
      case 1:
        return "insert into fk_parent values (" + id + ") on conflict do nothing";
      case 2:
        return "delete from " + table + " where pid = " + id;
      default:
        return "insert into " + table + " values (" + std::to_string(1000000 * client_ + ++last_) +
               ", " + id + ")";
    }
  }

  unsigned client_;
  unsigned state_;
  unsigned last_ = 0;
};

TEST_F(ForeignKeyTest, NoRowIsEverLeftThatRefersToNothing) {
  ask("create table fk_weak (id int primary key, pid int references fk_parent on delete cascade)");
  constexpr unsigned clients = 6;
  constexpr int rounds = 40, batch = 25;
  std::atomic<int> refused = 0;
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < clients; ++i) {
    threads.emplace_back([&, i] {
      RawClient client;
      client.start();
      Changes changes(i);
      for (int round = 0; round < rounds; ++round) {
        std::vector<std::vector<std::string>> sent;
        std::string bytes;
        for (int j = 0; j < batch; ++j) {
          for (const std::string& each : sent.emplace_back(changes.next())) bytes += query(each);
        }
        client.send(bytes);
        for (const std::vector<std::string>& queries : sent) {
          bool may_conflict = queries[0].ends_with("serializable");
          for (const std::string& each : queries) {
            std::vector<Message> messages = client.read_answer();
            std::string answer = summary(messages);
            bool is_refused = answer.starts_with("E(23503)");
            refused += is_refused ? 1 : 0;
            bool is_conflict =
                answer.starts_with("E(40P01)") || (may_conflict && answer.starts_with("E(40001)"));
            EXPECT_TRUE(answer.starts_with("C") || is_refused || is_conflict)
                << each << ": " << answer << " " << field(messages[0], 'M');
          }
        }
      }
    });
  }
  for (int i = 0; i < 40; ++i) {
    EXPECT_EQ(orphans(), "0 ");
    EXPECT_EQ(orphans("fk_weak"), "0 ");
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(orphans(), "0 ");
  EXPECT_EQ(orphans("fk_weak"), "0 ");
  EXPECT_GT(refused, 0);
}

TEST_F(ForeignKeyTest, AConstraintIsAddedAndValidatedBesideWriters) {
  ask("alter table fk_child drop constraint fk_child_pid_fkey");
  std::atomic<bool> stop = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&, i] {
      RawClient client;
      client.start();
      for (int round = 0; !stop; ++round) {
        std::string own = std::to_string(1 + 100000 * i + round);
        client.ask(query("insert into fk_child values (" + own + ", " +
                         std::to_string(1 + round % 12) + ")"));
      }
    });
  }
  RawClient owner;
  owner.start();
  EXPECT_EQ(owner.ask(query("alter table fk_child add constraint late foreign key (pid) references "
                            "fk_parent not valid")),
            "CZI");
  EXPECT_EQ(owner.ask(query("insert into fk_child values (-1, 12)")), "E(23503)ZI");
  // Children of missing parents from before are there, most likely; then they are found.
  bool has_orphans = owner.column("select count(*) from fk_child where pid > 9") != "0 ";
  EXPECT_EQ(owner.ask(query("alter table fk_child validate constraint late")),
            has_orphans ? "E(23503)ZI" : "CZI");
  EXPECT_EQ(owner.ask(query("delete from fk_child where pid > 9")), "CZI");
  EXPECT_EQ(owner.ask(query("alter table fk_child validate constraint late")), "CZI");
  EXPECT_EQ(owner.column("select convalidated from pg_constraint where conname = 'late'"), "t ");
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(orphans(), "0 ");
}

// What refers to the first parent has gone; nothing new may come while that of the others goes.
TEST_F(ForeignKeyTest, WhoCascadesHoldsOffNewReferences) {
  ask("drop table fk_child");
  ask("create table fk_weak (id int primary key, pid int references fk_parent on delete cascade)");
  ask("insert into fk_weak select i, 9 from generate_series(1, 20000) i");
  for (int i = 0; i < 40; ++i) {
    one.send(query("delete from fk_parent where id < 9"));
    std::this_thread::sleep_for(std::chrono::microseconds(400 * i));
    other.ask(query("insert into fk_weak values (-1, 1)"));
    EXPECT_EQ(one.answer(), "CZI");
    EXPECT_EQ(orphans("fk_weak"), "0 ");
    ask("delete from fk_weak where id = -1");
    ask("insert into fk_parent select i, 100 + i, 0 from generate_series(1, 8) i");
  }
}

// The scan for children is beaten round for round: then writers have to wait.
TEST_F(ForeignKeyTest, WritersThatNeverStopDoNotKeepAParent) {
  if (runs_on_postgres()) GTEST_SKIP() << "it takes no such lock";
  ask("insert into fk_child select i, 1 from generate_series(1, 100000) i");
  Crowd crowd(8, [](RawClient& client, int index) {
    std::string row = std::to_string(100 + 5000 * index);
    EXPECT_EQ(client.ask(query("update fk_child set pid = 3 - pid where id = " + row)), "CZI");
  });
  bool has_locked = false;
  for (int i = 0; i < 100 && !has_locked && !HasFailure(); ++i) {
    crowd.await(10);
    ask_in_block(one, "serializable", "delete from fk_parent where id = 9");
    has_locked = one.first_value(
                     "select count(*) from pg_locks where mode = 'ShareRowExclusiveLock' and "
                     "relation = 'fk_child'::regclass and granted") == "1";
    one.ask(query("rollback"));
  }
  EXPECT_TRUE(has_locked);
}

// Behind the scan and then before it: in our server a row that is not checked cannot move.
TEST_F(ForeignKeyTest, NoRowEscapesValidation) {
  ask("alter table fk_child drop constraint fk_child_pid_fkey");
  ask("insert into fk_child select i, 1 from generate_series(1, 20000) i");
  ask("insert into fk_child values (30000, 77)");
  ask("alter table fk_child add constraint late foreign key (pid) references fk_parent not valid");
  Crowd mover(1, [](RawClient& client, int) {
    std::string said =
        client.ask(query("update fk_child set id = -id where id in (-30000, 30000)"));
    EXPECT_EQ(said, runs_on_postgres() ? "CZI" : "E(23503)ZI");
  });
  for (int i = 0; i < 30; ++i) {
    mover.await(2);
    EXPECT_EQ(other.ask(query("alter table fk_child validate constraint late")), "E(23503)ZI");
  }
}

// A COMMIT that looks for rows that refer, through more of them than a long read waits for before
// it goes on at a snapshot.
TEST_F(ForeignKeyTest, ACommitThatReadsMuch) {
  ask("create table fk_weak (id int primary key, pid int references fk_parent deferrable "
      "initially deferred)");
  ask("insert into fk_weak select i, 1 from generate_series(1, 150000) i");
  for (const char* end : {"set constraints all immediate", "commit"}) {
    ask_in_block(one, "read committed", "insert into fk_weak values (0, 1)");
    EXPECT_EQ(one.ask(query("delete from fk_parent where id in (2, 3)")), "CZT");
    EXPECT_EQ(one.ask(query("select 1")), "TDCZT");
    EXPECT_EQ(one.ask(query(end)), *end == 'c' ? "CZI" : "CZT");
    one.ask(query("rollback"));
  }
  EXPECT_EQ(orphans("fk_weak"), "0 ");
}

}  // namespace
}  // namespace pgsilo::protocol_test
