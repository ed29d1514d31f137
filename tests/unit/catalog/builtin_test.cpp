// What the tables of built-in things must say of each other, and what nobody may forget to say of a
// new one.
#include "catalog/builtin/builtin.h"

#include <gtest/gtest.h>

#include <set>
#include <string_view>

#include "catalog/system_tables.h"

namespace pgsilo {
namespace {

// Volatile functions that a rollback leaves nothing of, or nothing that matters if the statement
// runs again: what they tell changes from call to call, they wait, or a rule of their own covers
// them (nextval: docs/sequences.md, advisory locks: docs/commit_protocol.md).
const std::set<std::string_view> acting_inside = {
    "clock_timestamp",
    "currval",
    "lastval",
    "nextval",
    "pg_advisory_lock",
    "pg_advisory_lock_shared",
    "pg_advisory_unlock",
    "pg_advisory_unlock_all",
    "pg_advisory_unlock_shared",
    "pg_advisory_xact_lock",
    "pg_advisory_xact_lock_shared",
    "pg_blocking_pids",
    "pg_current_wal_flush_lsn",
    "pg_current_wal_insert_lsn",
    "pg_current_wal_lsn",
    "pg_database_size",
    "pg_indexes_size",
    "pg_is_in_recovery",
    "pg_lock_status",
    "pg_relation_size",
    "pg_sequence_last_value",
    "pg_sleep",
    "pg_table_size",
    "pg_total_relation_size",
    "pg_try_advisory_lock",
    "pg_try_advisory_lock_shared",
    "pg_try_advisory_xact_lock",
    "pg_try_advisory_xact_lock_shared",
    "pgsilo_checkpoints",
    "pgsilo_log",
    "pgsilo_memory",
    "pgsilo_relation_memory",
    "pgsilo_scrub",
    "random",
    "set_config",
    "setseed",
};

TEST(Builtin, EveryVolatileFunctionActsOutsideOrIsNamedHere) {
  std::set<std::string_view> met;
  for (const BuiltinProcedure& procedure : all_procedures()) {
    bool is_named = acting_inside.contains(procedure.name);
    if (is_named) met.insert(procedure.name);
    bool is_volatile = procedure.volatility == 'v';
    EXPECT_EQ(is_volatile, is_named || procedure.acts_outside) << procedure.name;
    EXPECT_FALSE(is_named && procedure.acts_outside) << procedure.name;
  }
  EXPECT_EQ(met, acting_inside);
}

TEST(Builtin, WhatIsToldOfAColumnHasItsType) {
  size_t told = 0;
  for (const SystemTableInfo& table : all_system_tables()) {
    for (size_t i = 0; i < table.columns.size(); ++i) {
      const BuiltinProcedure* procedure = telling_procedure(table.oid, i);
      if (procedure == nullptr) continue;
      ++told;
      EXPECT_EQ(procedure->result, table.columns[i].type) << procedure->name;
      ASSERT_EQ(procedure->argument_count, 1) << procedure->name;
      EXPECT_EQ(procedure->arguments[0], table.columns[0].type) << procedure->name;
    }
  }
  EXPECT_EQ(told, 2u);
}

}  // namespace
}  // namespace pgsilo
