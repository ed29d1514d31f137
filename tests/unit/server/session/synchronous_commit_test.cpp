// Which answers wait for the log and which do not, over a disk that writes nothing for a while.
#include <gtest/gtest.h>
#include <poll.h>

#include <string>

#include "tests/unit/server/server_support.h"

namespace pgsilo {
namespace {

using namespace server_test;

class SynchronousCommitTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string why;
    ASSERT_TRUE(database_.open(&why)) << why;
    database_.start();
    hasty_ = connect_to(directory_);
    careful_ = connect_to(directory_);
    run(careful_, "create table t (a int primary key, b int)");
    run(careful_, "insert into t select i, 0 from generate_series(1, 9) i");
    run(careful_, "create sequence s");
  }
  void TearDown() override {
    disk_.open();
    database_.stop();
  }

  void run(const ConnectionPointer& client, const char* sql) {
    static_cast<void>(ask(client, sql));
  }
  // What is answered while the disk writes nothing: the last tag, the only value or the error.
  std::string ask(const ConnectionPointer& client, const char* sql) {
    EXPECT_EQ(PQsendQuery(client.get(), sql), 1);
    return answer(client, sql);
  }
  // It is not answered: an answer that does not wait comes in much less than this.
  bool waits(const ConnectionPointer& client, const char* sql) {
    EXPECT_EQ(PQsendQuery(client.get(), sql), 1);
    return !is_answered(client, 200);
  }
  // What it is told once the disk goes on.
  std::string told(const ConnectionPointer& client) {
    disk_.open();
    return answer(client, "the disk goes on");
  }

  static bool is_answered(const ConnectionPointer& client, int wait_ms) {
    pollfd state{.fd = PQsocket(client.get()), .events = POLLIN, .revents = 0};
    return poll(&state, 1, wait_ms) == 1;
  }
  std::string answer(const ConnectionPointer& client, const char* sql) {
    std::string text;
    for (;;) {
      while (PQisBusy(client.get()) != 0) {
        if (!is_answered(client, 10'000)) {
          ADD_FAILURE() << "no answer: " << sql;
          disk_.open();
        }
        if (PQconsumeInput(client.get()) != 1) return PQerrorMessage(client.get());
      }
      std::unique_ptr<PGresult, decltype(&PQclear)> result(PQgetResult(client.get()), PQclear);
      if (result == nullptr) return text;
      text = PQntuples(result.get()) == 1 ? PQgetvalue(result.get(), 0, 0)
             : PQresultStatus(result.get()) == PGRES_FATAL_ERROR
                 ? PQresultErrorField(result.get(), PG_DIAG_SQLSTATE)
                 : PQcmdStatus(result.get());
    }
  }

  TestDirectory directory_;
  Gate disk_{Gate::At::write, ".segment"};
  Database database_{settings_in(directory_), directory_.path() + "/data",
                     gated_file_system(disk_)};
  ConnectionPointer hasty_{nullptr, PQfinish};
  ConnectionPointer careful_{nullptr, PQfinish};
};

TEST_F(SynchronousCommitTest, OnWaitsAndOffDoesNot) {
  run(hasty_, "set synchronous_commit = off");
  disk_.close();
  EXPECT_EQ(ask(hasty_, "update t set b = 1 where a = 1"), "UPDATE 1");
  EXPECT_TRUE(waits(careful_, "update t set b = 1 where a = 2"));
  EXPECT_EQ(told(careful_), "UPDATE 1");
}

TEST_F(SynchronousCommitTest, TheOtherValuesWait) {
  for (const char* value : {"on", "local", "remote_write", "remote_apply", "yes"}) {
    run(careful_, (std::string("set synchronous_commit = ") + value).c_str());
    disk_.close();
    EXPECT_TRUE(waits(careful_, "update t set b = b + 1 where a = 2")) << value;
    EXPECT_EQ(told(careful_), "UPDATE 1");
  }
}

TEST_F(SynchronousCommitTest, WhoWaitsDoesSoForWhatHeReads) {
  run(hasty_, "set synchronous_commit = off");
  disk_.close();
  run(hasty_, "update t set b = 1 where a = 1");
  EXPECT_EQ(ask(hasty_, "select b from t where a = 1"), "1");
  EXPECT_EQ(ask(careful_, "select b from t where a = 2"), "0");
  EXPECT_TRUE(waits(careful_, "select b from t where a = 1"));
  EXPECT_EQ(told(careful_), "1");
}

// Errors are answers, too.
TEST_F(SynchronousCommitTest, WhoWaitsDoesSoForWhatAnErrorTells) {
  run(hasty_, "set synchronous_commit = off");
  disk_.close();
  run(hasty_, "insert into t values (10, 0)");
  EXPECT_EQ(ask(hasty_, "insert into t values (10, 0)"), "23505");
  EXPECT_TRUE(waits(careful_, "insert into t values (10, 0)"));
  EXPECT_EQ(told(careful_), "23505");
}

TEST_F(SynchronousCommitTest, LocalValuesCountAtTheEndOfTheirTransaction) {
  disk_.close();
  run(hasty_, "begin");
  run(hasty_, "set local synchronous_commit = off");
  run(hasty_, "update t set b = 1 where a = 1");
  run(hasty_, "commit");
  EXPECT_TRUE(waits(hasty_, "update t set b = 1 where a = 2"));
  EXPECT_EQ(told(hasty_), "UPDATE 1");

  run(hasty_, "set synchronous_commit = off");
  disk_.close();
  run(hasty_, "begin");
  run(hasty_, "update t set b = 2 where a = 1");
  run(hasty_, "set local synchronous_commit = on");
  EXPECT_TRUE(waits(hasty_, "commit"));
  EXPECT_EQ(told(hasty_), "COMMIT");
}

// What was committed without waiting is waited for only by who reads it.
TEST_F(SynchronousCommitTest, LaterAnswersDoNotWaitForItEither) {
  disk_.close();
  run(hasty_, "begin; set local synchronous_commit = off; update t set b = 1 where a = 1; commit");
  EXPECT_EQ(ask(hasty_, "select 1"), "1");
  EXPECT_EQ(ask(hasty_, "select b from t where a = 3"), "0");
  EXPECT_TRUE(waits(hasty_, "select b from t where a = 1"));
  EXPECT_EQ(told(hasty_), "1");
}

TEST_F(SynchronousCommitTest, TheDefinitionsOfTablesAreWaitedFor) {
  run(hasty_, "set synchronous_commit = off");
  for (const char* sql : {"create table u (a int)", "truncate u", "drop table u"}) {
    disk_.close();
    EXPECT_TRUE(waits(hasty_, sql)) << sql;
    EXPECT_NE(told(hasty_).find("TABLE"), std::string::npos);
  }
}

TEST_F(SynchronousCommitTest, ValuesOfSequencesAreAnswersLikeOthers) {
  run(hasty_, "set synchronous_commit = off");
  disk_.close();
  EXPECT_EQ(ask(hasty_, "select nextval('s')"), "1");
  EXPECT_TRUE(waits(careful_, "select nextval('s')"));
  EXPECT_EQ(told(careful_), "2");
}

// flush_after_us of WalOptions: nobody has to ask.
TEST_F(SynchronousCommitTest, WhatNobodyWaitsForReachesTheDiskSoon) {
  run(hasty_, "set synchronous_commit = off");
  disk_.close();
  run(hasty_, "update t set b = 1 where a = 1");
  disk_.wait_until_reached();
}

}  // namespace
}  // namespace pgsilo
