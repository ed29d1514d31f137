// Domains after a start: from the log, from a checkpoint, and from both.
#include <gtest/gtest.h>

#include "base/file_simulated.h"
#include "executor/catalog_names.h"
#include "tests/crash/logged_database.h"
#include "wal/checkpoint/checkpointer.h"

namespace pgsilo {
namespace {

class DomainRecovery : public ::testing::Test {
 protected:
  // Runs what the database is asked to between a start and a power cut.
  template <typename F>
  void live(F&& run) {
    {
      WalOptions options = LoggedEngine::small_options();
      options.segment_bytes = size_t{1} << 20;
      LoggedDatabase database(disk_, "/data", options);
      ASSERT_TRUE(database.start()) << database.why();
      testing::SqlSession& session = database.session(0);
      CatalogNames names(session.view, session.transaction);
      names.set_session(session.context);
      session.context.types.object_names = &names;
      run(database, session);
      EXPECT_EQ(database.disagreement(), "");
      session.context.types.object_names = nullptr;
      LoggedEngine& engine = database.engine();
      engine.wal().wait_durable(0, engine.epochs().current());
      engine.wal().prepare_segments();
    }
    disk_.cut_power();
    disk_.restart();
  }

  static void make_checkpoint(LoggedEngine& engine) {
    std::string why;
    ASSERT_TRUE(engine.wal().checkpointer().run_now(CheckpointReason::request, &why)) << why;
  }

  static void define(testing::SqlSession& session) {
    for (const char* sql :
         {"CREATE TYPE mood AS ENUM ('sad', 'ok')",
          "CREATE DOMAIN code AS varchar(5) COLLATE \"C\" NOT NULL DEFAULT 'none' "
          "CONSTRAINT short CHECK (length(value) > 1)",
          "CREATE DOMAIN small_code AS code CHECK (value < 'm')",
          "CREATE DOMAIN bright AS mood CHECK (value <> 'sad')",
          "CREATE DOMAIN codes AS code[] CHECK (cardinality(value) < 3)",
          "CREATE TABLE t (c small_code PRIMARY KEY DEFAULT 'ab', m bright DEFAULT 'ok', a codes)",
          "CREATE INDEX ON t (a)", "INSERT INTO t VALUES ('cd', DEFAULT, '{xx,yy}')"}) {
      EXPECT_NE(session.run(sql).substr(0, 5), "ERROR") << sql;
    }
  }

  static void expect_as_defined(testing::SqlSession& session) {
    EXPECT_EQ(session.run("SELECT * FROM t"), "cd|ok|{xx,yy}");
    EXPECT_EQ(session.run("SELECT m FROM t WHERE a = '{xx,yy}' AND c = 'cd'"), "ok");
    EXPECT_EQ(state(session, "INSERT INTO t VALUES ('a')"), "23514");
    EXPECT_EQ(state(session, "INSERT INTO t VALUES ('zz')"), "23514");
    EXPECT_EQ(state(session, "INSERT INTO t VALUES (NULL)"), "23502");
    EXPECT_EQ(state(session, "INSERT INTO t VALUES ('cd')"), "23505");
    EXPECT_EQ(state(session, "INSERT INTO t VALUES ('abcdef')"), "22001");
    EXPECT_EQ(state(session, "INSERT INTO t (m) VALUES ('sad')"), "23514");
    EXPECT_EQ(state(session, "INSERT INTO t (a) VALUES ('{aa,b}')"), "23514");
    EXPECT_EQ(session.run("INSERT INTO t DEFAULT VALUES RETURNING c, m"), "ab|ok");
    EXPECT_EQ(session.run("DELETE FROM t WHERE c = 'ab'"), "DELETE 1");
    EXPECT_EQ(session.run("SELECT typcollation, typnotnull, typdefault FROM pg_type "
                          "WHERE typname = 'small_code'"),
              "950|f|'none'::character varying");
    EXPECT_EQ(state(session, "DROP DOMAIN code"), "2BP01");
  }

  static std::string state(testing::SqlSession& session, std::string_view sql) {
    std::string answer = session.run(sql);
    return answer.starts_with("ERROR: ") ? answer.substr(7, 5) : answer;
  }

  SimulatedFileSystem disk_{7};
};

TEST_F(DomainRecovery, FromTheLogAndFromACheckpoint) {
  live([](LoggedDatabase&, testing::SqlSession& session) {
    define(session);
    expect_as_defined(session);
  });
  live([](LoggedDatabase& database, testing::SqlSession& session) {
    expect_as_defined(session);
    ASSERT_NO_FATAL_FAILURE(make_checkpoint(database.engine()));
  });
  live([](LoggedDatabase&, testing::SqlSession& session) { expect_as_defined(session); });
}

TEST_F(DomainRecovery, ChangesBehindACheckpoint) {
  live([](LoggedDatabase& database, testing::SqlSession& session) {
    define(session);
    ASSERT_NO_FATAL_FAILURE(make_checkpoint(database.engine()));
    EXPECT_EQ(session.run("ALTER DOMAIN code DROP CONSTRAINT short"), "ALTER DOMAIN");
    EXPECT_EQ(session.run("ALTER DOMAIN code DROP NOT NULL"), "ALTER DOMAIN");
    EXPECT_EQ(session.run("ALTER DOMAIN small_code SET DEFAULT 'new'"), "ALTER DOMAIN");
    EXPECT_EQ(session.run("ALTER DOMAIN bright ADD CONSTRAINT odd CHECK (value = 'sad') NOT VALID"),
              "ALTER DOMAIN");
    EXPECT_EQ(session.run("ALTER DOMAIN bright RENAME TO brighter"), "ALTER DOMAIN");
  });
  live([](LoggedDatabase&, testing::SqlSession& session) {
    EXPECT_EQ(session.run("SELECT 'a'::code, NULL::code"), "a|NULL");
    EXPECT_EQ(session.run("SELECT typdefault FROM pg_type WHERE typname = 'small_code'"),
              "'new'::character varying");
    EXPECT_EQ(state(session, "SELECT 'ok'::brighter"), "23514");
    EXPECT_EQ(state(session, "SELECT 'ok'::bright"), "42704");
    EXPECT_EQ(state(session, "ALTER DOMAIN brighter VALIDATE CONSTRAINT odd"), "23514");
    EXPECT_EQ(session.run("DROP DOMAIN brighter CASCADE"), "DROP DOMAIN");
    EXPECT_EQ(session.run("SELECT * FROM t"), "cd|{xx,yy}");
  });
  live([](LoggedDatabase&, testing::SqlSession& session) {
    EXPECT_EQ(session.run("SELECT * FROM t"), "cd|{xx,yy}");
    EXPECT_EQ(session.run("SELECT count(*) FROM pg_constraint WHERE conname = 'odd'"), "0");
  });
}

}  // namespace
}  // namespace pgsilo
