#include <gtest/gtest.h>

#include "catalog/builtin/builtin.h"
#include "executor/functions/function.h"
#include "executor/operator/set_function.h"

namespace pgsilo {
namespace {

// What the binder can resolve, the executor can run.
TEST(FunctionTable, HasEveryListedProcedure) {
  for (const BuiltinProcedure& procedure : all_procedures()) {
    if (procedure.kind == 'a') {
      EXPECT_NE(find_aggregate(procedure.oid), nullptr) << procedure.name << " " << procedure.oid;
    } else if (procedure.returns_set || procedure.result == type_oid::record) {
      EXPECT_NE(make_set_function(procedure.oid), nullptr)
          << procedure.name << " " << procedure.oid;
    } else {
      EXPECT_NE(find_function(procedure.oid), nullptr) << procedure.name << " " << procedure.oid;
    }
  }
}

TEST(FunctionTable, KnowsNoOther) {
  EXPECT_EQ(find_function(1), nullptr);
  EXPECT_EQ(find_aggregate(1), nullptr);
}

}  // namespace
}  // namespace pgsilo
