// What the views and the server's log say of checkpoints.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/server_log.h"
#include "tests/unit/server/server_support.h"

namespace pgsilo {
namespace {

using namespace server_test;

class CheckpointViewsTest : public ::testing::Test {
 protected:
  ~CheckpointViewsTest() override { stop(); }

  void start(const char* log_checkpoints = "off") {
    ServerSettings settings = settings_in(directory_);
    settings.set("log_checkpoints", log_checkpoints);
    database_ = std::make_unique<Database>(std::move(settings), directory_.path() + "/data",
                                           gated_file_system(disk_));
    std::string why;
    ASSERT_TRUE(database_->open(&why)) << why;
    database_->start();
    client_ = connect_to(directory_);
  }
  void stop() {
    disk_.open();
    if (database_ != nullptr) database_->stop();
    database_.reset();
  }
  std::string told(const std::string& sql) { return one_value(client_.get(), sql.c_str()); }
  // Of the only row that `condition` finds.
  std::string checkpoint(const std::string& what, const std::string& condition) {
    return told("select concat_ws(' ', " + what + ") from pgsilo_checkpoints where " + condition);
  }

  TestDirectory directory_;
  Gate disk_{Gate::At::write, ".checkpoint"};
  std::unique_ptr<Database> database_;
  ConnectionPointer client_{nullptr, PQfinish};
};

TEST_F(CheckpointViewsTest, ACompleteOne) {
  start();
  EXPECT_EQ(told("select count(*) from pgsilo_checkpoints"), "0");
  told("create table t as select i, repeat('r', 90) from generate_series(1, 1000) i");
  told("checkpoint");
  EXPECT_EQ(checkpoint("number, state, cause, phase, failure", "true"), "1 complete request");
  EXPECT_EQ(checkpoint("started <= ended, ended <= clock_timestamp(), started > (select started "
                       "from pgsilo_recovery)",
                       "true"),
            "t t t");
  // The catalog's rows are in it as well.
  EXPECT_EQ(checkpoint("rows > 1000, bytes > 90000, bytes % 4096, walked_bytes = planned_bytes, "
                       "walked_bytes > 90000, log_bytes > 90000, retired_log_bytes",
                       "true"),
            "t t 0 t t t 0");
  EXPECT_EQ(checkpoint("settle_time > 0, write_time > 0, sync_time > 0, log_wait_time > 0, "
                       "settle_time + write_time + sync_time + log_wait_time <= total_time",
                       "true"),
            "t t t t t");
  EXPECT_EQ(checkpoint("begun_epoch > 0, ended_epoch >= begun_epoch, ended_epoch <= (select "
                       "max(durable_epoch) from pgsilo_log)",
                       "true"),
            "t t t");
  told("insert into t values (0)");
  told("checkpoint");
  EXPECT_EQ(checkpoint("state, log_bytes", "number = 2"), "complete 4096");
  EXPECT_EQ(told("select (select rows from pgsilo_checkpoints where number = 2) - rows from "
                 "pgsilo_checkpoints where number = 1"),
            "1");
}

TEST_F(CheckpointViewsTest, OneThatRuns) {
  start();
  told("create table t as select i, repeat('r', 990) from generate_series(1, 5000) i");
  ConnectionPointer other = connect_to(directory_);
  disk_.close();
  ASSERT_EQ(PQsendQuery(other.get(), "checkpoint"), 1);
  disk_.wait_until_reached();
  EXPECT_EQ(checkpoint("number, state, cause, phase, ended, bytes, ended_epoch, log_bytes, "
                       "retired_log_bytes, failure",
                       "true"),
            "1 running request writing");
  EXPECT_EQ(checkpoint("walked_bytes between 500000 and planned_bytes - 1, planned_bytes > "
                       "5000000, rows between 500 and 10000, begun_epoch > 0, settle_time > 0, "
                       "write_time, total_time",
                       "true"),
            "t t t t t 0 0");
  EXPECT_EQ(told("select checkpoints_req from pg_stat_bgwriter"), "0");
  disk_.open();
  PQclear(PQgetResult(other.get()));
  EXPECT_EQ(checkpoint("number, state, walked_bytes = planned_bytes", "true"), "1 complete t");
}

TEST_F(CheckpointViewsTest, OneThatFails) {
  start();
  told("create table t (a int)");
  std::filesystem::path files = directory_.path() + "/data/checkpoint";
  std::filesystem::rename(files, files.string() + ".gone");
  std::string error = told("checkpoint");
  EXPECT_NE(error.find("No such file or directory"), std::string::npos) << error;
  EXPECT_EQ(checkpoint("number, state, phase, ended >= started, total_time > 0, bytes, "
                       "ended_epoch, log_bytes, failure",
                       "true"),
            "1 failed settling t t No such file or directory");
  EXPECT_EQ(told("select checkpoints_req from pg_stat_bgwriter"), "0");
  std::filesystem::rename(files.string() + ".gone", files);
  told("checkpoint");
  EXPECT_EQ(checkpoint("number, state", "failure is null"), "2 complete");
}

TEST_F(CheckpointViewsTest, SumsSinceTheReset) {
  start();
  const std::string sums =
      "select concat_ws(' ', checkpoints_timed, checkpoints_req, checkpoint_write_time > 0, "
      "checkpoint_sync_time > 0, buffers_checkpoint > 0, buffers_clean, maxwritten_clean, "
      "buffers_backend, buffers_backend_fsync, buffers_alloc) from pg_stat_bgwriter";
  EXPECT_EQ(told(sums), "0 0 f f f 0 0 0 0 0");
  told("create table t as select i from generate_series(1, 1000) i");
  told("checkpoint");
  told("checkpoint");
  EXPECT_EQ(told(sums), "0 2 t t t 0 0 0 0 0");
  EXPECT_EQ(
      told("select concat_ws(' ', abs(checkpoint_write_time - (select sum(write_time) from "
           "pgsilo_checkpoints)) < 0.001, abs(checkpoint_sync_time - (select sum(sync_time) "
           "from pgsilo_checkpoints)) < 0.001, buffers_checkpoint = (select sum(bytes) / 8192 "
           "from pgsilo_checkpoints)) from pg_stat_bgwriter"),
      "t t t");
  const std::string before = told("select stats_reset from pg_stat_bgwriter");
  EXPECT_EQ(told("select stats_reset = '" + before + "' from pg_stat_wal"), "t");
  for (const char* other : {"wal", "archiver", "recovery_prefetch"})
    told(std::string("select pg_stat_reset_shared('") + other + "')");
  EXPECT_EQ(told(sums), "0 2 t t t 0 0 0 0 0");
  told("select pg_stat_reset_shared('bgwriter')");
  EXPECT_EQ(told(sums), "0 0 f f f 0 0 0 0 0");
  EXPECT_EQ(told("select stats_reset > '" + before + "' from pg_stat_bgwriter"), "t");
  // What was made is no sum.
  EXPECT_EQ(told("select count(*) from pgsilo_checkpoints"), "2");
}

TEST_F(CheckpointViewsTest, UnknownTargetsAreNotReset) {
  start();
  EXPECT_EQ(told("select pg_stat_reset_shared('slru')"),
            "ERROR:  unrecognized reset target: \"slru\"\n"
            "HINT:  Target must be \"archiver\", \"bgwriter\", \"recovery_prefetch\", or "
            "\"wal\".\n");
}

// Whether `text` has a line of this form: '#' stands for a number.
bool has_line(const std::string& text, const std::string& form) {
  std::string digits_gone;
  for (char c : text) {
    if (c < '0' || c > '9') {
      digits_gone += c;
    } else if (digits_gone.empty() || digits_gone.back() != '#') {
      digits_gone += '#';
    }
  }
  return digits_gone.find("LOG:  " + form + "\n") != std::string::npos;
}

// What was said to stderr since it is captured: the server's log is written by a thread of its own.
std::string captured_log() {
  flush_server_log(60'000'000);
  return ::testing::internal::GetCapturedStderr();
}

TEST_F(CheckpointViewsTest, LinesInTheLog) {
  const std::string complete =
      "#-#-# #:#:#.# UTC [#] LOG:  checkpoint complete: wrote # rows (# kB); # kB of WAL retired; "
      "write=#.# s, sync=#.# s, "
      "total=#.# s; distance=# kB";
  ::testing::internal::CaptureStderr();
  start("on");
  told("create table t as select i from generate_series(1, 1000) i");
  told("checkpoint");
  std::string lines = captured_log();
  EXPECT_TRUE(has_line(lines, "checkpoint starting: immediate force wait\n" + complete)) << lines;
  told("insert into t values (0)");
  ::testing::internal::CaptureStderr();
  stop();
  lines = captured_log();
  EXPECT_TRUE(has_line(lines, "checkpoint starting: shutdown immediate\n" + complete)) << lines;
  ::testing::internal::CaptureStderr();
  start("off");
  told("checkpoint");
  EXPECT_EQ(captured_log().find("checkpoint"), std::string::npos);
}

}  // namespace
}  // namespace pgsilo
