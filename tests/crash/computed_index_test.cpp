// Partial indexes and indexes on expressions behind a start: what they compute is read from the
// catalog, their entries from the log and from checkpoints.
#include <gtest/gtest.h>

#include "base/file_simulated.h"
#include "tests/crash/logged_database.h"
#include "wal/checkpoint/checkpointer.h"

namespace pgsilo {
namespace {

class ComputedIndexRecovery : public ::testing::Test {
 protected:
  std::unique_ptr<LoggedDatabase> start() {
    WalOptions options = LoggedEngine::small_options();
    options.segment_bytes = size_t{1} << 20;
    auto database = std::make_unique<LoggedDatabase>(disk_, "/data", options);
    EXPECT_TRUE(database->start()) << database->why();
    EXPECT_EQ(database->disagreement(), "");
    return database;
  }
  void run(LoggedDatabase& database, std::string_view sql) {
    std::string answer = database.session(0).run(sql);
    EXPECT_FALSE(answer.starts_with("ERROR")) << answer;
    LoggedEngine& engine = database.engine();
    engine.wal().wait_durable(0, engine.epochs().current());
    engine.wal().prepare_segments();
  }
  static void make_checkpoint(LoggedDatabase& database) {
    while (!database.engine().wal().checkpointer().step()) {
    }
  }
  void cut_power() {
    disk_.cut_power();
    disk_.restart();
  }
  // By way of the indexes.
  void expect_whole(LoggedDatabase& database, std::string_view open) {
    testing::SqlSession& session = database.session(0);
    EXPECT_EQ(session.run("SELECT a FROM t WHERE lower(b) = 'y' AND c > 0"), "2");
    EXPECT_EQ(session.run("SELECT a FROM t WHERE c > 0 ORDER BY lower(b)"), open);
    EXPECT_EQ(session.run("INSERT INTO t VALUES (9, 'y', 1)"),
              "ERROR: 23505: duplicate key value violates unique constraint \"open\"\n"
              "DETAIL: Key (lower(b))=(y) already exists.");
    EXPECT_EQ(session.run("SELECT pg_get_indexdef(oid) FROM pg_class WHERE relname = 'open'"),
              "CREATE UNIQUE INDEX open ON public.t USING btree (lower(b)) WHERE (c > 0)");
  }

  SimulatedFileSystem disk_{12};
};

TEST_F(ComputedIndexRecovery, FromTheLogAndFromCheckpoints) {
  {
    auto database = start();
    run(*database, "CREATE TABLE t (a int PRIMARY KEY, b text, c int)");
    run(*database, "INSERT INTO t VALUES (1, 'X', 0), (2, 'Y', 1)");
    run(*database, "CREATE UNIQUE INDEX open ON t (lower(b)) WHERE c > 0");
    run(*database, "CREATE INDEX ON t ((a + c), (c % 2) DESC)");
    run(*database, "INSERT INTO t VALUES (3, 'Z', 1), (4, 'y', 0)");
    run(*database, "UPDATE t SET c = 1 - c WHERE a IN (1, 3)");
    cut_power();
  }
  {
    auto database = start();
    expect_whole(*database, "1\n2");
    make_checkpoint(*database);
    run(*database, "UPDATE t SET c = 5, b = 'W' WHERE a = 4");
    run(*database, "UPDATE t SET c = 0 WHERE a = 1");
    cut_power();
  }
  {
    auto database = start();
    expect_whole(*database, "4\n2");
    run(*database, "ALTER TABLE t ALTER c TYPE bigint");
    run(*database, "ALTER TABLE t RENAME c TO d");
    run(*database, "UPDATE t SET d = 7 WHERE a = 3");
    cut_power();
  }
  auto database = start();
  testing::SqlSession& session = database->session(0);
  EXPECT_EQ(session.run("SELECT a FROM t WHERE d > 0 ORDER BY lower(b)"), "4\n2\n3");
  EXPECT_EQ(session.run("SELECT typname FROM pg_class c JOIN pg_attribute ON attrelid = c.oid "
                        "JOIN pg_type t ON t.oid = atttypid "
                        "WHERE relname = 't_expr_expr1_idx' AND attnum = 1"),
            "int8");
  EXPECT_EQ(session.run("SELECT a FROM t WHERE a + d = 10"), "3");
  run(*database, "ALTER TABLE t DROP d");
  EXPECT_EQ(session.run("SELECT relname FROM pg_class WHERE relkind = 'i' AND relname LIKE 't_%'"),
            "t_pkey");
  EXPECT_EQ(database->disagreement(), "");
}

}  // namespace
}  // namespace pgsilo
