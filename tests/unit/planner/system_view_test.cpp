// The catalog's own views: what pg_attribute says of them is what their definitions give.
#include "catalog/builtin/system_views.h"

#include "tests/unit/planner/planner_fixture.h"

namespace pgsilo::testing {
namespace {

using SystemViewTest = Planner;

TEST_F(SystemViewTest, HaveTheColumnsOfTheirDefinitions) {
  for (const SystemView& view : all_system_views()) {
    std::shared_ptr<const PlannedStatement> planned = plan(view.definition);
    std::span<const SystemViewColumn> columns = columns_of(view);
    ASSERT_EQ(planned->result_columns.size(), columns.size()) << view.name;
    for (size_t i = 0; i < columns.size(); ++i) {
      EXPECT_EQ(planned->result_columns[i].name, columns[i].name) << view.name;
      EXPECT_EQ(planned->result_columns[i].type, columns[i].type)
          << view.name << "." << columns[i].name;
    }
  }
}

TEST_F(SystemViewTest, AreBoundAsTheirDefinitions) {
  EXPECT_EQ(explain("select pid from pg_locks where granted"),
            "Function Scan on pg_lock_status l\n  Filter: granted");
  EXPECT_EQ(explain("select l.pid, u.v from pg_catalog.pg_locks l join u on u.a = l.pid"),
            "Hash Join\n  Hash Cond: (u.a = l.pid)\n  ->  Seq Scan on u\n  ->  Hash\n"
            "        ->  Function Scan on pg_lock_status l");
}

TEST_F(SystemViewTest, FitNowhereElse) {
  EXPECT_EQ(error("insert into pg_locks (pid) values (1)"),
            "42501 at -1: permission denied: \"pg_locks\" is a system catalog");
  EXPECT_EQ(error("select pg_lock_status()"), "0A000 at 8: a composite type is not supported");
  EXPECT_EQ(error("select * from pg_lock_status() as t (a int)"),
            "0A000 at 15: a function returning records with a column definition list is not "
            "supported");
}

}  // namespace
}  // namespace pgsilo::testing
