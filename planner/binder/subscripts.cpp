#include "planner/binder/subscripts.h"

#include <vector>

#include "catalog/builtin/builtin.h"
#include "catalog/descriptors.h"
#include "planner/binder/coercion.h"
#include "planner/binder/expression_binder.h"
#include "planner/binder/modification_binder.h"
#include "planner/bound/expression_tree.h"
#include "planner/bound/make_expression.h"
#include "planner/unsupported_features.h"
#include "sql/limits.h"
#include "sql/types/array_parts.h"
#include "sql/types/type.h"

namespace pgsilo {

namespace {

using Kind = ast::IndirectionStep::Kind;

struct Subscripts {
  bool is_slice = false;
  std::vector<const BoundExpression*> uppers;
  std::vector<const BoundExpression*> lowers;

  // All upper bounds come first: so PostgreSQL evaluates them.
  std::vector<const BoundExpression*> all() const {
    std::vector<const BoundExpression*> both = uppers;
    both.insert(both.end(), lowers.begin(), lowers.end());
    return both;
  }
};

int32_t earlier(int32_t one, int32_t other) {
  return one < 0 || (other >= 0 && other < one) ? other : one;
}

// Where PostgreSQL says a subscript is: by what was parsed, where what has subscripts itself has no
// place.
int32_t written_location(const ast::Node* node) {
  if (node == nullptr || node->kind == ast::NodeKind::indirection) return -1;
  if (auto* cast = ast::try_as<ast::TypeCast>(node)) {
    int32_t location = earlier(cast->location, written_location(cast->argument));
    return earlier(location, cast->type->location);
  }
  if (auto* operation = ast::try_as<ast::OperatorExpr>(node))
    return earlier(operation->location, written_location(operation->left));
  return node->location;
}

const BoundExpression* bind_subscript(Scope& scope, const ast::Node* node, int64_t omitted) {
  if (node == nullptr) return make_constant(scope.arena(), type_oid::int8, Datum::of_int(omitted));
  const BoundExpression* given = bind_expression(scope, node);
  const BoundExpression* subscript =
      coerce_to_target(scope.binding, given, type_oid::int4, no_typmod, CoercionContext::assignment,
                       CallForm::implicit_cast, -1);
  if (subscript != nullptr) return subscript;
  throw SqlError(sqlstate::datatype_mismatch, "array subscript must have type integer")
      .at(scope.position(written_location(node)));
}

// One slice among them makes slices of all: a[2] is a[1:2] then.
Subscripts bind_subscripts(Scope& scope, ast::List<ast::IndirectionStep> steps) {
  Subscripts subscripts;
  for (const ast::IndirectionStep& step : steps) subscripts.is_slice |= step.kind == Kind::slice;
  for (const ast::IndirectionStep& step : steps) {
    if (subscripts.is_slice) {
      subscripts.lowers.push_back(step.kind == Kind::slice
                                      ? bind_subscript(scope, step.lower, omitted_lower_bound)
                                      : make_int4(scope.arena(), 1));
    }
    subscripts.uppers.push_back(bind_subscript(scope, step.upper, omitted_upper_bound));
  }
  if (steps.size() > limits::max_array_dimensions) {
    throw SqlError(sqlstate::program_limit_exceeded,
                   concat("number of array dimensions (", steps.size(),
                          ") exceeds the maximum allowed (", limits::max_array_dimensions, ")"));
  }
  return subscripts;
}

void refuse_fields(Scope& scope, ast::List<ast::IndirectionStep> steps, int32_t location) {
  for (const ast::IndirectionStep& step : steps) {
    if (step.kind == Kind::field || step.kind == Kind::star)
      throw_unsupported(UnsupportedFeature::composite_type, scope.position(location));
  }
}

// int2vector and oidvector are taken for arrays of their elements.
const TypeInfo& subscripted_type(Scope& scope, Oid type, int32_t location) {
  const TypeInfo& info = base_type_of(type_info(type));
  if (info.element == invalid_oid || info.typlen >= 0) {
    throw SqlError(sqlstate::datatype_mismatch, concat("cannot subscript type ", type_name(type),
                                                       " because it does not support subscripting"))
        .at(scope.position(location));
  }
  return is_array_type(info) ? info : type_info(element_type(info).array);
}

}  // namespace

const BoundExpression* bind_indirection(Scope& scope, const ast::Indirection& node) {
  refuse_fields(scope, node.steps, node.location);
  const BoundExpression* array = bind_expression(scope, node.argument);
  // A name is read as an array of its bytes, but not assigned to so.
  const TypeInfo& type = array->type == type_oid::name
                             ? type_info(type_oid::name)
                             : subscripted_type(scope, array->type, first_location(*array));
  Subscripts subscripts = bind_subscripts(scope, node.steps);
  std::vector<const BoundExpression*> arguments = subscripts.all();
  arguments.insert(arguments.begin(), array);
  Oid procedure = subscripts.is_slice ? array_slice_procedure : array_element_procedure;
  Oid result = subscripts.is_slice ? type.oid : type.element;
  return make_call(scope.arena(), *find_procedure(procedure), result,
                   scope.arena().copy_span(arguments), node.location);
}

SubscriptedTarget bind_target_subscripts(Scope& scope, const ast::Assignment& named,
                                         const ColumnDescriptor& column) {
  SubscriptedTarget target{.column = &column, .location = named.location};
  if (named.indirection.empty()) return target;
  refuse_fields(scope, named.indirection, named.location);
  subscripted_type(scope, column.type, named.location);
  Subscripts subscripts = bind_subscripts(scope, named.indirection);
  target.is_slice = subscripts.is_slice;
  target.dimensions = subscripts.uppers.size();
  target.subscripts = scope.arena().copy_span(subscripts.all());
  return target;
}

Oid assigned_type(const SubscriptedTarget& target) {
  if (target.is_whole()) return target.column->type;
  const TypeInfo& type = base_type_of(type_info(target.column->type));
  return target.is_slice ? type.oid : type.element;
}

const BoundExpression* coerce_to_subscripted(StatementBinding& binding,
                                             const BoundExpression* value,
                                             const SubscriptedTarget& target) {
  const ColumnDescriptor& column = *target.column;
  if (value == nullptr) {
    throw SqlError(sqlstate::feature_not_supported, "cannot set an array element to DEFAULT")
        .at(binding.position(target.location));
  }
  if (target.is_whole()) return coerce_to_column(binding, value, column, target.location);
  Oid wanted = assigned_type(target);
  const BoundExpression* coerced =
      coerce_to_target(binding, value, wanted, column.typmod, CoercionContext::assignment,
                       CallForm::implicit_cast, -1);
  if (coerced != nullptr) return coerced;
  throw SqlError(sqlstate::datatype_mismatch,
                 concat("subscripted assignment to \"", column.name, "\" requires type ",
                        type_name(wanted), " but expression is of type ", type_name(value->type)))
      .hint("You will need to rewrite or cast the expression.")
      .at(binding.position(first_location(*value) >= 0 ? first_location(*value) : target.location));
}

const BoundExpression* assign_to_part(StatementBinding& binding, const SubscriptedTarget& target,
                                      const BoundExpression* previous,
                                      const BoundExpression* value) {
  // A domain's constraints hold for what all assignments to parts leave.
  if (auto* checked = try_as<DomainCoercionExpression>(previous)) previous = checked->argument;
  Oid type = base_type_of(target.column->type);
  previous = coerce_type(binding, previous, type, no_typmod, CoercionContext::implicit,
                         CallForm::implicit_cast, -1);
  std::vector<const BoundExpression*> arguments = {previous};
  arguments.insert(arguments.end(), target.subscripts.begin(), target.subscripts.end());
  arguments.push_back(value);
  Oid procedure = target.is_slice ? set_array_slice_procedure : set_array_element_procedure;
  const BoundExpression* whole = make_call(binding.arena, *find_procedure(procedure), type,
                                           binding.arena.copy_span(arguments), target.location);
  return coerce_type(binding, whole, target.column->type, no_typmod, CoercionContext::assignment,
                     CallForm::implicit_cast, -1);
}

}  // namespace pgsilo
