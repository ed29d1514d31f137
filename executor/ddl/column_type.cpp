#include "executor/ddl/column_type.h"

#include <memory>
#include <vector>

#include "executor/ddl/foreign_key.h"
#include "executor/ddl/row_transforms.h"
#include "executor/ddl/table_definition.h"
#include "planner/binder/coercion.h"
#include "planner/binder/expression_binder.h"
#include "planner/binder/modification_binder.h"
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
    ColumnTypeDefinition made{
        .type = type_.type, .typmod = type_.typmod, .default_text = {}, .check_texts = {}};
    if (column_.has_default()) made.default_text = converted_default();
    for (const ConstraintDescriptor& constraint : table_.constraints) {
      if (constraint.type == ConstraintType::check && constraint.has_column(number - 1))
        made.check_texts.emplace_back(constraint.oid, converted_check(constraint, transform));
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
      throw not_convertible(concat("column \"", command_.name, "\""))
          .hint(concat("You might need to specify \"USING ", command_.name, "::", name, "\"."));
    }
  }

  SqlError not_convertible(std::string_view what) const {
    return SqlError(sqlstate::datatype_mismatch,
                    concat(what, " cannot be cast automatically to type ", type_name(type_.type)));
  }

  std::string text_of(const BoundExpression& expression) {
    return definition_text(run_.types(), expression, &before_);
  }

  std::string converted_default() {
    std::string text = column_.default_text;
    // One that names sequences has no literals beside them.
    if (column_.default_sequences.empty()) {
      const BoundExpression* old = bind_column_default(run_.binding(), column_);
      const auto* constant = try_as<ConstantExpression>(old);
      bool is_null = constant != nullptr && constant->value.null;  // of any type
      text = is_null ? "NULL" : text_of(*old);
    }
    KeptText kept(run_.binding());
    Scope scope(run_.binding(), nullptr);
    const BoundExpression* value = bind_expression(scope, parse_expression(run_.binding(), text),
                                                   ExpressionPlace::column_default);
    if (coerce_to_target(run_.binding(), value, type_.type, type_.typmod,
                         CoercionContext::assignment, CallForm::implicit_cast, -1) == nullptr) {
      throw not_convertible(concat("default for column \"", command_.name, "\""));
    }
    return text;
  }

  const BoundExpression* bind_check(const TableShape& shape, std::string_view text) {
    KeptText kept(run_.binding());
    Scope scope(run_.binding(), nullptr);
    add_columns(scope, shape);
    return bind_condition(scope, parse_expression(run_.binding(), text),
                          ExpressionPlace::check_constraint, "CHECK");
  }

  std::string converted_check(const ConstraintDescriptor& constraint, TypeTransform& transform) {
    std::string text = text_of(*bind_check(before_, constraint.check_text));
    transform.add_check(
        std::make_unique<CheckTransform>(run_, *bind_check(after_, text), table_, constraint.name));
    return text;
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
  TypeChange(run, table, find_column(run, table, command.name), command).make();
}

}  // namespace pgsilo
