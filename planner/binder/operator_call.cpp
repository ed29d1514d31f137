#include "planner/binder/operator_call.h"

#include "catalog/builtin/builtin.h"
#include "planner/binder/candidates.h"
#include "planner/binder/coercion.h"
#include "planner/binder/polymorphic_types.h"
#include "planner/bound/make_expression.h"
#include "sql/internal_error.h"
#include "sql/types/type.h"

namespace pgsilo {

namespace {

std::string signature(std::string_view name, Oid left, Oid right) {
  if (left == invalid_oid) return concat(name, " ", type_name(right));
  return concat(type_name(left), " ", name, " ", type_name(right));
}

[[noreturn]] void throw_undefined(StatementBinding& binding, std::string_view name, Oid left,
                                  Oid right, bool ambiguous, int32_t location) {
  if (ambiguous) {
    throw SqlError(sqlstate::ambiguous_function,
                   concat("operator is not unique: ", signature(name, left, right)))
        .hint(
            "Could not choose a best candidate operator. You might need to add explicit type "
            "casts.")
        .at(binding.position(location));
  }
  throw SqlError(sqlstate::undefined_function,
                 concat("operator does not exist: ", signature(name, left, right)))
      .hint(left == invalid_oid ? "No operator matches the given name and argument type. You might "
                                  "need to add an explicit type cast."
                                : "No operator matches the given name and argument types. You "
                                  "might need to add explicit type casts.")
      .at(binding.position(location));
}

// An operand of unknown type is first taken to be of the other's type.
const BuiltinOperator* find_exact(std::string_view name, Oid left, Oid right) {
  bool has_unknown = false;
  if (left == type_oid::unknown && right != invalid_oid) {
    left = right;
    has_unknown = true;
  }
  if (right == type_oid::unknown && left != invalid_oid) {
    right = left;
    has_unknown = true;
  }
  const BuiltinOperator* exact = find_operator(name, left, right);
  if (exact != nullptr || !has_unknown) return exact;
  Oid base = base_type_of(left);
  return base != left ? find_operator(name, base, base) : nullptr;
}

}  // namespace

const BuiltinOperator& resolve_operator(StatementBinding& binding, std::string_view name, Oid left,
                                        Oid right, int32_t location) {
  if (const BuiltinOperator* exact = find_exact(name, left, right)) return *exact;
  bool prefix = left == invalid_oid;
  std::vector<Candidate> candidates;
  for (const BuiltinOperator& op : find_operators(name)) {
    if ((op.left == invalid_oid) != prefix) continue;
    Candidate candidate;
    if (!prefix) candidate.arguments.push_back(op.left);
    candidate.arguments.push_back(op.right);
    candidate.source = &op;
    candidates.push_back(std::move(candidate));
  }
  Oid both[2] = {left, right};
  std::span<const Oid> actual =
      prefix ? std::span<const Oid>(both + 1, 1) : std::span<const Oid>(both, 2);
  candidates = matching_candidates(actual, std::move(candidates));
  if (candidates.empty()) throw_undefined(binding, name, left, right, false, location);
  const Candidate* best = select_candidate(actual, candidates);
  if (best == nullptr) throw_undefined(binding, name, left, right, true, location);
  return *static_cast<const BuiltinOperator*>(best->source);
}

namespace {

// text || anynonarray is text || text with the other operand cast to text, which need not be its
// text form: true gives "true".
const BoundExpression* as_text(StatementBinding& binding, const BoundExpression* operand) {
  return coerce_to_target(binding, operand, type_oid::text, no_typmod, CoercionContext::explicit_,
                          CallForm::implicit_cast, -1);
}

}  // namespace

const BoundExpression* make_operator(StatementBinding& binding, const BuiltinOperator& op,
                                     const BoundExpression* left, const BoundExpression* right,
                                     int32_t location) {
  bool concatenates_any =
      op.name == "||" && (op.left == type_oid::anynonarray || op.right == type_oid::anynonarray);
  const BoundExpression* left_text = concatenates_any ? as_text(binding, left) : nullptr;
  const BoundExpression* right_text = concatenates_any ? as_text(binding, right) : nullptr;
  if (left_text != nullptr && right_text != nullptr) {
    const BuiltinOperator* concatenation = find_operator("||", type_oid::text, type_oid::text);
    return make_operator(binding, *concatenation, left_text, right_text, location);
  }
  std::vector<const BoundExpression*> operands;
  std::vector<Oid> actual;
  std::vector<Oid> declared;
  if (left != nullptr) {
    operands.push_back(left);
    declared.push_back(op.left);
  }
  operands.push_back(right);
  declared.push_back(op.right);
  actual.reserve(operands.size());
  for (const BoundExpression* operand : operands) actual.push_back(operand->type);
  Oid result = resolve_polymorphic_types(actual, declared, op.result);
  for (size_t i = 0; i < operands.size(); ++i) {
    operands[i] = coerce_type(binding, operands[i], declared[i], no_typmod,
                              CoercionContext::implicit, CallForm::implicit_cast, -1);
  }
  const BuiltinProcedure* procedure = find_procedure(op.procedure);
  PGSILO_REQUIRE(procedure != nullptr);
  CallExpression* call =
      make_call(binding.arena, *procedure, result, binding.arena.copy_span(operands), location);
  call->form = CallForm::infix_operator;
  call->operator_oid = op.oid;
  if (call->volatility == Volatility::volatile_) binding.calls_volatile = true;
  return call;
}

const BoundExpression* make_operator(StatementBinding& binding, std::string_view name,
                                     const BoundExpression* left, const BoundExpression* right,
                                     int32_t location) {
  const BuiltinOperator& op = resolve_operator(
      binding, name, left == nullptr ? invalid_oid : left->type, right->type, location);
  return make_operator(binding, op, left, right, location);
}

std::string_view operator_word(StatementBinding& binding, ast::NameList name, int32_t location) {
  if (name.size() > 1 && name[name.size() - 2] != "pg_catalog") {
    throw SqlError(sqlstate::undefined_function,
                   concat("operator does not exist: ", name[name.size() - 2], ".", name.back()))
        .at(binding.position(location));
  }
  return name.back();
}

const BuiltinOperator* equality_operator(Oid given) {
  Oid type = base_type_of(given);
  if (const BuiltinOperator* op = find_operator("=", type, type)) return op;
  // varchar has no operators of its own: those of text serve it.
  if (type == type_oid::varchar) return find_operator("=", type_oid::text, type_oid::text);
  const TypeInfo* info = find_type(type);
  if (info != nullptr && is_array_type(*info))
    return find_operator("=", type_oid::anyarray, type_oid::anyarray);
  if (info != nullptr && info->typtype == 'e')
    return find_operator("=", type_oid::anyenum, type_oid::anyenum);
  return nullptr;
}

const BuiltinOperator* less_operator(Oid given) {
  Oid type = base_type_of(given);
  if (const BuiltinOperator* op = find_operator("<", type, type)) return op;
  if (type == type_oid::varchar) return find_operator("<", type_oid::text, type_oid::text);
  const TypeInfo* info = find_type(type);
  if (info != nullptr && is_array_type(*info))
    return find_operator("<", type_oid::anyarray, type_oid::anyarray);
  if (info != nullptr && info->typtype == 'e')
    return find_operator("<", type_oid::anyenum, type_oid::anyenum);
  return nullptr;
}

void require_equality(StatementBinding& binding, Oid type, int32_t location) {
  const TypeInfo* info = find_type(type);
  if (info != nullptr && info->has_equality() && info->is_hashable()) return;
  throw SqlError(sqlstate::undefined_function,
                 concat("could not identify an equality operator for type ", type_name(type)))
      .at(binding.position(location));
}

void require_ordering(StatementBinding& binding, Oid type, int32_t location) {
  const TypeInfo* info = find_type(type);
  if (info != nullptr && info->is_ordered()) return;
  throw SqlError(sqlstate::undefined_function,
                 concat("could not identify an ordering operator for type ", type_name(type)))
      .hint("Use an explicit ordering operator or modify the query.")
      .at(binding.position(location));
}

}  // namespace pgsilo
