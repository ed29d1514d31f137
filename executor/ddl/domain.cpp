// CREATE DOMAIN, ALTER DOMAIN.
#include <optional>

#include "catalog/named_type.h"
#include "executor/ddl/ddl_command.h"
#include "executor/ddl/row_transforms.h"
#include "executor/ddl/table_definition.h"
#include "executor/ddl/type_names.h"
#include "planner/binder/expression_binder.h"
#include "planner/stored/stored_tree.h"
#include "sql/limits.h"
#include "sql/types/type.h"

namespace pgsilo {

namespace {

const BoundExpression* bind_domain_check(DdlRun& run, const ast::Constraint& syntax,
                                         const TableShape& value) {
  Scope scope(run.binding(), nullptr);
  add_columns(scope, value);
  return bind_condition(scope, syntax.expression, ExpressionPlace::check_constraint, "CHECK");
}

// 42601 of what only tables have.
void refuse_kind(const ast::Constraint& constraint) {
  std::string_view kind;
  switch (constraint.constraint_kind) {
    case ast::ConstraintKind::primary_key:
      kind = "primary key";
      break;
    case ast::ConstraintKind::unique:
      kind = "unique";
      break;
    case ast::ConstraintKind::exclusion:
      kind = "exclusion";
      break;
    case ast::ConstraintKind::foreign_key:
      kind = "foreign key";
      break;
    case ast::ConstraintKind::identity:
    case ast::ConstraintKind::generated:
      throw SqlError(sqlstate::syntax_error, "unrecognized constraint subtype");
    default:
      return;
  }
  throw SqlError(sqlstate::syntax_error, concat(kind, " constraints not possible for domains"));
}

std::string written_type(const ast::TypeName& name) {
  std::string text;
  for (std::string_view part : name.names) {
    if (part == "pg_catalog" && name.names.size() > 1) continue;
    text += (text.empty() ? "" : ".") + std::string(part);
  }
  return text;
}

// One CREATE DOMAIN.
class DomainMaker {
 public:
  DomainMaker(DdlRun& run, const ast::CreateDomainStmt& syntax) : run_(run), syntax_(syntax) {}

  DomainDefinition make() {
    set_base();
    set_collation();
    inherit_default();
    for (const ast::Constraint* each : syntax_.constraints) take(*each);
    return std::move(domain_);
  }

 private:
  void set_base() {
    BoundType base = bind_type(run_.binding(), *syntax_.type);
    const TypeInfo& type = type_info(base.type);
    if (type.typtype == 'p' || type.oid == type_oid::unknown) {
      throw SqlError(
          sqlstate::datatype_mismatch,
          concat("\"", written_type(*syntax_.type), "\" is not a valid base type for a domain"));
    }
    require_depth(base.type);
    domain_.base = base.type;
    domain_.typmod = base.typmod;
    domain_.dimensions = static_cast<int32_t>(syntax_.type->array_bounds.size());
  }

  // Who drops, reads or names a domain meets those beneath it one in another.
  void require_depth(Oid base) const {
    for (int depth = 1; base != invalid_oid; ++depth) {
      if (depth > limits::max_domain_depth) {
        throw SqlError(
            sqlstate::statement_too_complex,
            concat("domains cannot be more than ", limits::max_domain_depth, " over each other"));
      }
      auto found = run_.catalog().find_type(base);
      if (found == nullptr) found = run_.catalog().find_type(type_info(base).element);
      base = found != nullptr && found->domain != nullptr ? found->domain->base : invalid_oid;
    }
  }

  void set_collation() {
    domain_.collation = type_info(domain_.base).collation;
    if (auto beneath = run_.catalog().find_type(domain_.base);
        beneath != nullptr && beneath->domain != nullptr)
      domain_.collation = beneath->domain->collation;
    if (syntax_.collate == nullptr) return;
    if (domain_.collation == invalid_oid) {
      throw SqlError(sqlstate::datatype_mismatch, concat("collations are not supported by type ",
                                                         shown_type(run_.catalog(), domain_.base)));
    }
    domain_.collation = find_collation(run_, syntax_.collate);
  }

  void inherit_default() {
    auto beneath = run_.catalog().find_type(domain_.base);
    if (beneath == nullptr || beneath->domain == nullptr) return;
    domain_.default_value = beneath->domain->default_value;
    domain_.default_text = beneath->domain->default_text;
  }

  void take(const ast::Constraint& constraint) {
    switch (constraint.constraint_kind) {
      case ast::ConstraintKind::default_:
        return set_default(constraint);
      case ast::ConstraintKind::not_null:
      case ast::ConstraintKind::null_: {
        bool not_null = constraint.constraint_kind == ast::ConstraintKind::not_null;
        if (says_null_ && domain_.not_null != not_null) {
          throw SqlError(sqlstate::syntax_error, "conflicting NULL/NOT NULL constraints");
        }
        says_null_ = true;
        domain_.not_null = not_null;
        return;
      }
      case ast::ConstraintKind::check:
        return add_check(constraint);
      default:
        return refuse_kind(constraint);
    }
  }

  void set_default(const ast::Constraint& constraint) {
    if (has_default_) throw SqlError(sqlstate::syntax_error, "multiple default expressions");
    has_default_ = true;
    const BoundExpression* value = bind_default(run_, constraint.expression, syntax_.name.back(),
                                                domain_.base, domain_.typmod);
    domain_.default_value = {};
    domain_.default_text.clear();
    if (is_no_default(*value)) return;
    domain_.default_value = store_expression(run_.catalog(), *value);
    domain_.default_text = definition_text(run_.types(), *value, nullptr, false);
  }

  void add_check(const ast::Constraint& constraint) {
    if (constraint.no_inherit) {
      throw SqlError(sqlstate::invalid_object_definition,
                     "check constraints for domains cannot be marked NO INHERIT");
    }
    const BoundExpression* check =
        bind_domain_check(run_, constraint, TableShape::of_value(domain_.base, domain_.typmod));
    domain_.constraints.push_back(
        {std::string(constraint.name), store_expression(run_.catalog(), *check)});
  }

  DdlRun& run_;
  const ast::CreateDomainStmt& syntax_;
  DomainDefinition domain_;
  bool says_null_ = false;
  bool has_default_ = false;
};

class CreateDomain final : public DdlCommand {
 public:
  using DdlCommand::DdlCommand;
  std::string_view tag() const override { return "CREATE DOMAIN"; }

 private:
  void execute(DdlRun& run) const override {
    const auto& syntax = this->syntax<ast::CreateDomainStmt>();
    DataDefinition::ObjectName name = object_name(run, syntax.name);
    DomainDefinition made = DomainMaker(run, syntax).make();
    run.finish(run.definition().create_domain(name, made));
  }
};

// Holds a column's values against a new condition (null: NOT NULL).
class ValueCheck final : public RowTransform {
 public:
  ValueCheck(DdlRun& run, const BoundExpression* condition, const TableDescriptor& table,
             const ColumnDescriptor& column)
      : column_(static_cast<size_t>(column.number) - 1),
        name_(column.name),
        table_(table.name),
        schema_(table.schema_name) {
    if (condition != nullptr) condition_.emplace(*condition, 1, run.types(), &run.state().session);
  }

  void apply(std::span<Datum> values) override {
    const Datum& value = values[column_];
    if (!condition_) {
      if (!value.null) return;
      raise(sqlstate::not_null_violation, "contains null values");
    }
    memory_.reset();
    Datum holds = condition_->evaluate({&value, 1}, memory_);
    if (holds.null || holds.as_bool()) return;
    raise(sqlstate::check_violation, "contains values that violate the new constraint");
  }

 private:
  [[noreturn]] void raise(SqlState state, std::string_view what) const {
    throw SqlError(state, concat("column \"", name_, "\" of table \"", table_, "\" ", what))
        .table(schema_, table_)
        .column(name_);
  }

  std::optional<StandaloneExpression> condition_;
  size_t column_;
  std::string name_;
  std::string table_;
  std::string schema_;
  Arena memory_;
};

class ValueChecks final : public DomainValues {
 public:
  ValueChecks(DdlRun& run, const BoundExpression* condition) : run_(run), condition_(condition) {}
  std::unique_ptr<RowTransform> visitor(const TableDescriptor& table,
                                        const ColumnDescriptor& column) override {
    run_.refuse_pending_events(table, "ALTER DOMAIN");
    return std::make_unique<ValueCheck>(run_, condition_, table, column);
  }

 private:
  DdlRun& run_;
  const BoundExpression* condition_;
};

class AlterDomain final : public DdlCommand {
 public:
  using DdlCommand::DdlCommand;
  std::string_view tag() const override { return "ALTER DOMAIN"; }

 private:
  void execute(DdlRun& run) const override {
    const auto& syntax = this->syntax<ast::AlterDomainStmt>();
    const TypeDescriptor& type = domain_to_alter(run, syntax.name);
    Oid domain = type.address.oid;
    DataDefinition& definition = run.definition();
    switch (syntax.change) {
      case ast::AlterDomainKind::set_default:
        return set_default(run, type);
      case ast::AlterDomainKind::drop_default:
        return run.finish(definition.set_domain_default(domain, {}, {}));
      case ast::AlterDomainKind::set_not_null: {
        ValueChecks values(run, nullptr);
        return run.finish(definition.set_domain_not_null(domain, true, &values));
      }
      case ast::AlterDomainKind::drop_not_null:
        return run.finish(definition.set_domain_not_null(domain, false, nullptr));
      case ast::AlterDomainKind::add_constraint:
        return add_constraint(run, type);
      case ast::AlterDomainKind::drop_constraint:
        return run.finish(
            definition.drop_domain_constraint(domain, syntax.constraint_name, syntax.missing_ok));
      case ast::AlterDomainKind::validate_constraint:
        return validate_constraint(run, type);
    }
  }

  void set_default(DdlRun& run, const TypeDescriptor& type) const {
    const auto& syntax = this->syntax<ast::AlterDomainStmt>();
    const DomainDescriptor& domain = *type.domain;
    const BoundExpression* value =
        bind_default(run, syntax.expression, type.name, domain.base, domain.typmod);
    Oid oid = type.address.oid;
    if (is_no_default(*value)) return run.finish(run.definition().set_domain_default(oid, {}, {}));
    run.finish(
        run.definition().set_domain_default(oid, store_expression(run.catalog(), *value),
                                            definition_text(run.types(), *value, nullptr, false)));
  }

  void add_constraint(DdlRun& run, const TypeDescriptor& type) const {
    const ast::Constraint& constraint = *this->syntax<ast::AlterDomainStmt>().constraint;
    refuse_kind(constraint);
    const BoundExpression* check = bind_domain_check(
        run, constraint, TableShape::of_value(type.domain->base, type.domain->typmod));
    ValueChecks values(run, check);
    DomainConstraintDefinition made{std::string(constraint.name),
                                    store_expression(run.catalog(), *check), constraint.not_valid};
    run.finish(run.definition().add_domain_constraint(type.address.oid, made,
                                                      constraint.not_valid ? nullptr : &values));
  }

  void validate_constraint(DdlRun& run, const TypeDescriptor& type) const {
    std::string_view name = this->syntax<ast::AlterDomainStmt>().constraint_name;
    const DomainConstraint* found = type.domain->find_constraint(name);
    const BoundExpression* check =
        found != nullptr
            ? read_over(run.binding(), TableShape::of_value(type.domain->base, type.domain->typmod),
                        found->check)
            : nullptr;
    ValueChecks values(run, check);
    run.finish(run.definition().validate_domain_constraint(type.address.oid, name, &values));
  }
};

}  // namespace

std::unique_ptr<const UtilityCommand> make_create_domain(const PlannedOwner& planned) {
  return std::make_unique<CreateDomain>(planned);
}

std::unique_ptr<const UtilityCommand> make_alter_domain(const PlannedOwner& planned) {
  return std::make_unique<AlterDomain>(planned);
}

}  // namespace pgsilo
