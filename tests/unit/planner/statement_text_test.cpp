// Many statements may be in one text.
#include "tests/unit/planner/planner_fixture.h"

namespace pgsilo::testing {
namespace {

struct StatementText : Planner {};

TEST_F(StatementText, IsNotCopiedForEach) {
  for (std::string text : {"select 1", "insert into p values (1, 2, 3, 4)", "explain select 1",
                           "create table made (a int)"}) {
    EXPECT_EQ(plan(text)->text.data(), text.data()) << text;
  }
}

}  // namespace
}  // namespace pgsilo::testing
