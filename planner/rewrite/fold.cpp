#include "planner/rewrite/fold.h"

#include <initializer_list>
#include <vector>

#include "catalog/builtin/builtin.h"
#include "planner/bound/expression_tree.h"
#include "planner/bound/make_expression.h"
#include "planner/plan/transaction_plan.h"
#include "sql/sql_error.h"
#include "sql/types/type.h"

namespace pgsilo {

namespace {

class Folder {
 public:
  Folder(Arena& arena, ConstantEvaluator* evaluator) : arena_(arena), evaluator_(evaluator) {}

  const BoundExpression* fold_all(const BoundExpression* expression) {
    root_ = expression;
    return fold(expression);
  }

 private:
  const BoundExpression* fold(const BoundExpression* expression) {
    // Whoever computes the aggregate finds it again by what it is.
    if (expression->kind == ExpressionKind::aggregate) return expression;
    // What is behind the part that decides is not looked at: it may not be computable.
    switch (expression->kind) {
      case ExpressionKind::boolean:
        return fold_boolean(*as<BooleanExpression>(expression));
      case ExpressionKind::case_when:
        return fold_case(*as<CaseExpression>(expression));
      case ExpressionKind::coalesce:
        return fold_coalesce(*as<CoalesceExpression>(expression));
      case ExpressionKind::parameter:
        return known_parameter(*as<ParameterExpression>(expression));
      default:
        break;
    }
    expression = fold_children(expression);
    if (is_null_strict(*expression)) return make_null(arena_, expression->type);
    auto* null_if = try_as<NullIfExpression>(expression);
    if (null_if != nullptr && (is_null_constant(null_if->left) || is_null_constant(null_if->right)))
      return null_if->left;
    if (is_foldable(*expression)) return evaluate(expression);
    if (is_readable_text(*expression)) static_cast<void>(evaluate(expression));
    return expression;
  }

  const BoundExpression* known_parameter(const ParameterExpression& parameter) {
    const Datum* value = evaluator_ == nullptr ? nullptr : evaluator_->parameter(parameter.index);
    if (value == nullptr) return &parameter;
    auto* constant = arena_.make<ConstantExpression>();
    constant->kind = ExpressionKind::constant;
    constant->type = parameter.type;
    constant->typmod = parameter.typmod;
    constant->location = parameter.location;
    constant->value = *value;
    return constant;
  }

  const BoundExpression* fold_children(const BoundExpression* expression) {
    if (is_subscripted(*expression)) return fold_subscripted(*as<CallExpression>(expression));
    return map_children(arena_, expression,
                        [&](const BoundExpression* child) { return fold(child); });
  }

  static bool is_subscripted(const BoundExpression& expression) {
    auto* call = try_as<CallExpression>(&expression);
    return call != nullptr &&
           (call->procedure == array_element_procedure || call->procedure == array_slice_procedure);
  }

  // Subscripts come first, as PostgreSQL has it: of two that cannot be computed the first is told.
  const BoundExpression* fold_subscripted(const CallExpression& call) {
    auto arguments = arena_.copy_span(call.arguments);
    for (size_t i = 1; i < arguments.size(); ++i) arguments[i] = fold(arguments[i]);
    arguments[0] = fold(arguments[0]);
    auto* copy = arena_.make<CallExpression>(call);
    copy->arguments = arguments;
    return copy;
  }

  static bool is_null_constant(const BoundExpression* expression) {
    auto* constant = try_as<ConstantExpression>(expression);
    return constant != nullptr && constant->value.null;
  }

  // A strict function of a NULL is NULL whatever the other arguments are; so is a cast. But an
  // array is computed though its subscript is NULL.
  static bool is_null_strict(const BoundExpression& expression) {
    switch (expression.kind) {
      case ExpressionKind::relabel:
        return is_null_constant(as<RelabelExpression>(&expression)->argument);
      case ExpressionKind::io_conversion:
        return is_null_constant(as<IoConversionExpression>(&expression)->argument);
      case ExpressionKind::array_coercion:
        return is_null_constant(as<ArrayCoercionExpression>(&expression)->argument);
      case ExpressionKind::typmod_coercion:
        return is_null_constant(as<TypmodCoercionExpression>(&expression)->argument);
      case ExpressionKind::call:
        break;
      default:
        return false;
    }
    const auto& call = *as<CallExpression>(&expression);
    if (!call.strict || call.volatility == Volatility::volatile_ || is_subscripted(call))
      return false;
    for (const BoundExpression* argument : call.arguments) {
      if (is_null_constant(argument)) return true;
    }
    return false;
  }

  static bool is_foldable(const BoundExpression& expression) {
    switch (expression.kind) {
      case ExpressionKind::call:
        if (as<CallExpression>(&expression)->volatility != Volatility::immutable) return false;
        break;
      case ExpressionKind::distinct_from:
        if (!is_immutable(as<DistinctFromExpression>(&expression)->equality)) return false;
        break;
      case ExpressionKind::null_if:
        if (!is_immutable(as<NullIfExpression>(&expression)->equality)) return false;
        break;
      case ExpressionKind::in_list:
        if (!is_immutable(as<InListExpression>(&expression)->procedure)) return false;
        break;
      case ExpressionKind::array_comparison:
        if (!is_immutable(as<ArrayComparisonExpression>(&expression)->procedure)) return false;
        break;
      case ExpressionKind::null_test:
      case ExpressionKind::boolean_test:
      case ExpressionKind::min_max:
      case ExpressionKind::array:
      case ExpressionKind::relabel:
      case ExpressionKind::typmod_coercion:
        break;
      case ExpressionKind::io_conversion:
        if (!is_printed_alike(as<IoConversionExpression>(&expression)->argument->type) ||
            !is_stable_text(expression.type)) {
          return false;
        }
        break;
      case ExpressionKind::array_coercion:
        if (!is_immutable(*as<ArrayCoercionExpression>(&expression))) return false;
        break;
      default:
        return false;
    }
    if (expression.type == type_oid::record) return false;
    bool all_constant = true;
    for_each_child(expression, [&](const BoundExpression& child) {
      all_constant = all_constant && child.kind == ExpressionKind::constant;
    });
    return all_constant;
  }

  // The text form of dates, floats and names of objects depends on the session.
  static bool is_stable_text(Oid type) {
    const TypeInfo& info = type_info(type);
    return info.category == 'B' || info.category == 'S' || is_integer_type(type) ||
           type == type_oid::numeric;
  }

  // Reading may depend on the session where printing does not.
  static bool is_printed_alike(Oid type) {
    switch (type) {
      case type_oid::time:
      case type_oid::timetz:
      case type_oid::oid:
      case type_oid::xid:
      case type_oid::cid:
      case type_oid::tid:
      case type_oid::pg_lsn:
      case type_oid::single_char:
        return true;
      default:
        return is_stable_text(type);
    }
  }

  // Text that is read as a float: the value is not kept, because it is printed as the session wants
  // it, but what cannot be read is an error whether or not the statement comes to it.
  static bool is_readable_text(const BoundExpression& expression) {
    auto* conversion = try_as<IoConversionExpression>(&expression);
    return conversion != nullptr && conversion->argument->kind == ExpressionKind::constant &&
           type_info(conversion->argument->type).category == 'S' &&
           (expression.type == type_oid::float4 || expression.type == type_oid::float8);
  }

  static bool is_immutable(Oid procedure) { return find_procedure(procedure)->volatility == 'i'; }

  static bool is_immutable(const ArrayCoercionExpression& cast) {
    if (cast.procedure != invalid_oid) return is_immutable(cast.procedure);
    return !cast.through_text ||
           (is_stable_text(cast.source_element) && is_stable_text(cast.target_element));
  }

  const BoundExpression* evaluate(const BoundExpression* expression) {
    auto* relabel = try_as<RelabelExpression>(expression);
    if (relabel != nullptr && !relabel->changes_sign()) {
      const auto* constant = as<ConstantExpression>(relabel->argument);
      auto* copy = arena_.make<ConstantExpression>(*constant);
      copy->type = relabel->type;
      copy->typmod = relabel->typmod;
      return copy;
    }
    if (evaluator_ == nullptr) return expression;
    auto* constant = arena_.make<ConstantExpression>();
    constant->kind = ExpressionKind::constant;
    constant->type = expression->type;
    constant->typmod = expression->typmod;
    constant->location = expression->location;
    try {
      constant->value = evaluator_->evaluate(*expression, arena_);
    } catch (const SqlError& error) {
      // There may be more memory when the statement runs.
      if (error.state() == sqlstate::out_of_memory || may_be_decided_later(*expression))
        return expression;
      throw;
    }
    return constant;
  }

  // Whether the run comes to what cannot be computed depends on parameters, which PostgreSQL knows
  // when it plans, or on constants that it computes then and we do not. A plan for known values
  // fails where the plan for all of them does: when it runs.
  bool may_be_decided_later(const BoundExpression& failed) const {
    if (evaluator_->knows_parameters()) return true;
    bool decides = contains(*root_, [](const BoundExpression& part) {
      return part.kind == ExpressionKind::boolean || part.kind == ExpressionKind::case_when ||
             part.kind == ExpressionKind::coalesce;
    });
    return decides && contains(*root_, [&](const BoundExpression& part) {
             if (&part == &failed) return false;
             if (part.kind == ExpressionKind::parameter) return true;
             if (auto* elements = try_as<ArrayCoercionExpression>(&part))
               return !is_immutable(*elements);
             auto* conversion = try_as<IoConversionExpression>(&part);
             return conversion != nullptr && !(is_printed_alike(conversion->argument->type) &&
                                               is_stable_text(conversion->type));
           });
  }

  const BoundExpression* fold_boolean(const BooleanExpression& node) {
    if (node.op == BooleanOperator::not_) return fold_not(node);
    bool is_and = node.op == BooleanOperator::and_;
    std::vector<const BoundExpression*> kept;
    bool has_null = false;
    for (const BoundExpression* unfolded : node.arguments) {
      const BoundExpression* argument = fold(unfolded);
      auto* constant = try_as<ConstantExpression>(argument);
      if (constant == nullptr) {
        kept.push_back(argument);
      } else if (constant->value.null) {
        has_null = true;
      } else if (constant->value.as_bool() != is_and) {
        return make_boolean(arena_, !is_and);
      }
    }
    if (has_null) kept.push_back(make_null(arena_, type_oid::boolean));
    return make_boolean_list(arena_, node.op, kept);
  }

  // NOT of a comparison is the comparison by the operator's negator.
  const BoundExpression* fold_not(const BooleanExpression& node) {
    const BoundExpression* argument = fold(node.arguments[0]);
    if (auto* constant = try_as<ConstantExpression>(argument)) {
      if (constant->value.null) return constant;
      return make_boolean(arena_, !constant->value.as_bool());
    }
    if (auto* call = try_as<CallExpression>(argument);
        call != nullptr && call->operator_oid != invalid_oid) {
      return negate_comparison(node, *call);
    }
    if (auto* inner = try_as<BooleanExpression>(argument)) return negate_boolean(*inner);
    if (auto* test = try_as<NullTestExpression>(argument);
        test != nullptr && test->argument->type != type_oid::record) {
      auto* negated = arena_.make<NullTestExpression>(*test);
      negated->is_not_null = !test->is_not_null;
      return negated;
    }
    return with_argument(node, argument);
  }

  const BoundExpression* with_argument(const BooleanExpression& node,
                                       const BoundExpression* argument) {
    if (argument == node.arguments[0]) return &node;
    auto* copy = arena_.make<BooleanExpression>(node);
    copy->arguments = arena_.copy_span(std::initializer_list<const BoundExpression*>{argument});
    return copy;
  }

  const BoundExpression* negate_comparison(const BooleanExpression& node,
                                           const CallExpression& call) {
    const BuiltinOperator* op = find_operator(call.operator_oid);
    const BuiltinOperator* negator =
        op != nullptr && op->negator != 0 ? find_operator(op->negator) : nullptr;
    const BuiltinProcedure* procedure =
        negator != nullptr ? find_procedure(negator->procedure) : nullptr;
    if (procedure == nullptr) return with_argument(node, &call);
    auto* negated = arena_.make<CallExpression>(call);
    negated->operator_oid = negator->oid;
    negated->procedure = procedure->oid;
    return negated;
  }

  const BoundExpression* negate_boolean(const BooleanExpression& inner) {
    if (inner.op == BooleanOperator::not_) return inner.arguments[0];
    std::vector<const BoundExpression*> negated;
    for (const BoundExpression* argument : inner.arguments)
      negated.push_back(fold(make_not(arena_, argument)));
    BooleanOperator op =
        inner.op == BooleanOperator::and_ ? BooleanOperator::or_ : BooleanOperator::and_;
    return make_boolean_list(arena_, op, negated);
  }

  // CASE x WHEN with an x that is known reads it where its conditions do.
  const BoundExpression* with_value(const BoundExpression* expression, int32_t parameter,
                                    const BoundExpression* value) {
    auto* read = try_as<ExecutionParameterExpression>(expression);
    if (read != nullptr && read->index == parameter) return value;
    return map_children(arena_, expression, [&](const BoundExpression* child) {
      return with_value(child, parameter, value);
    });
  }

  const BoundExpression* fold_case(const CaseExpression& node) {
    auto* copy = arena_.make<CaseExpression>(node);
    if (node.argument != nullptr) copy->argument = fold(node.argument);
    auto* known = try_as<ConstantExpression>(copy->argument);
    if (known != nullptr) copy->argument = nullptr;
    std::vector<BoundWhen> kept;
    const BoundExpression* otherwise = nullptr;
    for (const BoundWhen& when : node.whens) {
      const BoundExpression* condition =
          known == nullptr ? when.condition
                           : with_value(when.condition, node.argument_parameter, known);
      condition = fold(condition);
      if (is_constant_false_or_null(condition)) continue;
      const BoundExpression* result = fold(when.result);
      if (is_constant_true(condition)) {
        otherwise = result;
        break;
      }
      kept.push_back({condition, result});
    }
    copy->otherwise = otherwise != nullptr ? otherwise : fold(node.otherwise);
    if (kept.empty()) return copy->otherwise;
    copy->whens = arena_.copy_span(kept);
    return copy;
  }

  const BoundExpression* fold_coalesce(const CoalesceExpression& node) {
    std::vector<const BoundExpression*> kept;
    for (const BoundExpression* unfolded : node.arguments) {
      const BoundExpression* argument = fold(unfolded);
      if (is_null_constant(argument)) continue;
      kept.push_back(argument);
      if (argument->kind == ExpressionKind::constant) break;
    }
    if (kept.empty()) return make_null(arena_, node.type);
    if (kept.size() == 1) return kept.front();
    auto* copy = arena_.make<CoalesceExpression>(node);
    copy->arguments = arena_.copy_span(kept);
    return copy;
  }

  Arena& arena_;
  ConstantEvaluator* evaluator_;
  const BoundExpression* root_ = nullptr;  // of what is folded
};

}  // namespace

const BoundExpression* fold_expression(Arena& arena, ConstantEvaluator* evaluator,
                                       const BoundExpression* expression) {
  return Folder(arena, evaluator).fold_all(expression);
}

namespace {

// Of what is folded. AND with false is false, OR without what is false says the same.
const BoundExpression* without_nulls(Arena& arena, const BoundExpression* condition) {
  if (is_constant_false_or_null(condition)) return make_boolean(arena, false);
  auto* node = try_as<BooleanExpression>(condition);
  if (node == nullptr || node->op == BooleanOperator::not_) return condition;
  bool is_and = node->op == BooleanOperator::and_;
  bool changed = false;
  std::vector<const BoundExpression*> kept;
  for (const BoundExpression* argument : node->arguments) {
    const BoundExpression* one = without_nulls(arena, argument);
    bool is_false = is_constant_false_or_null(one);
    if (is_false && is_and) return one;
    changed |= is_false || one != argument;
    if (!is_false) kept.push_back(one);
  }
  if (!changed) return condition;
  return make_boolean_list(arena, node->op, kept);
}

}  // namespace

const BoundExpression* fold_condition(Arena& arena, ConstantEvaluator* evaluator,
                                      const BoundExpression* condition) {
  return without_nulls(arena, fold_expression(arena, evaluator, condition));
}

bool is_constant_true(const BoundExpression* expression) {
  auto* constant = try_as<ConstantExpression>(expression);
  return constant != nullptr && !constant->value.null && constant->value.as_bool();
}

bool is_constant_false_or_null(const BoundExpression* expression) {
  auto* constant = try_as<ConstantExpression>(expression);
  return constant != nullptr && (constant->value.null || !constant->value.as_bool());
}

bool is_volatile(const BoundExpression& expression) {
  return contains(expression, [](const BoundExpression& e) {
    auto* call = try_as<CallExpression>(&e);
    return call != nullptr && call->volatility == Volatility::volatile_;
  });
}

}  // namespace pgsilo
