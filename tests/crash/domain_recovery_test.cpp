// Domains after a start: from the log, from a checkpoint, and from both.
#include "tests/crash/definition_bed.h"

namespace pgsilo {
namespace {

class DomainRecovery : public DefinitionBed {
 protected:
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
};

TEST_F(DomainRecovery, FromTheLogAndFromACheckpoint) { live_thrice(define, expect_as_defined); }

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
