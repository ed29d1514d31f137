// Mistakes of ours inside of a statement: whatever is thrown there ends the statement, is told to
// its client and to the log, and harms nobody else. What is asked of the server's monitor fails as
// the test wants; nothing that a client can send does.
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <stdexcept>
#include <string>
#include <vector>

#include "executor/transaction_status.h"
#include "executor/worker/retry_policy.h"
#include "sql/internal_error.h"
#include "tests/unit/server/server_support.h"

namespace pgsilo {
namespace {

using namespace server_test;

// pg_cancel_backend(n), which acts outside of its transaction and does not run again, and
// pg_blocking_pids(n), which only asks, fail in the n-th way.
class FailingMonitor final : public ServerMonitor {
 public:
  enum Way : int32_t { check = 1, out_of_range, length_error, bad_alloc, number, conflict, slow };

  void fail(int32_t process) const {
    ++calls;
    switch (static_cast<Way>(process)) {
      case check:
        PGSILO_REQUIRE(process != check);
        break;
      case out_of_range:
        static_cast<void>(std::vector<int>().at(5));
        break;
      case length_error:
        throw std::length_error("too long");
      case bad_alloc:
        throw std::bad_alloc();
      case number:
        throw 5;
      case conflict:
        raise_transaction_status(TransactionStatus::conflict_record);
      case slow:
        if (calls == 20) {
          reached.set_value();
          gone.get_future().wait();
        }
        raise_transaction_status(TransactionStatus::conflict_record);
    }
  }
  bool cancel(int32_t process) override {
    fail(process);
    return true;
  }
  bool terminate(int32_t) override { return true; }
  bool has_session(int32_t) const override { return true; }
  std::vector<SessionInfo> sessions() const override { return {}; }
  DatabaseStatistics database_statistics() const override { return {}; }
  std::vector<StatementStatistics> statement_statistics() const override { return {}; }
  void reset_statistics() override {}
  MemoryInfo memory() const override { return {}; }
  LogStatistics log_statistics() const override { return {}; }
  void reset_log_statistics() override {}
  std::vector<LogInfo> logs() const override { return {}; }
  RecoveryInfo recovery() const override { return {}; }
  CheckpointStatistics checkpoint_statistics() const override { return {}; }
  void reset_checkpoint_statistics() override {}
  std::vector<CheckpointRow> checkpoints() const override { return {}; }
  ScrubInfo scrub() const override { return {}; }
  std::vector<SlotInfo> slots() const override { return {}; }
  std::vector<LockInfo> locks() const override { return {}; }
  std::vector<SnapshotInfo> snapshots() const override { return {}; }
  std::vector<int32_t> blockers(int32_t process) const override {
    fail(process);
    return {};
  }

  mutable std::atomic<int> calls{0};
  mutable std::promise<void> reached;
  mutable std::promise<void> gone;
};

class InternalErrorTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string why;
    database_.set_monitor(monitor_);
    ASSERT_TRUE(database_.open(&why)) << why;
    database_.start();
    client_ = connect_to(directory_);
    run("create table t (a int primary key)");
    run("insert into t select generate_series(1, 2000)");
    monitor_.calls = 0;
  }
  void TearDown() override { database_.stop(); }

  std::string run(const char* sql) { return tag_or_state(PQexec(client_.get(), sql)); }
  std::string count() { return one_value(client_.get(), "select count(*) from t"); }

  FailingMonitor monitor_;
  TestDirectory directory_;
  Database database_{settings_in(directory_), directory_.path() + "/data"};
  ConnectionPointer client_{nullptr, PQfinish};
};

TEST_F(InternalErrorTest, EndsTheStatementAndNothingElse) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(one_value(client_.get(), "select pg_cancel_backend(1)"),
            "ERROR:  check failed: process != check\n");
  std::string log = testing::internal::GetCapturedStderr();
  EXPECT_NE(log.find("check failed: process != check"), std::string::npos) << log;
  EXPECT_NE(log.find("internal_error_test.cpp:"), std::string::npos) << log;
  EXPECT_NE(log.find("select pg_cancel_backend(1)"), std::string::npos) << log;
  // A stack: frames of this program, a line each.
  EXPECT_NE(log.find("unit_server+0x"), std::string::npos) << log;
  EXPECT_EQ(run("select pg_cancel_backend(2)"), "XX000");
  EXPECT_EQ(run("select pg_cancel_backend(3)"), "XX000");
  EXPECT_EQ(run("select pg_cancel_backend(4)"), "53200");
  EXPECT_EQ(run("select pg_cancel_backend(5)"), "XX000");
  EXPECT_EQ(count(), "2000");
}

// In the middle of rows that have been said or written, in every kind of statement.
TEST_F(InternalErrorTest, WhatTheStatementDidIsUndone) {
  for (std::string way : {"1", "2", "3", "4", "5"}) {
    std::string state = way == "4" ? "53200" : "XX000";
    std::string late = "case when a < 1500 then true else pg_cancel_backend(" + way + ") end";
    for (const std::string& sql : {
             "select a, " + late + " from t order by a",
             "insert into t select a + 5000 from t where " + late,
             "update t set a = a + 10000 where " + late,
             "delete from t where " + late,
             "delete from t where " + late + " returning a",
             "copy (select a, " + late + " from t order by a) to stdout",
             "create table other as select a, " + late + " from t",
             "create table other (a int); insert into other select 1 from t where " + late,
             "prepare p as select " + late + " from t; execute p",
         }) {
      PGresult* result = PQexec(client_.get(), sql.c_str());
      while (PQresultStatus(result) == PGRES_COPY_OUT) {
        char* row = nullptr;
        while (PQgetCopyData(client_.get(), &row, 0) > 0) PQfreemem(row);
        PQclear(result);
        result = PQgetResult(client_.get());
        while (PGresult* next = PQgetResult(client_.get())) {
          PQclear(result);
          result = next;
        }
      }
      EXPECT_EQ(tag_or_state(result), state) << sql;
      EXPECT_EQ(PQtransactionStatus(client_.get()), PQTRANS_IDLE) << sql;
      run("deallocate all");
      EXPECT_EQ(count(), "2000") << sql;
      EXPECT_EQ(run("select 1 from other"), "42P01") << sql;
    }
  }
}

TEST_F(InternalErrorTest, ABlockFailsAndItsSavepointHelps) {
  for (const char* fails : {"select pg_cancel_backend(1)", "select pg_cancel_backend(2)",
                            "insert into t select 9000 where pg_cancel_backend(5)"}) {
    EXPECT_EQ(run("begin"), "BEGIN");
    EXPECT_EQ(run("insert into t values (7000)"), "INSERT 0 1");
    EXPECT_EQ(run("savepoint s"), "SAVEPOINT");
    EXPECT_EQ(run(fails), "XX000");
    EXPECT_EQ(run("select 1"), "25P02");
    EXPECT_EQ(run("rollback to s"), "ROLLBACK");
    EXPECT_EQ(count(), "2001");
    EXPECT_EQ(run(fails), "XX000");
    EXPECT_EQ(run("commit"), "ROLLBACK");
    EXPECT_EQ(count(), "2000");
  }
}

TEST_F(InternalErrorTest, APipelineSkipsToItsSync) {
  ASSERT_EQ(PQenterPipelineMode(client_.get()), 1);
  for (const char* sql : {"insert into t values (8000)", "select pg_cancel_backend(1)", "select 1"})
    ASSERT_EQ(PQsendQueryParams(client_.get(), sql, 0, nullptr, nullptr, nullptr, nullptr, 0), 1);
  ASSERT_EQ(PQpipelineSync(client_.get()), 1);
  std::vector<ExecStatusType> said;
  while (said.empty() || said.back() != PGRES_PIPELINE_SYNC) {
    PGresult* result = PQgetResult(client_.get());
    if (result == nullptr) continue;
    said.push_back(PQresultStatus(result));
    PQclear(result);
  }
  EXPECT_EQ(said, (std::vector{PGRES_COMMAND_OK, PGRES_FATAL_ERROR, PGRES_PIPELINE_ABORTED,
                               PGRES_PIPELINE_SYNC}));
  ASSERT_EQ(PQexitPipelineMode(client_.get()), 1);
  EXPECT_EQ(count(), "2000");
}

// A conflict that no run avoids is told in the end, of a one-shot and of a statement of a block.
TEST_F(InternalErrorTest, AConflictWithItselfEnds) {
  EXPECT_EQ(run("select pg_blocking_pids(6)"), "40001");
  EXPECT_EQ(monitor_.calls, static_cast<int>(RetryPolicy::most_conflicts));
  monitor_.calls = 0;
  EXPECT_EQ(run("begin isolation level read committed"), "BEGIN");
  EXPECT_EQ(run("select a from t where a = 1 and pg_blocking_pids(6) is not null"), "40001");
  EXPECT_EQ(monitor_.calls, static_cast<int>(RetryPolicy::most_conflicts));
  EXPECT_EQ(run("rollback"), "ROLLBACK");
  EXPECT_EQ(count(), "2000");
  // Of what acts outside of the transaction the first.
  monitor_.calls = 0;
  EXPECT_EQ(run("select pg_cancel_backend(6)"), "40001");
  EXPECT_EQ(monitor_.calls, 1);
}

// Nobody is there to be answered any more.
TEST_F(InternalErrorTest, NothingRunsAgainForAClientThatHasGone) {
  EXPECT_EQ(run("select pg_advisory_lock(1)"), "SELECT 1");
  EXPECT_EQ(PQsendQuery(client_.get(), "select pg_blocking_pids(7)"), 1);
  monitor_.reached.get_future().wait();
  client_.reset();
  monitor_.gone.set_value();
  client_ = connect_to(directory_);
  EXPECT_EQ(run("select pg_advisory_lock(1)"), "SELECT 1");  // the session has ended
  EXPECT_LT(monitor_.calls, 40);
}

}  // namespace
}  // namespace pgsilo
