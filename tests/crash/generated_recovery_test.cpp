// Generated columns after a start: from the log, from a checkpoint, and from both.
#include "tests/crash/definition_bed.h"

namespace pgsilo {
namespace {

class GeneratedRecovery : public DefinitionBed {
 protected:
  static void define(testing::SqlSession& session) {
    for (const char* sql :
         {"CREATE TABLE t (a int, b int GENERATED ALWAYS AS (a * 2) STORED UNIQUE, "
          "s text GENERATED ALWAYS AS (lower(c) || a) STORED, c text)",
          "CREATE INDEX ON t ((s || b)) WHERE b > 0",
          "INSERT INTO t (a, c) VALUES (1, 'One'), (2, 'TWO')",
          "ALTER TABLE t ADD COLUMN late int GENERATED ALWAYS AS (coalesce(a, 0) + 5) STORED",
          "UPDATE t SET a = 3 WHERE b = 4"}) {
      EXPECT_NE(session.run(sql).substr(0, 5), "ERROR") << sql;
    }
  }

  static void expect_as_defined(testing::SqlSession& session) {
    EXPECT_EQ(session.run("SELECT * FROM t WHERE b = 2"), "1|2|one1|One|6");
    EXPECT_EQ(session.run("SELECT * FROM t WHERE s || b = 'two36' AND b > 0"), "3|6|two3|TWO|8");
    EXPECT_EQ(session.run("UPDATE t SET c = 'Three' WHERE a = 3 RETURNING s, late"), "three3|8");
    EXPECT_EQ(session.run("UPDATE t SET c = 'TWO' WHERE a = 3"), "UPDATE 1");
    EXPECT_EQ(session.run("INSERT INTO t (a) VALUES (9) RETURNING b, late"), "18|14");
    EXPECT_EQ(session.run("DELETE FROM t WHERE b = 18"), "DELETE 1");
    EXPECT_EQ(state(session, "INSERT INTO t (a) VALUES (3)"), "23505");
    EXPECT_EQ(state(session, "INSERT INTO t (a, b) VALUES (4, 5)"), "428C9");
    EXPECT_EQ(state(session, "ALTER TABLE t ALTER a TYPE bigint"), "0A000");
    EXPECT_EQ(state(session, "ALTER TABLE t DROP COLUMN a"), "2BP01");
  }
};

TEST_F(GeneratedRecovery, FromTheLogAndFromACheckpoint) { live_thrice(define, expect_as_defined); }

TEST_F(GeneratedRecovery, ChangesBehindACheckpoint) {
  live([](LoggedDatabase& database, testing::SqlSession& session) {
    define(session);
    ASSERT_NO_FATAL_FAILURE(make_checkpoint(database.engine()));
    EXPECT_EQ(session.run("ALTER TABLE t ALTER late DROP EXPRESSION"), "ALTER TABLE");
    EXPECT_EQ(session.run("ALTER TABLE t DROP COLUMN c CASCADE"), "ALTER TABLE");
    EXPECT_EQ(session.run("UPDATE t SET a = 7 WHERE a = 3"), "UPDATE 1");
  });
  live([](LoggedDatabase&, testing::SqlSession& session) {
    EXPECT_EQ(session.run("SELECT * FROM t WHERE b = 14"), "7|14|8");
    EXPECT_EQ(session.run("INSERT INTO t (a) VALUES (8) RETURNING *"), "8|16|NULL");
    EXPECT_EQ(session.run("SELECT count(*) FROM pg_depend WHERE refobjsubid > 0 AND refobjid = "
                          "'t'::regclass"),
              "2");
    EXPECT_EQ(session.run("ALTER TABLE t DROP COLUMN a CASCADE"), "ALTER TABLE");
    EXPECT_EQ(session.run("SELECT * FROM t WHERE late = 8"), "8");
  });
}

}  // namespace
}  // namespace pgsilo
