#include "planner/rewrite/fold.h"

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

  const BoundExpression* fold(const BoundExpression* expression) {
    // Whoever computes the aggregate finds it again by what it is.
    if (expression->kind == ExpressionKind::aggregate) return expression;
    expression =
        map_children(arena_, expression, [&](const BoundExpression* child) { return fold(child); });
    switch (expression->kind) {
      case ExpressionKind::boolean:
        return fold_boolean(*as<BooleanExpression>(expression));
      case ExpressionKind::case_when:
        return fold_case(*as<CaseExpression>(expression));
      case ExpressionKind::coalesce:
        return fold_coalesce(*as<CoalesceExpression>(expression));
      case ExpressionKind::call:
        if (is_null_strict(*as<CallExpression>(expression)))
          return make_null(arena_, expression->type);
        break;
      default:
        break;
    }
    return is_foldable(*expression) ? evaluate(expression) : expression;
  }

 private:
  static bool is_null_constant(const BoundExpression* expression) {
    auto* constant = try_as<ConstantExpression>(expression);
    return constant != nullptr && constant->value.null;
  }

  // A strict function of a NULL is NULL whatever the other arguments are.
  static bool is_null_strict(const CallExpression& call) {
    if (!call.strict || call.volatility == Volatility::volatile_) return false;
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
      case ExpressionKind::null_test:
      case ExpressionKind::boolean_test:
      case ExpressionKind::distinct_from:
      case ExpressionKind::null_if:
      case ExpressionKind::min_max:
      case ExpressionKind::in_list:
      case ExpressionKind::array_comparison:
      case ExpressionKind::array:
      case ExpressionKind::relabel:
      case ExpressionKind::typmod_coercion:
        break;
      case ExpressionKind::io_conversion:
        if (!is_stable_text(as<IoConversionExpression>(&expression)->argument->type) ||
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

  static bool is_immutable(const ArrayCoercionExpression& cast) {
    if (cast.procedure != invalid_oid) return find_procedure(cast.procedure)->volatility == 'i';
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
    try {
      Datum value = evaluator_->evaluate(*expression, arena_);
      auto* constant = arena_.make<ConstantExpression>();
      constant->kind = ExpressionKind::constant;
      constant->type = expression->type;
      constant->typmod = expression->typmod;
      constant->location = expression->location;
      constant->value = value;
      return constant;
    } catch (const SqlError& error) {
      if (error.state() == sqlstate::query_canceled) throw;
      return expression;
    }
  }

  const BoundExpression* fold_boolean(const BooleanExpression& node) {
    if (node.op == BooleanOperator::not_) return fold_not(node);
    bool is_and = node.op == BooleanOperator::and_;
    std::vector<const BoundExpression*> kept;
    bool has_null = false;
    for (const BoundExpression* argument : node.arguments) {
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
    const BoundExpression* argument = node.arguments[0];
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
    return &node;
  }

  const BoundExpression* negate_comparison(const BooleanExpression& node,
                                           const CallExpression& call) {
    const BuiltinOperator* op = find_operator(call.operator_oid);
    const BuiltinOperator* negator =
        op != nullptr && op->negator != 0 ? find_operator(op->negator) : nullptr;
    const BuiltinProcedure* procedure =
        negator != nullptr ? find_procedure(negator->procedure) : nullptr;
    if (procedure == nullptr) return &node;
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

  const BoundExpression* fold_case(const CaseExpression& node) {
    if (node.argument != nullptr) return &node;
    std::vector<BoundWhen> kept;
    const BoundExpression* otherwise = node.otherwise;
    for (const BoundWhen& when : node.whens) {
      if (is_constant_false_or_null(when.condition)) continue;
      if (is_constant_true(when.condition)) {
        otherwise = when.result;
        break;
      }
      kept.push_back(when);
    }
    if (kept.empty()) return otherwise;
    if (kept.size() == node.whens.size() && otherwise == node.otherwise) return &node;
    auto* copy = arena_.make<CaseExpression>(node);
    copy->whens = arena_.copy_span(kept);
    copy->otherwise = otherwise;
    return copy;
  }

  const BoundExpression* fold_coalesce(const CoalesceExpression& node) {
    std::vector<const BoundExpression*> kept;
    for (const BoundExpression* argument : node.arguments) {
      if (is_null_constant(argument)) continue;
      kept.push_back(argument);
      if (argument->kind == ExpressionKind::constant) break;
    }
    if (kept.empty()) return make_null(arena_, node.type);
    if (kept.size() == 1) return kept.front();
    if (kept.size() == node.arguments.size()) return &node;
    auto* copy = arena_.make<CoalesceExpression>(node);
    copy->arguments = arena_.copy_span(kept);
    return copy;
  }

  Arena& arena_;
  ConstantEvaluator* evaluator_;
};

}  // namespace

const BoundExpression* fold_expression(Arena& arena, ConstantEvaluator* evaluator,
                                       const BoundExpression* expression) {
  return Folder(arena, evaluator).fold(expression);
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
