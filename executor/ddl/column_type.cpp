#include "executor/ddl/column_type.h"

#include <memory>
#include <vector>

#include "executor/ddl/foreign_key.h"
#include "executor/ddl/index_definition.h"
#include "executor/ddl/row_transforms.h"
#include "executor/ddl/table_definition.h"
#include "planner/binder/coercion.h"
#include "planner/binder/expression_binder.h"
#include "planner/binder/modification_binder.h"
#include "planner/bound/make_expression.h"
#include "planner/stored/stored_tree.h"
#include "sql/types/type.h"

namespace pgsilo {
namespace {

// Converts the column of a row, which must satisfy the constraints then.
class TypeTransform final : public RowTransform {
 public:
  TypeTransform(DdlRun& run, const BoundExpression& value, size_t slot_count, size_t column)
      : conversion_(run, value, slot_count, column) {}
  void add_check(std::unique_ptr<CheckTransform> check) { checks_.push_back(std::move(check)); }

  void apply(std::span<Datum> values) override {
    conversion_.apply(values);
    for (const auto& check : checks_) check->apply(values);
  }

 private:
  ColumnTransform conversion_;
  std::vector<std::unique_ptr<CheckTransform>> checks_;
};

const BoundExpression* without_implicit_casts(const BoundExpression* value) {
  while (true) {
    if (auto* call = try_as<CallExpression>(value)) {
      if (call->form != CallForm::implicit_cast) return value;
      value = call->arguments[0];
    } else if (auto* relabel = try_as<RelabelExpression>(value)) {
      if (relabel->form != CallForm::implicit_cast) return value;
      value = relabel->argument;
    } else if (auto* conversion = try_as<IoConversionExpression>(value)) {
      if (conversion->form != CallForm::implicit_cast) return value;
      value = conversion->argument;
    } else if (auto* elements = try_as<ArrayCoercionExpression>(value)) {
      if (elements->form != CallForm::implicit_cast) return value;
      value = elements->argument;
    } else if (auto* modifier = try_as<TypmodCoercionExpression>(value)) {
      if (modifier->explicit_cast) return value;
      value = modifier->argument;
    } else {
      return value;
    }
  }
}

class TypeChange {
 public:
  TypeChange(DdlRun& run, Oid table, const ColumnDescriptor& column,
             const ast::AlterTableCommand& command)
      : run_(run),
        command_(command),
        table_(run.table(table)),
        column_(column),
        type_(bind_type(run.binding(), *command.column->type)),
        before_(TableShape::of(table_)),
        after_(before_) {
    after_.columns[slot()].type = type_.type;
    after_.columns[slot()].typmod = type_.typmod;
  }

  void make() {
    Oid table = table_.oid;
    int16_t number = column_.number;  // the descriptors may go with the first step
    TypeTransform transform(run_, *bind_value(), before_.columns.size(), slot());
    ColumnTypeDefinition made{.type = type_.type,
                              .typmod = type_.typmod,
                              .default_value = {},
                              .checks = {},
                              .indexes = {}};
    if (column_.has_default()) made.default_value = converted_default();
    for (const ConstraintDescriptor& constraint : table_.constraints) {
      if (constraint.type == ConstraintType::check && constraint.has_column(number - 1))
        made.checks.emplace_back(constraint.oid, converted_check(constraint, transform));
    }
    for (const auto& index : table_.indexes) {
      if (index->computes() && index->reads(number))
        made.indexes.push_back(converted_index(*index));
    }
    run_.finish(run_.definition().set_column_type(table, command_.name, made, &transform));
    check_foreign_keys_of(run_, table, number);
  }

 private:
  size_t slot() const { return static_cast<size_t>(column_.number) - 1; }

  const BoundExpression* bind_value() {
    const ast::Node* source = command_.expression;
    if (source == nullptr) {
      auto* itself = run_.arena().make<ast::ColumnRef>();
      itself->kind = ast::NodeKind::column_ref;
      std::string_view fields[] = {command_.name};
      itself->fields = run_.arena().copy_span(fields);
      source = itself;
    }
    try {
      return bind_conversion(run_, before_, source, command_.name, type_.type, type_.typmod);
    } catch (SqlError& error) {
      if (command_.expression != nullptr || error.state() != sqlstate::datatype_mismatch) throw;
      std::string name = type_name(type_.type);
      SqlError refused = not_convertible(concat("column \"", command_.name, "\""));
      if (column_.generated) throw refused;
      throw std::move(refused).hint(
          concat("You might need to specify \"USING ", command_.name, "::", name, "\"."));
    }
  }

  SqlError not_convertible(std::string_view what) const {
    return SqlError(sqlstate::datatype_mismatch,
                    concat(what, " cannot be cast automatically to type ", type_name(type_.type)));
  }

  StoredExpression converted_default() {
    const BoundExpression* value = without_implicit_casts(
        column_.generated ? read_over(run_.binding(), before_, column_.default_value)
                          : bind_column_default(run_.binding(), column_));
    value = coerce_to_target(run_.binding(), value, type_.type, type_.typmod,
                             CoercionContext::assignment, CallForm::implicit_cast, -1);
    if (value == nullptr)
      throw not_convertible(concat("default for column \"", command_.name, "\""));
    return store_expression(run_.catalog(), *value);
  }

  const ast::Node* parsed_text(const StoredExpression& stored) {
    std::string text =
        definition_text(run_.types(), *read_over(run_.binding(), before_, stored), &before_);
    return parse_expression(run_.binding(), run_.arena().copy_string(text));
  }

  // As checks; what it computes may be of another type, not immutable any more, or a column as it
  // is (`a::int8` of what is an int8 now).
  IndexExpressions converted_index(const IndexDescriptor& index) {
    IndexExpressions made;
    made.index = index.oid;
    KeptText kept(run_.binding());
    IndexBinder binder(run_, after_);
    for (const IndexExpression& expression : index.expressions) {
      IndexColumnDefinition column;
      binder.define(*parsed_text(expression.value), &column);
      made.keys.push_back(std::move(column));
    }
    if (index.is_partial()) made.predicate = binder.predicate(parsed_text(index.predicate));
    made.read_columns = binder.read_columns();
    return made;
  }

  // Operators may be others for the new type: the check is bound anew from its text.
  StoredExpression converted_check(const ConstraintDescriptor& constraint,
                                   TypeTransform& transform) {
    const ast::Node* text = parsed_text(constraint.check);
    KeptText kept(run_.binding());
    Scope scope(run_.binding(), nullptr);
    add_columns(scope, after_);
    const BoundExpression* condition =
        bind_condition(scope, text, ExpressionPlace::check_constraint, "CHECK");
    transform.add_check(
        std::make_unique<CheckTransform>(run_, *condition, table_, constraint.name));
    return store_expression(run_.catalog(), *condition);
  }

  DdlRun& run_;
  const ast::AlterTableCommand& command_;
  const TableDescriptor& table_;
  const ColumnDescriptor& column_;
  const BoundType type_;
  const TableShape before_;
  TableShape after_;
};

}  // namespace

void alter_column_type(DdlRun& run, Oid table, const ast::AlterTableCommand& command) {
  if (find_column(run, table, command.name).identity != IdentityKind::none) {
    SequenceOptions options;
    options.type = bind_type(run.binding(), *command.column->type).type;
    run.finish(run.definition().set_identity(table, command.name, IdentityKind::none, options));
  }
  const ColumnDescriptor& column = find_column(run, table, command.name);
  if (column.generated && command.expression != nullptr) {
    throw SqlError(sqlstate::invalid_column_definition,
                   "cannot specify USING when altering type of generated column")
        .detail(concat("Column \"", column.name, "\" is a generated column."));
  }
  TypeChange(run, table, column, command).make();
}

}  // namespace pgsilo
