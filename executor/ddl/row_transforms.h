// What ALTER TABLE does with each row that is there. Thread safety: of the run they are given.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/arena.h"
#include "catalog/data_definition.h"
#include "catalog/descriptors.h"
#include "executor/ddl/ddl_command.h"
#include "executor/expression/standalone_expression.h"

namespace pgsilo {

// Sets one column of each row to an expression over the row.
class ColumnTransform final : public RowTransform {
 public:
  ColumnTransform(DdlRun& run, const BoundExpression& expression, size_t slot_count, size_t column)
      : expression_(expression, slot_count, run.types(), &run.state().session),
        slot_count_(slot_count),
        column_(column) {}

  void apply(std::span<Datum> values) override {
    memory_.reset();
    values[column_] = expression_.evaluate(values.first(slot_count_), memory_);
  }

 private:
  StandaloneExpression expression_;
  size_t slot_count_;
  size_t column_;
  Arena memory_;
};

// Raises 23514 for a row that does not satisfy a CHECK.
class CheckTransform final : public RowTransform {
 public:
  CheckTransform(DdlRun& run, const BoundExpression& condition, const TableDescriptor& table,
                 std::string_view constraint)
      : condition_(condition, table.columns.size(), run.types(), &run.state().session),
        table_(table.name),
        constraint_(constraint) {}

  void apply(std::span<Datum> values) override {
    memory_.reset();
    Datum holds = condition_.evaluate(values, memory_);
    if (holds.null || holds.as_bool()) return;
    throw SqlError(sqlstate::check_violation,
                   concat("check constraint \"", constraint_, "\" of relation \"", table_,
                          "\" is violated by some row"));
  }

 private:
  StandaloneExpression condition_;
  std::string table_;
  std::string constraint_;
  Arena memory_;
};

}  // namespace pgsilo
