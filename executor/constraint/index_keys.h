// What indexes on expressions and partial indexes keep of rows, compiled: beside a plan that writes
// rows, or by itself for who builds an index. Thread safety: compiled part immutable; evaluation
// uses the registers of one execution.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "catalog/index_evaluator.h"
#include "executor/expression/expression_program.h"
#include "executor/plan_compiler.h"
#include "planner/bound/index_keys.h"

namespace pgsilo {

struct TableShape;

struct CompiledIndexKeys {
  struct Key {
    int32_t column = -1;  // of the table, 0-based; or:
    ExpressionProgram value;
  };
  const IndexDescriptor* index = nullptr;
  Register row = 0;  // the first of one register per table column, of which it sets those it reads
  bool is_partial = false;
  ExpressionProgram predicate;
  std::vector<Key> keys;

  // `bound` is over the table's columns as slots; `row`: see above, `columns` of them.
  static CompiledIndexKeys compile(const IndexKeys& bound, Register row, size_t columns,
                                   PlanCompiler& plan);
  // *key: the index's columns. False: it does not have the row. By-reference results live in the
  // context's arena.
  bool evaluate(std::span<const Datum> values, Datum* registers, RowContext& context,
                std::vector<Datum>* key) const;
};

// Those of a table's indexes that compute, and where they do.
struct IndexKeySource {
  std::span<const CompiledIndexKeys> keys = {};
  Datum* registers = nullptr;
  RowContext* context = nullptr;

  const CompiledIndexKeys& of(const IndexDescriptor& index) const;
};

// Of a plan that writes rows of a table with so many columns.
std::vector<CompiledIndexKeys> compile_index_keys(std::span<const IndexKeys> bound, size_t columns,
                                                  PlanCompiler& plan);

// For Catalog::use_index_evaluators().
std::unique_ptr<IndexEvaluator> make_index_evaluator(CatalogView& view,
                                                     const TableDescriptor& table,
                                                     const IndexDescriptor& index);

// Columns of an index as PostgreSQL shows them: what is no column and no call of a function, in
// parentheses. Of messages: "lower(a), (b + 1)".
std::string index_key_text(TypeContext& types, const BoundExpression& expression,
                           const TableShape& table, bool pretty);
std::string index_column_names(CatalogView& view, const TableDescriptor& table,
                               const IndexDescriptor& index, const TypeContext& types);

}  // namespace pgsilo
