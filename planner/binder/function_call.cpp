#include "planner/binder/function_call.h"

#include <algorithm>
#include <optional>

#include "catalog/builtin/builtin.h"
#include "catalog/named_relation.h"
#include "catalog/named_type.h"
#include "planner/binder/aggregates.h"
#include "planner/binder/candidates.h"
#include "planner/binder/coercion.h"
#include "planner/binder/expression_binder.h"
#include "planner/binder/polymorphic_types.h"
#include "planner/bound/make_expression.h"
#include "planner/unsupported_features.h"
#include "sql/types/type.h"

namespace pgsilo {

namespace {

std::string dotted_name(ast::NameList name) {
  std::string dotted;
  for (std::string_view part : name) dotted += (dotted.empty() ? "" : ".") + std::string(part);
  return dotted;
}

std::string signature(const ast::FuncCall& call, std::span<const Oid> actual) {
  std::string text = dotted_name(call.name) + "(";
  for (size_t i = 0; i < actual.size(); ++i) text += (i == 0 ? "" : ", ") + type_name(actual[i]);
  return text + ")";
}

// The functions of the name that can be called with that many arguments.
std::vector<Candidate> candidates_for(const ast::FuncCall& call, size_t argument_count) {
  std::vector<Candidate> candidates;
  for (const BuiltinProcedure& procedure : find_procedures(call.name.back())) {
    size_t declared = procedure.argument_count;
    bool fits = argument_count <= declared && argument_count + procedure.default_count >= declared;
    bool expands = procedure.variadic != invalid_oid && argument_count + 1 > declared;
    if (!fits && !expands) continue;
    Candidate candidate;
    candidate.source = &procedure;
    auto types = procedure.argument_types();
    candidate.variadic = procedure.variadic != invalid_oid && argument_count >= declared;
    for (size_t i = 0; i < argument_count; ++i) {
      bool collected = candidate.variadic && i + 1 >= declared;
      candidate.arguments.push_back(collected ? procedure.variadic : Oid{types[i]});
    }
    candidates.push_back(std::move(candidate));
  }
  return candidates;
}

// f(x) where f is a type and x can be turned into it without a function: a cast.
const BoundExpression* as_cast(Scope& scope, const ast::FuncCall& call,
                               std::span<const BoundExpression* const> arguments) {
  if (arguments.size() != 1 || call.star || call.distinct || call.filter != nullptr ||
      !call.order_by.empty()) {
    return nullptr;
  }
  const TypeInfo* type = find_named_type(scope.binding.catalog, call.name);
  if (type == nullptr || type->typtype == 'p') return nullptr;
  scope.binding.use_type(type->oid);
  Oid source = arguments[0]->type;
  if (source != type_oid::unknown) {
    CoercionPath path = find_coercion_path(source, type->oid, CoercionContext::explicit_);
    if (path.method != CoercionMethod::relabel && path.method != CoercionMethod::io) return nullptr;
  }
  return coerce_type(scope.binding, arguments[0], type->oid, no_typmod, CoercionContext::explicit_,
                     CallForm::explicit_cast, call.location);
}

[[noreturn]] void throw_undefined(Scope& scope, const ast::FuncCall& call,
                                  std::span<const Oid> actual, bool ambiguous) {
  if (ambiguous) {
    throw SqlError(sqlstate::ambiguous_function,
                   concat("function ", signature(call, actual), " is not unique"))
        .hint(
            "Could not choose a best candidate function. You might need to add explicit type "
            "casts.")
        .at(scope.position(call.location));
  }
  bool ordered = !call.order_by.empty() && !call.within_group;
  throw SqlError(sqlstate::undefined_function,
                 concat("function ", signature(call, actual), " does not exist"))
      .hint(ordered ? "No aggregate function matches the given name and argument types. Perhaps "
                      "you misplaced ORDER BY; ORDER BY must appear after all regular arguments of "
                      "the aggregate."
                    : "No function matches the given name and argument types. You might need to "
                      "add explicit type casts.")
      .at(scope.position(call.location));
}

void check_schema(Scope& scope, const ast::FuncCall& call, std::span<const Oid> actual) {
  if (call.name.size() < 2) return;
  std::string_view schema = call.name[call.name.size() - 2];
  if (schema == "pg_catalog") return;
  if (schema != "public" && schema != "information_schema") {
    throw undefined_schema(schema).at(scope.position(call.location));
  }
  throw_undefined(scope, call, actual, false);
}

// What is written only with aggregates.
void check_plain_function(Scope& scope, const ast::FuncCall& call) {
  auto fail = [&](std::string_view what, std::string_view rest = "") {
    std::string name = dotted_name(call.name);
    throw SqlError(
        sqlstate::wrong_object_type,
        what == "*" ? concat(name, "(*) specified, but ", name, " is not an aggregate function")
                    : concat(what, rest, " specified, but ", name, " is not an aggregate function"))
        .at(scope.position(call.location));
  };
  if (call.star) fail("*");
  if (call.distinct) fail("DISTINCT");
  if (call.within_group) fail("WITHIN GROUP");
  if (!call.order_by.empty()) fail("ORDER BY");
  if (call.filter != nullptr) fail("FILTER");
}

std::string_view forbidden_set_place(ExpressionPlace place) {
  switch (place) {
    case ExpressionPlace::none:
    case ExpressionPlace::select_target:
    case ExpressionPlace::from_function:
    case ExpressionPlace::group_by:
    case ExpressionPlace::order_by:
    case ExpressionPlace::distinct_on:
    case ExpressionPlace::insert_target:
    case ExpressionPlace::values_single:
      return {};
    case ExpressionPlace::join_on:
      return "JOIN conditions";
    case ExpressionPlace::check_constraint:
      return "check constraints";
    case ExpressionPlace::column_default:
      return "DEFAULT expressions";
    case ExpressionPlace::column_generation:
      return "column generation expressions";
    case ExpressionPlace::index_expression:
      return "index expressions";
    case ExpressionPlace::column_transform:
      return "transform expressions";
    case ExpressionPlace::execute_parameter:
      return "EXECUTE parameters";
    case ExpressionPlace::copy_where:
      return "COPY FROM WHERE conditions";
    default:
      return place_name(place);
  }
}

const BoundExpression* make_set_returning(Scope& scope, const CallExpression* call) {
  std::string_view place = forbidden_set_place(scope.place);
  if (!place.empty()) {
    throw SqlError(sqlstate::feature_not_supported,
                   concat("set-returning functions are not allowed in ", place))
        .at(scope.position(call->location));
  }
  if (scope.place != ExpressionPlace::from_function) {
    if (call->type == type_oid::record)
      throw_unsupported(UnsupportedFeature::composite_type, scope.position(call->location));
    scope.has_set_returning = true;
  }
  auto* node = make_expression<SetReturningExpression>(scope.arena(), call->type, call->location);
  node->call = call;
  return node;
}

// Actual arguments coerced to the declared types, defaults filled in, VARIADIC ones collected into
// an array.
ExpressionList complete_arguments(Scope& scope, const BuiltinProcedure& procedure,
                                  const Candidate& chosen, std::span<const Oid> declared,
                                  std::span<const BoundExpression* const> arguments) {
  std::vector<const BoundExpression*> result;
  result.reserve(arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    result.push_back(coerce_type(scope.binding, arguments[i], declared[i], no_typmod,
                                 CoercionContext::implicit, CallForm::implicit_cast, -1));
  }
  for (size_t i = result.size(); i < procedure.argument_count && !chosen.variadic; ++i) {
    const BoundExpression* text =
        make_constant(scope.arena(), type_oid::unknown,
                      Datum::of_bytes(procedure_default_text(procedure.oid, i)));
    result.push_back(coerce_type(scope.binding, text, procedure.arguments[i], no_typmod,
                                 CoercionContext::implicit, CallForm::implicit_cast, -1));
  }
  // VARIADIC "any" functions take their arguments one by one.
  if (chosen.variadic && procedure.variadic != type_oid::any) {
    size_t fixed = procedure.argument_count - 1;
    std::vector<const BoundExpression*> trailing(result.begin() + fixed, result.end());
    auto* array = make_expression<ArrayExpression>(scope.arena(), type_info(declared.back()).array);
    array->element_type = declared.back();
    array->elements = scope.arena().copy_span(trailing);
    result.resize(fixed);
    result.push_back(array);
  }
  return scope.arena().copy_span(result);
}

const BoundExpression* call_chosen(Scope& scope, const ast::FuncCall& call, const Candidate& chosen,
                                   std::span<const BoundExpression* const> arguments,
                                   std::span<const Oid> actual) {
  const auto& procedure = *static_cast<const BuiltinProcedure*>(chosen.source);
  if (procedure.kind == 'w')
    throw_unsupported(UnsupportedFeature::window_function, scope.position(call.location));
  std::vector<Oid> declared = chosen.arguments;
  Oid result = resolve_polymorphic_types(actual, declared, procedure.result);
  ExpressionList complete = complete_arguments(scope, procedure, chosen, declared, arguments);
  if (procedure.kind == 'a') return make_aggregate(scope, call, procedure, result, complete);
  check_plain_function(scope, call);
  CallExpression* node = make_call(scope.arena(), procedure, result, complete, call.location);
  node->variadic = chosen.variadic;
  if (call.sql_syntax) node->form = CallForm::sql_syntax;
  if (node->volatility == Volatility::volatile_) scope.binding.calls_volatile = true;
  return procedure.returns_set ? make_set_returning(scope, node) : node;
}

std::optional<Candidate> exact_candidate(std::span<const Oid> actual,
                                         const std::vector<Candidate>& candidates) {
  for (bool variadic : {false, true}) {
    for (const Candidate& candidate : candidates) {
      if (candidate.variadic == variadic && std::ranges::equal(candidate.arguments, actual))
        return candidate;
    }
  }
  return std::nullopt;
}

void check_supported(Scope& scope, const ast::FuncCall& call) {
  if (call.over != nullptr)
    throw_unsupported(UnsupportedFeature::window_function, scope.position(call.location));
  if (call.within_group)
    throw_unsupported(UnsupportedFeature::within_group, scope.position(call.location));
  if (call.variadic)
    throw_unsupported(UnsupportedFeature::variadic_array, scope.position(call.location));
}

}  // namespace

const BoundExpression* bind_function_call(Scope& scope, const ast::FuncCall& call) {
  check_supported(scope, call);
  std::vector<const BoundExpression*> arguments;
  for (const ast::Node* argument : call.arguments)
    arguments.push_back(bind_expression(scope, argument));
  std::vector<Oid> actual;
  actual.reserve(arguments.size());
  for (const BoundExpression* argument : arguments) actual.push_back(argument->type);
  check_schema(scope, call, actual);

  std::vector<Candidate> candidates = candidates_for(call, actual.size());
  if (auto exact = exact_candidate(actual, candidates))
    return call_chosen(scope, call, *exact, arguments, actual);
  if (const BoundExpression* cast = as_cast(scope, call, arguments)) return cast;
  candidates = matching_candidates(actual, std::move(candidates));
  if (candidates.empty()) throw_undefined(scope, call, actual, false);
  const Candidate* best = select_candidate(actual, candidates);
  if (best == nullptr) throw_undefined(scope, call, actual, true);
  return call_chosen(scope, call, *best, arguments, actual);
}

}  // namespace pgsilo
