// Type names, casts and COLLATE.
#include "catalog/named_type.h"
#include "planner/binder/coercion.h"
#include "planner/binder/expression_binder.h"
#include "planner/binder/expression_families.h"
#include "planner/unsupported_features.h"
#include "sql/limits.h"
#include "sql/types/type.h"

namespace pgsilo {

namespace {

std::string written_name(const ast::TypeName& name) {
  std::string text;
  for (std::string_view part : name.names) {
    if (part == "pg_catalog" && name.names.size() > 1) continue;
    text += (text.empty() ? "" : ".") + std::string(part);
  }
  return text;
}

[[noreturn]] void throw_undefined_type(StatementBinding& binding, const ast::TypeName& name) {
  std::string text = written_name(name);
  if (!name.array_bounds.empty()) text += "[]";
  throw SqlError(sqlstate::undefined_object, concat("type \"", text, "\" does not exist"))
      .at(binding.position(name.location));
}

std::string_view word_with_precision(Oid type) {
  switch (type) {
    case type_oid::timestamp:
    case type_oid::timestamptz:
      return "TIMESTAMP";
    case type_oid::time:
    case type_oid::timetz:
      return "TIME";
    case type_oid::interval:
      return "INTERVAL";
    default:
      return {};
  }
}

int32_t bind_typmod(StatementBinding& binding, const ast::TypeName& name, const TypeInfo& type) {
  if (name.typmods.empty()) return no_typmod;
  if (type.modifiers.make == nullptr) {
    throw SqlError(sqlstate::syntax_error,
                   concat("type modifier is not allowed for type \"", written_name(name), "\""))
        .at(binding.position(name.location));
  }
  std::vector<int32_t> modifiers;
  for (const ast::Node* node : name.typmods) {
    auto* constant = ast::try_as<ast::Constant>(node);
    if (constant == nullptr || constant->constant_kind != ast::ConstantKind::integer) {
      throw SqlError(sqlstate::syntax_error,
                     "type modifiers must be simple constants or identifiers")
          .at(binding.position(name.location));
    }
    modifiers.push_back(constant->integer);
  }
  try {
    int32_t typmod = type.modifiers.make(modifiers);
    // The first of an interval's modifiers is its fields.
    if (type.oid != type_oid::interval || modifiers.size() > 1)
      warn_of_precision(binding, type.oid, modifiers.back(), name.location);
    return typmod;
  } catch (SqlError& error) {
    if (error.diagnostic().position < 0) error.amend().position = binding.position(name.location);
    throw;
  }
}

}  // namespace

void warn_of_precision(StatementBinding& binding, Oid type, int32_t precision, int32_t location) {
  std::string_view word = word_with_precision(type);
  if (word.empty() || precision <= limits::max_time_precision) return;
  bool zoned = type == type_oid::timestamptz || type == type_oid::timetz;
  SqlError warning(Severity::warning, sqlstate::invalid_parameter_value,
                   concat(word, "(", precision, ")", zoned ? " WITH TIME ZONE" : "",
                          " precision reduced to maximum allowed, ", limits::max_time_precision));
  binding.warnings.push_back(std::move(warning).at(binding.position(location)));
}

BoundType bind_type(StatementBinding& binding, const ast::TypeName& name) {
  if (name.oid != invalid_oid) {
    binding.use_type(name.oid);
    return {name.oid, no_typmod};
  }
  if (name.percent_type)
    throw_unsupported(UnsupportedFeature::type_of_column, binding.position(name.location));
  const TypeInfo* type = nullptr;
  try {
    type = find_named_type(binding.catalog, name.names);
  } catch (SqlError& error) {
    error.amend().position = binding.position(name.location);
    throw;
  }
  if (type == nullptr) throw_undefined_type(binding, name);
  binding.use_type(type->oid);
  BoundType bound{type->oid, bind_typmod(binding, name, *type)};
  if (name.array_bounds.empty()) return bound;
  if (type->array == invalid_oid) throw_undefined_type(binding, name);
  bound.type = type->array;
  return bound;
}

namespace {

const BoundExpression* bind_execute_argument(Scope& scope, const ast::TypeCast& node) {
  PlaceGuard place(scope, ExpressionPlace::execute_parameter);
  BoundType target = bind_type(scope.binding, *node.type);
  const BoundExpression* argument = bind_expression(scope, node.argument);
  const BoundExpression* result =
      coerce_to_target(scope.binding, argument, target.type, no_typmod, CoercionContext::assignment,
                       CallForm::implicit_cast, -1);
  if (result != nullptr) return result;
  throw SqlError(
      sqlstate::datatype_mismatch,
      concat("parameter $", node.execute_parameter, " of type ", type_name(argument->type),
             " cannot be coerced to the expected type ", type_name(target.type)))
      .hint("You will need to rewrite or cast the expression.")
      .at(scope.position(argument->location));
}

}  // namespace

const BoundExpression* bind_type_cast(Scope& scope, const ast::TypeCast& node) {
  if (node.execute_parameter != 0) return bind_execute_argument(scope, node);
  BoundType target = bind_type(scope.binding, *node.type);
  const BoundExpression* argument = nullptr;
  auto* array = ast::try_as<ast::ArrayExpr>(node.argument);
  BoundType base = target;
  base.type = base_type_of(target.type, &base.typmod);
  if (array != nullptr && is_array_type(type_info(base.type))) {
    argument = bind_array(scope, *array, base);
  } else {
    argument = bind_expression(scope, node.argument);
  }
  int32_t location = node.location >= 0 ? node.location : node.type->location;
  const BoundExpression* result =
      coerce_to_target(scope.binding, argument, target.type, target.typmod,
                       CoercionContext::explicit_, CallForm::explicit_cast, location);
  if (result == nullptr) {
    throw SqlError(sqlstate::cannot_coerce, concat("cannot cast type ", type_name(argument->type),
                                                   " to ", type_name(target.type)))
        .at(scope.position(location >= 0 ? location : argument->location));
  }
  return result;
}

const BoundExpression* bind_collate(Scope& scope, const ast::CollateClause& node) {
  const BoundExpression* argument = bind_expression(scope, node.argument);
  const TypeInfo& type = type_info(argument->type);
  if (type.oid != type_oid::unknown && type.collation == invalid_oid) {
    throw SqlError(sqlstate::datatype_mismatch,
                   concat("collations are not supported by type ", type_name(argument->type)))
        .at(scope.position(node.location));
  }
  // All text is ordered by code points: the collations that mean this change nothing.
  std::string_view name = node.collation.back();
  for (std::string_view known : {"default", "C", "POSIX", "ucs_basic", "C.UTF-8", "C.utf8"}) {
    if (name == known) return argument;
  }
  throw_unsupported(UnsupportedFeature::collation, scope.position(node.location));
}

}  // namespace pgsilo
