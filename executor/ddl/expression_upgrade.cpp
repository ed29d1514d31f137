#include "executor/ddl/expression_upgrade.h"

#include <algorithm>

#include "catalog/catalog.h"
#include "catalog/catalog_view.h"
#include "catalog/catalog_writer.h"
#include "catalog/data_definition.h"
#include "executor/catalog_names.h"
#include "executor/ddl/table_definition.h"
#include "planner/binder/expression_binder.h"
#include "planner/binder/modification_binder.h"
#include "planner/stored/stored_tree.h"
#include "storage/transaction/transaction.h"

namespace pgsilo {

namespace {

bool has_text(const TableDescriptor& table) {
  return std::ranges::any_of(table.columns, &StoredExpression::is_sql,
                             &ColumnDescriptor::default_value) ||
         std::ranges::any_of(table.constraints, &StoredExpression::is_sql,
                             &ConstraintDescriptor::check);
}

class Upgrade {
 public:
  Upgrade(CatalogView& view, Transaction& transaction, const TableDescriptor& table)
      : view_(view), transaction_(transaction), table_(table), names_(view, transaction) {
    types_.arena = &arena_;
    types_.object_names = &names_;
  }

  TransactionStatus run() {
    TableExpressions trees;
    for (const ColumnDescriptor& column : table_.columns) {
      if (column.default_value.is_sql())
        trees.defaults.emplace_back(column.number, store(column.default_value, &column));
    }
    for (const ConstraintDescriptor& constraint : table_.constraints) {
      if (constraint.check.is_sql())
        trees.checks.emplace_back(constraint.oid, store(constraint.check, nullptr));
    }
    return DataDefinition(view_, transaction_, types_).set_expressions(table_.oid, trees);
  }

 private:
  // A default of that column, or a check.
  StoredExpression store(const StoredExpression& text, const ColumnDescriptor* column) {
    StatementBinding binding{.arena = arena_,
                             .catalog = view_,
                             .text = {},
                             .database_name = {},
                             .types = types_,
                             .parameters = {},
                             .tables = {}};
    TableShape shape = TableShape::of(table_);
    Scope scope(binding, nullptr);
    if (column == nullptr) add_columns(scope, shape);
    const ast::Node* syntax = parse_expression(binding, text.text);
    if (column == nullptr) {
      return store_expression(
          view_, *bind_condition(scope, syntax, ExpressionPlace::check_constraint, "CHECK"));
    }
    const BoundExpression* value = bind_expression(scope, syntax, ExpressionPlace::column_default);
    return store_expression(view_, *coerce_to_column(binding, value, *column, -1));
  }

  CatalogView& view_;
  Transaction& transaction_;
  const TableDescriptor& table_;
  Arena arena_;
  CatalogNames names_;
  TypeContext types_;
};

// The texts name what was in the search path of whoever wrote them: the table's schema comes first.
void set_search_path(CatalogView& view, const TableDescriptor& table) {
  std::vector<Oid> path{table.schema};
  for (const auto& [oid, schema] : view.snapshot().schemas()) {
    if (oid != table.schema) path.push_back(oid);
  }
  view.set_search_path(std::move(path));
}

TransactionStatus upgrade(CatalogView& view, Transaction& transaction,
                          const TableDescriptor& table) {
  set_search_path(view, table);
  TransactionStatus status = Upgrade(view, transaction, table).run();
  if (status == TransactionStatus::ok) status = view.before_commit(transaction);
  if (status == TransactionStatus::ok) status = transaction.commit();
  return status;
}

}  // namespace

bool store_expression_texts(Catalog& catalog, WorkerContext& worker, const WaitSettings& waits) {
  std::shared_ptr<const CatalogSnapshot> found = catalog.snapshot();
  Transaction transaction(worker, waits);
  CatalogView view(catalog);
  bool committed = false;
  for (const auto& [oid, table] : found->tables()) {
    if (!has_text(*table)) continue;
    transaction.begin(TransactionMode::one_shot);
    view.refresh();
    try {
      TransactionStatus status = upgrade(view, transaction, *view.find_table(oid));
      if (status != TransactionStatus::ok) throw EngineOutcome{status};
    } catch (const SqlError& error) {
      transaction.abort();
      throw SqlError(Severity::fatal, error.state(),
                     concat("could not read an expression of table \"", table->name,
                            "\": ", error.diagnostic().message))
          .hint("Drop the default or the check with the program that made the database.");
    }
    view.committed(transaction);
    committed = true;
  }
  return committed;
}

}  // namespace pgsilo
