#include "executor/constraint/index_keys.h"

#include <algorithm>
#include <optional>

#include "base/large_stack.h"
#include "catalog/builtin/builtin.h"
#include "executor/compiled_statement.h"
#include "executor/ddl/table_definition.h"
#include "planner/binder/index_expressions.h"
#include "planner/bound/expression_tree.h"
#include "planner/plan/transaction_plan.h"
#include "planner/stored/stored_tree.h"
#include "sql/internal_error.h"
#include "sql/sql_error.h"

namespace pgsilo {

CompiledIndexKeys CompiledIndexKeys::compile(const IndexKeys& bound, Register row, size_t columns,
                                             PlanCompiler& plan) {
  CompiledIndexKeys made;
  made.index = bound.index;
  made.row = row;
  std::vector<Register> slots(columns);
  for (size_t i = 0; i < columns; ++i) slots[i] = row + static_cast<Register>(i);
  made.is_partial = bound.predicate != nullptr;
  if (made.is_partial) made.predicate = plan.condition(bound.predicate, slots);
  size_t next = 0;
  for (const IndexColumn& column : bound.index->columns) {
    Key key;
    key.column = column.number - 1;
    if (column.number == 0) key.value = plan.expression(bound.expressions[next++], slots);
    made.keys.push_back(key);
  }
  return made;
}

bool CompiledIndexKeys::evaluate(std::span<const Datum> values, Datum* registers,
                                 RowContext& context, std::vector<Datum>* key) const {
  for (int16_t number : index->read_columns) {
    size_t column = static_cast<size_t>(number) - 1;
    registers[row + column] = values[column];
  }
  // What rows that are left out have may not be computable.
  if (is_partial && !predicate.is_true(registers, context)) return false;
  key->clear();
  for (const Key& each : keys) {
    key->push_back(each.column >= 0 ? values[static_cast<size_t>(each.column)]
                                    : each.value.evaluate(registers, context));
  }
  return true;
}

const CompiledIndexKeys& IndexKeySource::of(const IndexDescriptor& index) const {
  // In the order of the table's indexes, of which only a primary key's is not by oid (precedes).
  auto found = std::ranges::lower_bound(
      keys, index.oid, {}, [](const CompiledIndexKeys& each) { return each.index->oid; });
  PGSILO_REQUIRE(found != keys.end() && found->index->oid == index.oid);
  return *found;
}

std::vector<CompiledIndexKeys> compile_index_keys(std::span<const IndexKeys> bound, size_t columns,
                                                  PlanCompiler& plan) {
  std::vector<CompiledIndexKeys> made;
  if (bound.empty()) return made;
  Register row = plan.new_registers(columns);
  made.reserve(bound.size());
  for (const IndexKeys& keys : bound)
    made.push_back(CompiledIndexKeys::compile(keys, row, columns, plan));
  return made;
}

namespace {

// Everything that reading trees wants, for who has no statement.
struct TreeReading {
  explicit TreeReading(CatalogView& view, const TypeContext& settings) : types(settings) {
    types.arena = &arena;
    binding.emplace(StatementBinding{.arena = arena,
                                     .catalog = view,
                                     .text = {},
                                     .database_name = {},
                                     .types = types,
                                     .parameters = {},
                                     .tables = {}});
  }
  TreeReading(const TreeReading&) = delete;
  TreeReading& operator=(const TreeReading&) = delete;

  IndexKeys keys_of(const IndexDescriptor& index, const TableShape& shape) {
    return bind_index_keys(*binding, index, [&](int16_t number, Oid, int32_t) {
      return column_slot(*binding, shape, number);
    });
  }

  Arena arena;
  TypeContext types;
  std::optional<StatementBinding> binding;
};

class StandaloneIndexKeys final : public IndexEvaluator {
 public:
  StandaloneIndexKeys(CatalogView& view, const TableDescriptor& table, const IndexDescriptor& index)
      : view_(view), table_(table), reading_(view, TypeContext()) {
    IndexKeys bound = reading_.keys_of(index, TableShape::of(table));
    PlannedStatement frame;
    frame.execution_parameter_count = reading_.binding->execution_parameters;
    PlanCompiler compiler(compiled_, frame);
    keys_ = std::move(compile_index_keys({&bound, 1}, table.columns.size(), compiler).front());
    context_.types = &reading_.types;
  }

  bool evaluate(std::span<const Datum> row, std::span<const Datum>* key) override {
    if (memory_.bytes_reserved() != 0) memory_.reset();
    context_.use_arena(memory_);
    if (!keys_.evaluate(row, compiled_.registers.data(), context_, &key_)) return false;
    *key = key_;
    return true;
  }

  std::string column_names(const TypeContext& types) override {
    return index_column_names(view_, table_, *keys_.index, types);
  }

 private:
  CatalogView& view_;
  const TableDescriptor& table_;
  TreeReading reading_;  // the programs' constants are there
  CompiledStatement compiled_;
  CompiledIndexKeys keys_;
  RowContext context_;
  Arena memory_;
  std::vector<Datum> key_;
};

bool looks_like_function(const BoundExpression& expression) {
  switch (expression.kind) {
    case ExpressionKind::call: {
      auto* call = as<CallExpression>(&expression);
      bool is_subscript =
          call->procedure == array_element_procedure || call->procedure == array_slice_procedure;
      return !is_subscript &&
             (call->form == CallForm::function || call->form == CallForm::sql_syntax);
    }
    case ExpressionKind::coalesce:
    case ExpressionKind::null_if:
    case ExpressionKind::min_max:
    case ExpressionKind::sql_value:
      return true;
    default:
      return false;
  }
}

}  // namespace

std::unique_ptr<IndexEvaluator> make_index_evaluator(CatalogView& view,
                                                     const TableDescriptor& table,
                                                     const IndexDescriptor& index) {
  return run_on_large_stack([&]() -> std::unique_ptr<IndexEvaluator> {
    return std::make_unique<StandaloneIndexKeys>(view, table, index);
  });
}

std::string index_key_text(TypeContext& types, const BoundExpression& expression,
                           const TableShape& table, bool pretty) {
  std::string text = definition_text(types, expression, &table, pretty);
  return looks_like_function(expression) ? text : concat("(", text, ")");
}

std::string index_column_names(CatalogView& view, const TableDescriptor& table,
                               const IndexDescriptor& index, const TypeContext& types) {
  return run_on_large_stack([&] {
    TreeReading reading(view, types);
    TableShape shape = TableShape::of(table);
    IndexKeys keys = reading.keys_of(index, shape);
    std::string names;
    size_t next = 0;
    for (const IndexColumn& column : index.columns) {
      names += names.empty() ? "" : ", ";
      names += column.number != 0
                   ? table.columns[static_cast<size_t>(column.number) - 1].name
                   : index_key_text(reading.types, *keys.expressions[next++], shape, true);
    }
    return names;
  });
}

}  // namespace pgsilo
