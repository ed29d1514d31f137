// What tests of stored expressions and queries bind their texts with.
#pragma once

#include <gtest/gtest.h>

#include "planner/binder/query_binder.h"
#include "tests/unit/executor/sql_session.h"

namespace pgsilo::testing {

struct StoredFixture : ::testing::Test {
  CatalogEngine engine;
  SqlSession session{engine};
  Arena arena;
  TypeContext types{.arena = &arena};

  // Of a statement that sees what was committed by now.
  StatementBinding binding() {
    session.view.refresh();
    return {.arena = arena,
            .catalog = session.view,
            .text = {},
            .database_name = {},
            .types = types,
            .parameters = {},
            .tables = {}};
  }
};

}  // namespace pgsilo::testing
