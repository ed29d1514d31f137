// What the views say of the log and of the start.
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/server/server_support.h"

namespace pgsilo {
namespace {

using namespace server_test;

class LogViewsTest : public ::testing::Test {
 protected:
  ~LogViewsTest() override { stop(); }

  void start() {
    ServerSettings settings = settings_in(directory_);
    settings.set("log_directories", "first, second");
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

  TestDirectory directory_;
  Gate disk_{Gate::At::write, ".segment"};
  std::unique_ptr<Database> database_;
  ConnectionPointer client_{nullptr, PQfinish};
};

TEST_F(LogViewsTest, EachDirectoryHasARow) {
  start();
  EXPECT_EQ(told("select string_agg(substr(directory, length(directory) - 5), ' ' "
                 "order by directory) from pgsilo_log"),
            "/first second");
  told("create table t as select i from generate_series(1, 1000) i");
  EXPECT_EQ(told("select bool_and(lag = current_epoch - durable_epoch and lag > 0 and "
                 "durable_epoch > 0) from pgsilo_log"),
            "t");
  // Both workers have written, and so have both loggers.
  ConnectionPointer other = connect_to(directory_);
  one_value(other.get(), "insert into t values (0)");
  EXPECT_EQ(told("select bool_and(live_segments = 1 and prepared_segments >= 2 and "
                 "space = 'ample') from pgsilo_log"),
            "t");
  EXPECT_EQ(told("select bool_and(syncs > 0 and bytes_written % 4096 = 0 and bytes_written > 0 and "
                 "mean_sync_time between 0 and max_sync_time and max_sync_time > 0 and "
                 "median_sync_time between 0 and p99_sync_time and p99_sync_time <= max_sync_time) "
                 "from pgsilo_log"),
            "t");
}

TEST_F(LogViewsTest, TheirSumIsCountedSinceTheReset) {
  start();
  told("create table t (a int)");
  const std::string grown =
      "select concat_ws(' ', wal_records, wal_bytes > 40, wal_write, wal_sync, wal_buffers_full, "
      "wal_sync_time > 0 or wal_write_time > 0) from pg_stat_wal";
  told("select pg_stat_reset_shared('wal')");
  EXPECT_EQ(told(grown), "0 f 0 0 0 f");
  told("insert into t values (1)");
  EXPECT_EQ(told(grown), "1 t 1 1 0 t");
  EXPECT_EQ(told("select stats_reset > (select started from pgsilo_recovery) from pg_stat_wal"),
            "t");
}

TEST_F(LogViewsTest, AStandstillOfTheDiskIsTime) {
  start();
  told("create table t (a int)");
  told("set synchronous_commit = off");
  disk_.close();
  told("insert into t values (1)");
  disk_.wait_until_reached();
  EXPECT_EQ(told("select pg_sleep(0.2)"), "");
  disk_.open();
  told("set synchronous_commit = on");
  told("insert into t values (2)");
  EXPECT_EQ(told("select max(max_sync_time) >= 200 from pgsilo_log"), "t");
}

TEST_F(LogViewsTest, TheLastStart) {
  const std::string found =
      "select concat_ws(' ', new_database, clean_shutdown, log_bytes > 0, records > 0, "
      "entries >= 1000, analysis_seconds > 0, replay_seconds >= 0, durable_epoch > 0, "
      "data_loss is null, checkpoint is null, checkpoint_bytes > 4096, checkpoint_records >= 1000, "
      "checkpoint_seconds > 0, started between now() - interval '1 minute' and "
      "now()) from pgsilo_recovery";
  start();
  EXPECT_EQ(told(found), "t f f f f t t f t t t");  // the checkpoint's columns are null
  told("create table t as select i from generate_series(1, 1000) i");
  // A clean stop makes a checkpoint, and there is no log to replay.
  stop();
  start();
  EXPECT_EQ(told(found), "f t f f f t t t t f t t t t");
}

}  // namespace
}  // namespace pgsilo
