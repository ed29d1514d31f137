// Defaults and checks that an older program kept as text are trees when a start is done.
#include <gtest/gtest.h>

#include "base/file_simulated.h"
#include "catalog/data_definition.h"
#include "tests/crash/logged_database.h"

namespace pgsilo {
namespace {

class ExpressionText : public ::testing::Test {
 protected:
  LoggedDatabase start() {
    WalOptions options = LoggedEngine::small_options();
    options.segment_bytes = size_t{1} << 20;
    return LoggedDatabase(disk_, "/data", options);
  }
  void restart() {
    disk_.cut_power();
    disk_.restart();
  }
  // The table's column 2 has the default, and its first constraint the condition, as text.
  static void keep_as_text(LoggedDatabase& database, std::string_view table, std::string_view value,
                           std::string_view condition) {
    testing::SqlSession& session = database.session(0);
    session.begin();
    const TableDescriptor& found = *session.view.find_table({}, table);
    TableExpressions texts;
    texts.defaults.emplace_back(int16_t{2}, StoredExpression{std::string(value), {}});
    texts.checks.emplace_back(found.constraints[0].oid,
                              StoredExpression{std::string(condition), {}});
    TypeContext types;
    ASSERT_EQ(
        DataDefinition(session.view, session.transaction, types).set_expressions(found.oid, texts),
        TransactionStatus::ok);
    ASSERT_EQ(session.commit(), TransactionStatus::ok);
    LoggedEngine& engine = database.engine();
    engine.wal().wait_durable(0, engine.epochs().current());
    engine.wal().prepare_segments();
  }

  SimulatedFileSystem disk_{12};
};

TEST_F(ExpressionText, BecomesATree) {
  {
    LoggedDatabase database = start();
    ASSERT_TRUE(database.start()) << database.why();
    database.session(0).run("CREATE TABLE t (a int, b text DEFAULT 'x', CHECK (a > 0))");
    ASSERT_NO_FATAL_FAILURE(keep_as_text(database, "t", "lower('ABC')", "a < 10 AND b <> 'abd'"));
    restart();
  }
  for (int i = 0; i < 2; ++i) {
    LoggedDatabase database = start();
    ASSERT_TRUE(database.start()) << database.why();
    testing::SqlSession& session = database.session(0);
    EXPECT_EQ(session.run("SELECT left(adbin::text, 3) FROM pg_attrdef"), "{1 ");
    EXPECT_EQ(session.run("SELECT left(conbin::text, 3) FROM pg_constraint WHERE contype = 'c'"),
              "{1 ");
    EXPECT_EQ(session.run("INSERT INTO t (a) VALUES (9) RETURNING b"), "abc");
    EXPECT_EQ(session.run("INSERT INTO t VALUES (10)").substr(0, 12), "ERROR: 23514");
    restart();
  }
}

// The server starts; who uses it is told, until it is defined anew.
TEST_F(ExpressionText, ThatCannotBeReadStays) {
  {
    LoggedDatabase database = start();
    ASSERT_TRUE(database.start()) << database.why();
    database.session(0).run("CREATE TABLE t (a int, b text DEFAULT 'x', CHECK (a > 0))");
    ASSERT_NO_FATAL_FAILURE(keep_as_text(database, "t", "nothing('ABC')", "a < 10"));
    restart();
  }
  for (int i = 0; i < 2; ++i) {
    LoggedDatabase database = start();
    ASSERT_TRUE(database.start()) << database.why();
    testing::SqlSession& session = database.session(0);
    EXPECT_EQ(session.run("SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef"), "nothing('ABC')");
    EXPECT_EQ(session.run("INSERT INTO t (a) VALUES (1)"),
              "ERROR: 42P17: expression kept by an older program could not be read: "
              "nothing('ABC')");
    EXPECT_EQ(session.run("INSERT INTO t VALUES (1, 'b')"), "INSERT 0 1");
    EXPECT_EQ(session.run("INSERT INTO t VALUES (10, 'b')").substr(0, 12), "ERROR: 23514");
    restart();
  }
  LoggedDatabase database = start();
  ASSERT_TRUE(database.start()) << database.why();
  testing::SqlSession& session = database.session(0);
  EXPECT_EQ(session.run("ALTER TABLE t ALTER b SET DEFAULT 'y'"), "ALTER TABLE");
  EXPECT_EQ(session.run("INSERT INTO t (a) VALUES (1) RETURNING b"), "y");
}

}  // namespace
}  // namespace pgsilo
