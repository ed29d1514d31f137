// Extended statistics after a start: from the log, from a checkpoint, and from both.
#include "catalog/temporary_schema.h"
#include "tests/crash/definition_bed.h"

namespace pgsilo {
namespace {

class ExtendedStatisticsRecovery : public DefinitionBed {
 protected:
  static void define(testing::SqlSession& session) {
    for (const char* sql :
         {"CREATE TABLE t (a int, b int, c text)", "CREATE STATISTICS pair (mcv) ON c, a FROM t",
          "CREATE STATISTICS other ON a, b FROM t", "ALTER STATISTICS pair SET STATISTICS 7"}) {
      EXPECT_NE(session.run(sql).substr(0, 5), "ERROR") << sql;
    }
  }

  static void expect_as_defined(testing::SqlSession& session) {
    EXPECT_EQ(session.run("SELECT pg_get_statisticsobjdef(oid), stxstattarget "
                          "FROM pg_statistic_ext WHERE stxname = 'pair'"),
              "CREATE STATISTICS public.pair (mcv) ON a, c FROM t|7");
    EXPECT_EQ(session.run("ALTER STATISTICS pair SET STATISTICS 7"), "ALTER STATISTICS");
    EXPECT_EQ(state(session, "CREATE STATISTICS other ON b, c FROM t"), "42710");
  }
};

TEST_F(ExtendedStatisticsRecovery, FromTheLogAndFromACheckpoint) {
  live_thrice(define, expect_as_defined);
}

TEST_F(ExtendedStatisticsRecovery, ChangesBehindACheckpoint) {
  live([](LoggedDatabase& database, testing::SqlSession& session) {
    define(session);
    ASSERT_NO_FATAL_FAILURE(make_checkpoint(database.engine()));
    EXPECT_EQ(session.run("ALTER TABLE t DROP COLUMN c"), "ALTER TABLE");
  });
  live([](LoggedDatabase&, testing::SqlSession& session) {
    EXPECT_EQ(session.run("SELECT stxname FROM pg_statistic_ext"), "other");
    EXPECT_EQ(session.run("DROP TABLE t"), "DROP TABLE");
  });
  live([](LoggedDatabase&, testing::SqlSession& session) {
    EXPECT_EQ(session.run("SELECT count(*) FROM pg_statistic_ext"), "0");
  });
}

// Those of a temporary table go with it when the next start does away with what a crash has left.
TEST_F(ExtendedStatisticsRecovery, OfATemporaryTable) {
  live([](LoggedDatabase&, testing::SqlSession& session) {
    define(session);
    TemporarySchema schema;
    session.view.use_temporary_schema(&schema);
    EXPECT_EQ(session.run("CREATE TEMP TABLE x (LIKE t INCLUDING ALL)"), "CREATE TABLE");
    EXPECT_EQ(session.run("SELECT count(*) FROM pg_statistic_ext"), "4");
    session.view.use_temporary_schema(nullptr);
  });
  live([](LoggedDatabase&, testing::SqlSession& session) {
    EXPECT_EQ(session.run("SELECT count(*) FROM pg_statistic_ext"), "2");
    EXPECT_EQ(session.run("SELECT count(*) FROM pg_class WHERE relname = 'x'"), "0");
  });
}

}  // namespace
}  // namespace pgsilo
