// Plans of foreign keys' actions: made once, however many tables refer to one.
#include <gtest/gtest.h>

#include <string>

#include "executor/constraint/referential_actions.h"
#include "tests/unit/executor/sql_session.h"

namespace pgsilo::testing {
namespace {

class ReferentialPlans : public ::testing::Test {
 protected:
  ReferentialPlans() { session.context.references = &references; }
  void run(const std::string& sql) {
    std::string answer = session.run(sql);
    EXPECT_EQ(answer.find("ERROR"), std::string::npos) << sql << ": " << answer;
  }
  void have_referring_tables(int count) {
    for (int i = 0; i < count; ++i)
      run(concat("create table child", i, " (a int references parent)"));
  }
  // By a change of parents.
  uint64_t plans_made_for(const std::string& sql) {
    uint64_t before = references.plans_made();
    run("insert into parent select g from generate_series(1, 20) g");
    run(sql);
    return references.plans_made() - before;
  }

  CatalogEngine engine;
  SqlSession session{engine};
  ReferentialActions references{session.context};
};

TEST_F(ReferentialPlans, AreMadeOnceForEachTable) {
  constexpr int tables = 600;
  run("create table parent (a int primary key)");
  have_referring_tables(tables);
  EXPECT_EQ(plans_made_for("delete from parent"), uint64_t{tables});
  EXPECT_EQ(plans_made_for("delete from parent"), 0u);
  references.forget_plans();
  EXPECT_EQ(plans_made_for("delete from parent"), uint64_t{tables});
}

}  // namespace
}  // namespace pgsilo::testing
