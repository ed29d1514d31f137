#include "executor/ddl/table_definition.h"

#include "base/long_work.h"
#include "executor/ddl/sequence_options.h"
#include "executor/ddl/storage_options.h"
#include "planner/binder/coercion.h"
#include "planner/binder/expression_binder.h"
#include "planner/binder/modification_binder.h"
#include "planner/bound/expression_tree.h"
#include "planner/bound/make_expression.h"
#include "planner/explain/deparse.h"
#include "planner/stored/stored_tree.h"
#include "sql/types/text.h"
#include "sql/types/type.h"

namespace pgsilo {

namespace {

constexpr size_t column_work = 256;

const SlotExpression* make_slot(Arena& arena, const TableShape& table, size_t column) {
  auto* slot = make_expression<SlotExpression>(arena, table.columns[column].type);
  slot->typmod = table.columns[column].typmod;
  slot->slot = static_cast<int32_t>(column);
  slot->name = table.columns[column].name;
  return slot;
}

ColumnDescriptor column_like(std::string_view name, Oid type, int32_t typmod) {
  ColumnDescriptor column;
  column.name = name;
  column.type = type;
  column.typmod = typmod;
  return column;
}

}  // namespace

Oid find_collation(DdlRun& run, const ast::CollateClause* collate) {
  constexpr Oid default_collation = 100;
  constexpr Oid c_collation = 950;
  constexpr Oid posix_collation = 951;
  if (collate == nullptr) return invalid_oid;
  std::string_view name = collate->collation.back();
  if (name == "default") return default_collation;
  if (name == "C") return c_collation;
  if (name == "POSIX") return posix_collation;
  throw SqlError(sqlstate::feature_not_supported,
                 concat("collation \"", name, "\" is not supported"))
      .at(run.binding().position(collate->location));
}

void add_columns(Scope& scope, const TableShape& table) {
  did_work(table.columns.size() * column_work);
  ScopeItem& item = scope.items.emplace_back();
  item.name = table.name;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    if (!table.names[i].empty())
      item.columns.push_back({table.columns[i].name, make_slot(scope.arena(), table, i),
                              !table.generated.empty() && table.generated[i]});
  }
}

const BoundExpression* read_over(StatementBinding& binding, const TableShape& table,
                                 const StoredExpression& stored) {
  return read_expression(binding, stored, [&](int16_t number, Oid, int32_t) {
    return column_slot(binding, table, number);
  });
}

const BoundExpression* column_slot(StatementBinding& binding, const TableShape& table,
                                   int16_t number) {
  require_column(number, table.columns.size());
  return make_slot(binding.arena, table, static_cast<size_t>(number) - 1);
}

TableShape TableShape::of(const TableDescriptor& table) {
  TableShape shape;
  shape.name = table.name;
  for (const ColumnDescriptor& column : table.columns) {
    shape.names.push_back(column.dropped ? std::string() : column.name);
    shape.columns.push_back({column.name, column.type, column.typmod});
    shape.generated.push_back(column.generated);
  }
  return shape;
}

TableShape TableShape::of_value(Oid type, int32_t typmod) {
  TableShape shape;
  shape.names.emplace_back("value");
  shape.columns.push_back({"value", type, typmod});
  shape.is_value = true;
  return shape;
}

const ColumnDescriptor& find_column(DdlRun& run, Oid table, std::string_view name) {
  const TableDescriptor& descriptor = run.table(table);
  if (const ColumnDescriptor* column = descriptor.find_column(name)) return *column;
  throw SqlError(sqlstate::undefined_column, concat("column \"", name, "\" of relation \"",
                                                    descriptor.name, "\" does not exist"));
}

std::string definition_text(TypeContext& types, const BoundExpression& expression,
                            const TableShape* table, bool pretty) {
  DeparseContext names;
  names.types = &types;
  names.pretty = pretty;
  names.definition = true;
  return deparse(names, expression, [&](int32_t slot) {
    if (table->is_value) return std::string("VALUE");
    return std::string(quote_identifier(table->names[static_cast<size_t>(slot)], *types.arena));
  });
}

void throw_unsupported_constraint(DdlRun& run, const ast::Constraint& syntax) {
  std::string_view feature = "this kind of constraint";
  switch (syntax.constraint_kind) {
    case ast::ConstraintKind::exclusion:
      feature = "EXCLUDE";
      break;
    default:
      break;
  }
  throw_unsupported(feature, run.binding().position(syntax.location));
}

const BoundExpression* bind_default(DdlRun& run, const ast::Node* expression,
                                    std::string_view column, Oid type, int32_t typmod) {
  if (expression == nullptr) return nullptr;
  Scope scope(run.binding(), nullptr);
  const BoundExpression* value =
      bind_expression(scope, expression, ExpressionPlace::column_default);
  return coerce_default(run, value, column, type, typmod);
}

const BoundExpression* coerce_default(DdlRun& run, const BoundExpression* value,
                                      std::string_view column, Oid type, int32_t typmod) {
  Oid given = value->type;
  const BoundExpression* coerced = coerce_to_target(
      run.binding(), value, type, typmod, CoercionContext::assignment, CallForm::implicit_cast, -1);
  if (coerced != nullptr) return coerced;
  throw SqlError(sqlstate::datatype_mismatch,
                 concat("column \"", column, "\" is of type ", type_name(type),
                        " but default expression is of type ", type_name(given)))
      .hint("You will need to rewrite or cast the expression.");
}

bool is_no_default(const BoundExpression& value) {
  auto* constant = try_as<ConstantExpression>(&value);
  return constant != nullptr && constant->value.null;
}

const BoundExpression* bind_conversion(DdlRun& run, const TableShape& table,
                                       const ast::Node* expression, std::string_view column,
                                       Oid type, int32_t typmod) {
  Scope scope(run.binding(), nullptr);
  add_columns(scope, table);
  const BoundExpression* value =
      bind_expression(scope, expression, ExpressionPlace::column_transform);
  return coerce_to_column(run.binding(), value, column_like(column, type, typmod), -1);
}

namespace {

void take_default(DdlRun& run, const ast::Constraint& syntax, DefinedColumn& made) {
  ColumnDefinition& column = made.column;
  made.has_default = true;
  made.default_value =
      bind_default(run, syntax.expression, column.name, column.type, column.typmod);
  if (!is_no_default(*made.default_value))
    column.default_value = store_expression(run.catalog(), *made.default_value);
}

// The type that serial and its kin stand for; 0: the name is another type's.
Oid serial_type(DdlRun& run, const ast::TypeName& type) {
  if (type.names.size() != 1) return invalid_oid;
  struct Serial {
    std::string_view name;
    Oid type;
  };
  constexpr Serial serials[] = {{"smallserial", type_oid::int2}, {"serial2", type_oid::int2},
                                {"serial", type_oid::int4},      {"serial4", type_oid::int4},
                                {"bigserial", type_oid::int8},   {"serial8", type_oid::int8}};
  for (const Serial& serial : serials) {
    if (type.names[0] != serial.name) continue;
    if (!type.array_bounds.empty()) {
      throw SqlError(sqlstate::feature_not_supported, "array of serial is not implemented")
          .at(run.binding().position(type.location));
    }
    return serial.type;
  }
  return invalid_oid;
}

void set_type(DdlRun& run, const ast::TypeName& syntax, ColumnDefinition& column) {
  column.type = serial_type(run, syntax);
  if (column.type != invalid_oid) {
    column.sequence.emplace();
    column.sequence->default_of = [&run, type = column.type](Oid sequence) {
      return store_expression(run.catalog(), *make_next_value(run.binding(), sequence, type));
    };
    column.not_null = true;
    return;
  }
  BoundType type = bind_type(run.binding(), syntax);
  column.type = type.type;
  column.typmod = type.typmod;
}

// A column has one default, one identity or one generation expression; serial is a default.
void refuse_second_value(DdlRun& run, const ast::Constraint& syntax, const DefinedColumn& made,
                         std::string_view table) {
  using Kind = ast::ConstraintKind;
  const ColumnDefinition& column = made.column;
  bool has_identity = column.sequence && column.sequence->identity != IdentityKind::none;
  bool has_default = made.has_default || (column.sequence && !has_identity);
  bool has_generation = made.generation != nullptr;
  if (!has_identity && !has_default && !has_generation) return;
  auto meets = [&](Kind kind, bool has) { return has || syntax.constraint_kind == kind; };
  std::string_view what = "both default and identity specified";
  if (meets(Kind::generated, has_generation)) {
    what = meets(Kind::identity, has_identity) ? "both identity and generation expression specified"
                                               : "both default and generation expression specified";
  }
  if (syntax.constraint_kind == Kind::identity && has_identity)
    what = "multiple identity specifications";
  if (syntax.constraint_kind == Kind::default_ && has_default)
    what = "multiple default values specified";
  if (syntax.constraint_kind == Kind::generated && has_generation)
    what = "multiple generation clauses specified";
  SqlError error(sqlstate::syntax_error,
                 concat(what, " for column \"", column.name, "\" of table \"", table, "\""));
  bool is_serial = column.sequence && !has_identity;
  if (!is_serial) error.amend().position = run.binding().position(syntax.location);
  throw error;
}

}  // namespace

ColumnSequenceDefinition define_identity(DdlRun& run, const ast::Constraint& syntax) {
  SequenceClauses clauses = read_sequence_options(run, syntax.options);
  if (clauses.options.type) {
    // The column has one.
    throw SqlError(sqlstate::syntax_error, "conflicting or redundant options")
        .at(run.binding().position(syntax.options[0].location));
  }
  return {clauses.options, syntax.identity_always ? IdentityKind::always : IdentityKind::by_default,
          std::move(clauses.name), /*default_of=*/{}};
}

DefinedColumn define_column(DdlRun& run, const ast::ColumnDef& syntax, std::string_view table) {
  DefinedColumn made;
  ColumnDefinition& column = made.column;
  column.name = syntax.name;
  set_type(run, *syntax.type, column);
  column.collation = find_collation(run, syntax.collate);
  if (!syntax.compression.empty()) throw_unsupported("COMPRESSION");
  bool is_null = false;
  auto position = [&](const ast::Constraint& constraint) {
    return run.binding().position(constraint.location);
  };
  auto conflicting = [&](const ast::Constraint& constraint) {
    return SqlError(sqlstate::syntax_error,
                    concat("conflicting NULL/NOT NULL declarations for column \"", column.name,
                           "\" of table \"", table, "\""))
        .at(position(constraint));
  };
  for (const ast::Constraint* constraint : syntax.constraints) {
    switch (constraint->constraint_kind) {
      case ast::ConstraintKind::null_:
        if (column.not_null) throw conflicting(*constraint);
        is_null = true;
        break;
      case ast::ConstraintKind::not_null:
        if (is_null) throw conflicting(*constraint);
        column.not_null = true;
        break;
      case ast::ConstraintKind::default_:
        refuse_second_value(run, *constraint, made, table);
        take_default(run, *constraint, made);
        break;
      case ast::ConstraintKind::primary_key:
        if (is_null) throw conflicting(*constraint);
        [[fallthrough]];
      case ast::ConstraintKind::unique:
        made.keys.push_back(define_key(run, *constraint, column.name));
        break;
      case ast::ConstraintKind::check:
        made.checks.push_back(constraint);
        break;
      case ast::ConstraintKind::foreign_key:
        made.foreign_keys.push_back(constraint);
        break;
      case ast::ConstraintKind::identity:
        refuse_second_value(run, *constraint, made, table);
        if (is_null) throw conflicting(*constraint);
        column.not_null = true;
        column.sequence = define_identity(run, *constraint);
        break;
      case ast::ConstraintKind::generated:
        refuse_second_value(run, *constraint, made, table);
        made.generation = constraint;
        break;
      default:
        throw_unsupported_constraint(run, *constraint);
    }
  }
  return made;
}

IndexDefinition define_key(DdlRun& run, const ast::Constraint& syntax, std::string_view column) {
  int position = run.position(syntax.location);
  if (syntax.deferrable || syntax.initially_deferred)
    throw_unsupported("DEFERRABLE constraints", position);
  if (!syntax.including.empty()) throw_unsupported("INCLUDE in constraints", position);
  if (!syntax.using_index.empty()) throw_unsupported("USING INDEX", position);
  IndexDefinition key;
  key.name = syntax.name;
  key.unique = true;
  key.is_constraint = true;
  key.primary = syntax.constraint_kind == ast::ConstraintKind::primary_key;
  key.nulls_not_distinct = syntax.nulls_not_distinct;
  key.options = define_options(run, syntax.options, StorageOptionsOf::index);
  key.position = position;
  if (!column.empty()) {
    key.columns.push_back({.column = std::string(column), .position = position});
  }
  for (std::string_view name : syntax.keys)
    key.columns.push_back({.column = std::string(name), .position = position});
  return key;
}

CheckDefinition define_check(DdlRun& run, const ast::Constraint& syntax, const TableShape& table,
                             const BoundExpression** bound) {
  if (syntax.no_inherit) throw_unsupported("NO INHERIT", run.binding().position(syntax.location));
  Scope scope(run.binding(), nullptr);
  add_columns(scope, table);
  *bound = bind_condition(scope, syntax.expression, ExpressionPlace::check_constraint, "CHECK");
  CheckDefinition check;
  check.name = syntax.name;
  check.condition = store_expression(run.catalog(), **bound);
  std::vector<bool> used(table.columns.size());
  contains(**bound, [&](const BoundExpression& part) {
    if (const auto* slot = try_as<SlotExpression>(&part))
      used[static_cast<size_t>(slot->slot)] = true;
    return false;
  });
  for (size_t i = 0; i < used.size(); ++i) {
    if (used[i]) check.columns.push_back(table.names[i]);
  }
  return check;
}

}  // namespace pgsilo
