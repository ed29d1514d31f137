#include "executor/ddl/expression_upgrade.h"

#include <algorithm>

#include "base/large_stack.h"
#include "base/server_log.h"
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

void tell(const TableDescriptor& table, std::string_view what, std::string_view why) {
  write_server_log(LogLevel::warning,
                   concat("could not read ", what, " of table \"", table.schema_name, ".",
                          table.name, "\", which an older program kept as text: ", why),
                   "Whoever uses it gets an error.", "Drop it, or define it anew.");
}

class Upgrade {
 public:
  Upgrade(CatalogView& view, Transaction& transaction, const TableDescriptor& table,
          const TypeContext& settings)
      : view_(view),
        transaction_(transaction),
        table_(table),
        names_(view, transaction),
        types_(settings) {
    types_.arena = &arena_;
    types_.object_names = &names_;
  }

  // False: none of the table's texts can be read.
  bool read() {
    for (const ColumnDescriptor& column : table_.columns) {
      if (!column.default_value.is_sql()) continue;
      try {
        trees_.defaults.emplace_back(column.number, store(column.default_value, &column));
      } catch (const SqlError& error) {
        tell(table_, concat("the default of column \"", column.name, "\""),
             error.diagnostic().message);
      }
    }
    for (const ConstraintDescriptor& constraint : table_.constraints) {
      if (!constraint.check.is_sql()) continue;
      try {
        trees_.checks.emplace_back(constraint.oid, store(constraint.check, nullptr));
      } catch (const SqlError& error) {
        tell(table_, concat("constraint \"", constraint.name, "\""), error.diagnostic().message);
      }
    }
    return !trees_.defaults.empty() || !trees_.checks.empty();
  }
  TransactionStatus write() {
    return DataDefinition(view_, transaction_, types_).set_expressions(table_.oid, trees_);
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
  TableExpressions trees_;
};

// The texts name what was in the search path of whoever wrote them: most likely the table's schema,
// then public, then what was made first.
void set_search_path(CatalogView& view, const TableDescriptor& table) {
  std::vector<Oid> others;
  for (const auto& [oid, schema] : view.snapshot().schemas()) {
    bool is_users = oid == system_oid::schema_public || oid >= Catalog::first_user_oid;
    if (is_users && oid != table.schema) others.push_back(oid);
  }
  std::ranges::sort(others);
  others.insert(others.begin(), table.schema);
  view.set_search_path(std::move(others));
}

TransactionStatus upgrade(CatalogView& view, Transaction& transaction, Oid oid,
                          const TypeContext& settings) {
  const TableDescriptor& table = *view.find_table(oid);
  set_search_path(view, table);
  Upgrade upgrade(view, transaction, table, settings);
  if (!upgrade.read()) return TransactionStatus::not_found;
  TransactionStatus status = upgrade.write();
  if (status == TransactionStatus::ok) status = view.before_commit(transaction);
  return status == TransactionStatus::ok ? transaction.commit() : status;
}

}  // namespace

bool store_expression_texts(Catalog& catalog, WorkerContext& worker, const WaitSettings& waits,
                            const TypeContext& settings) {
  std::shared_ptr<const CatalogSnapshot> found = catalog.snapshot();
  Transaction transaction(worker, waits);
  CatalogView view(catalog);
  bool committed = false;
  for (const auto& [oid, table] : found->tables()) {
    if (!has_text(*table)) continue;
    transaction.begin(TransactionMode::one_shot);
    view.refresh();
    TransactionStatus status =
        run_on_large_stack([&] { return upgrade(view, transaction, oid, settings); });
    if (status == TransactionStatus::ok) {
      view.committed(transaction);
      committed = true;
      continue;
    }
    transaction.abort();
    view.forget_local();
    // No memory, or no room in the log: the next start tries again.
    if (status != TransactionStatus::not_found) tell(*table, "the expressions", name_of(status));
  }
  return committed;
}

}  // namespace pgsilo
