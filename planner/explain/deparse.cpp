#include "planner/explain/deparse.h"

#include "base/byte_buffer.h"
#include "base/long_work.h"
#include "catalog/builtin/builtin.h"
#include "catalog/descriptors.h"
#include "planner/binder/binding.h"
#include "planner/explain/deparse_constant.h"
#include "planner/explain/deparse_pretty.h"
#include "planner/explain/deparse_sql_syntax.h"
#include "sql/types/text.h"

namespace pgsilo {

namespace {

using SlotText = FunctionRef<std::string(int32_t)>;

std::string_view procedure_name(Oid oid) {
  const BuiltinProcedure* procedure = find_procedure(oid);
  return procedure == nullptr ? std::string_view("?") : procedure->name;
}

std::string_view sql_value_name(SqlValueKind kind) {
  switch (kind) {
    case SqlValueKind::current_date:
      return "CURRENT_DATE";
    case SqlValueKind::current_time:
      return "CURRENT_TIME";
    case SqlValueKind::current_timestamp:
      return "CURRENT_TIMESTAMP";
    case SqlValueKind::localtime:
      return "LOCALTIME";
    case SqlValueKind::localtimestamp:
      return "LOCALTIMESTAMP";
    case SqlValueKind::current_user:
      return "CURRENT_USER";
    case SqlValueKind::session_user:
      return "SESSION_USER";
    case SqlValueKind::current_catalog:
      return "CURRENT_CATALOG";
    case SqlValueKind::current_schema:
      return "CURRENT_SCHEMA";
  }
  return {};
}

class Deparser {
 public:
  Deparser(const DeparseContext& context, SlotText slot_text)
      : context_(context),
        slot_text_(slot_text),
        lines_(context.query != nullptr ? context.query->lines : own_lines_) {}

  // Casts that nobody wrote are hidden at the top and under AND, shown inside operators and
  // functions.
  std::string text(const BoundExpression& e, bool show_implicit) {
    constexpr size_t node_work = 1024;
    did_work(node_work);
    require_stack();
    if (context_.query != nullptr) {
      if (std::string shown = context_.query->text(e); !shown.empty()) return shown;
    }
    switch (e.kind) {
      case ExpressionKind::constant:
        return deparse_constant(*as<ConstantExpression>(&e), context_.types);
      case ExpressionKind::parameter:
        return concat("$", as<ParameterExpression>(&e)->index + 1);
      case ExpressionKind::slot:
        return slot_text_(as<SlotExpression>(&e)->slot);
      case ExpressionKind::execution_parameter:
        return parameter(*as<ExecutionParameterExpression>(&e));
      case ExpressionKind::call:
        return call(*as<CallExpression>(&e), show_implicit);
      case ExpressionKind::boolean:
        return boolean(*as<BooleanExpression>(&e));
      case ExpressionKind::null_test: {
        auto* test = as<NullTestExpression>(&e);
        return enclosed(concat(part(*test->argument, true, e),
                               test->is_not_null ? " IS NOT NULL" : " IS NULL"));
      }
      case ExpressionKind::boolean_test:
        return boolean_test(*as<BooleanTestExpression>(&e));
      case ExpressionKind::distinct_from: {
        auto* test = as<DistinctFromExpression>(&e);
        std::string distinct = enclosed(
            concat(part(*test->left, true, e), " IS DISTINCT FROM ", part(*test->right, true, e)));
        return test->negated ? enclosed(concat("NOT ", distinct)) : distinct;
      }
      case ExpressionKind::case_when:
        return case_when(*as<CaseExpression>(&e));
      case ExpressionKind::coalesce:
        return concat("COALESCE(", list(as<CoalesceExpression>(&e)->arguments), ")");
      case ExpressionKind::null_if: {
        auto* test = as<NullIfExpression>(&e);
        return concat("NULLIF(", text(*test->left, true), ", ", text(*test->right, true), ")");
      }
      case ExpressionKind::min_max: {
        auto* node = as<MinMaxExpression>(&e);
        return concat(node->is_least ? "LEAST(" : "GREATEST(", list(node->arguments), ")");
      }
      case ExpressionKind::in_list:
        return in_list(*as<InListExpression>(&e));
      case ExpressionKind::array_comparison:
        return array_comparison(*as<ArrayComparisonExpression>(&e));
      case ExpressionKind::array:
        return array(*as<ArrayExpression>(&e));
      case ExpressionKind::relabel: {
        auto* node = as<RelabelExpression>(&e);
        return cast(*node->argument, e, node->form, show_implicit);
      }
      case ExpressionKind::io_conversion: {
        auto* node = as<IoConversionExpression>(&e);
        return cast(*node->argument, e, node->form, show_implicit);
      }
      case ExpressionKind::array_coercion: {
        auto* node = as<ArrayCoercionExpression>(&e);
        return cast(*node->argument, e, node->form, show_implicit);
      }
      case ExpressionKind::domain_coercion: {
        auto* node = as<DomainCoercionExpression>(&e);
        // Its modifier is the domain's own matter.
        auto* fitted = try_as<TypmodCoercionExpression>(node->argument);
        return cast(fitted != nullptr ? *fitted->argument : *node->argument, e, node->form,
                    show_implicit);
      }
      case ExpressionKind::typmod_coercion:
        return typmod_coercion(*as<TypmodCoercionExpression>(&e), show_implicit);
      case ExpressionKind::sql_value: {
        auto* value = as<SqlValueExpression>(&e);
        std::string name(sql_value_name(value->value));
        return value->typmod >= 0 ? concat(name, "(", value->typmod, ")") : name;
      }
      case ExpressionKind::row:
        return concat("ROW(", list(as<RowExpression>(&e)->fields), ")");
      case ExpressionKind::subplan:
        return subplan(*as<SubplanExpression>(&e));
      case ExpressionKind::column:
      case ExpressionKind::aggregate:
      case ExpressionKind::sublink:
      case ExpressionKind::set_returning:
        break;
    }
    return "?";
  }

 private:
  // What stands between parentheses unless they are left to whoever encloses it.
  std::string enclosed(std::string text) const {
    return context_.pretty ? text : concat("(", text, ")");
  }
  // An expression inside of `parent`.
  std::string part(const BoundExpression& e, bool show_implicit, const BoundExpression& parent) {
    bool alone = !context_.pretty || stands_alone(e, &parent) ||
                 (context_.query != nullptr && parent.kind == ExpressionKind::boolean &&
                  context_.query->is_enclosed(e));
    return alone ? text(e, show_implicit) : concat("(", text(e, show_implicit), ")");
  }

  // What has no elements has no type to read back.
  std::string array(const ArrayExpression& e) {
    std::string type =
        e.elements.empty() ? "::" + deparse_type(e.type, e.typmod, context_.types) : std::string();
    return concat("ARRAY[", list(e.elements), "]", type);
  }

  std::string parameter(const ExecutionParameterExpression& e) {
    auto known = context_.parameters.find(e.index);
    return known != context_.parameters.end() ? known->second : concat("$", e.index);
  }

  std::string list(ExpressionList items) {
    std::string result;
    for (const BoundExpression* item : items)
      result += (result.empty() ? "" : ", ") + text(*item, true);
    return result;
  }

  std::string cast(const BoundExpression& argument, const BoundExpression& result, CallForm form,
                   bool show_implicit) {
    if (form == CallForm::implicit_cast && !show_implicit)
      return part(argument, show_implicit, result);
    return concat(enclosed(part(argument, show_implicit, result)),
                  "::", deparse_type(result.type, result.typmod, context_.types));
  }

  std::string typmod_coercion(const TypmodCoercionExpression& e, bool show_implicit) {
    // The cast below it is part of the same `::type(n)`.
    const BoundExpression* argument = e.argument;
    if (auto* relabel = try_as<RelabelExpression>(e.argument)) argument = relabel->argument;
    if (auto* conversion = try_as<IoConversionExpression>(e.argument))
      argument = conversion->argument;
    if (auto* conversion = try_as<ArrayCoercionExpression>(e.argument))
      argument = conversion->argument;
    auto* function = try_as<CallExpression>(e.argument);
    if (function != nullptr && function->form == CallForm::implicit_cast)
      argument = function->arguments[0];
    CallForm form = e.explicit_cast ? CallForm::explicit_cast : CallForm::implicit_cast;
    // A literal that was read as the type.
    auto* literal = try_as<ConstantExpression>(e.argument);
    if (literal != nullptr && literal->typmod < 0 && (e.explicit_cast || show_implicit))
      return concat(deparse_literal(*literal, context_.types),
                    "::", deparse_type(e.type, e.typmod, context_.types));
    bool is_twice = context_.pretty && argument != e.argument && !stands_alone(*e.argument, &e);
    std::string shown = cast(*argument, e, form, show_implicit);
    if (!is_twice || (form == CallForm::implicit_cast && !show_implicit)) return shown;
    return concat("((", text(*argument, show_implicit),
                  "))::", deparse_type(e.type, e.typmod, context_.types));
  }

  std::string call(const CallExpression& e, bool show_implicit) {
    switch (e.form) {
      case CallForm::infix_operator: {
        const BuiltinOperator* op = find_operator(e.operator_oid);
        std::string_view name = op == nullptr ? std::string_view("?") : op->name;
        if (e.arguments.size() == 1)
          return enclosed(concat(name, " ", part(*e.arguments[0], true, e)));
        return enclosed(
            concat(part(*e.arguments[0], true, e), " ", name, " ", part(*e.arguments[1], true, e)));
      }
      case CallForm::explicit_cast:
      case CallForm::implicit_cast:
        return cast(*e.arguments[0], e, e.form, show_implicit);
      case CallForm::sql_syntax:
        if (std::string shown = sql_syntax(e); !shown.empty()) return shown;
        break;
      case CallForm::function:
        break;
    }
    if (e.procedure == array_element_procedure || e.procedure == array_slice_procedure)
      return subscripted(e);
    return concat(quote_identifier(procedure_name(e.procedure)), "(", list(e.arguments), ")");
  }

  // All upper bounds come before the lower ones.
  std::string subscripted(const CallExpression& e) {
    bool is_slice = e.procedure == array_slice_procedure;
    size_t count = (e.arguments.size() - 1) / (is_slice ? 2 : 1);
    bool is_column = e.arguments[0]->kind == ExpressionKind::slot ||
                     e.arguments[0]->kind == ExpressionKind::column;
    std::string array = text(*e.arguments[0], true);
    std::string result = is_column ? array : concat("(", array, ")");
    for (size_t i = 1; i <= count; ++i) {
      std::string lower = is_slice ? bound(*e.arguments[count + i]) + ":" : std::string();
      result += concat("[", lower, bound(*e.arguments[i]), "]");
    }
    return result;
  }
  // One that was left out is a bigint, which no other is.
  std::string bound(const BoundExpression& e) {
    bool is_omitted = e.kind == ExpressionKind::constant && e.type == type_oid::int8;
    return is_omitted ? std::string() : text(e, false);
  }

  std::string sql_syntax(const CallExpression& e) {
    std::vector<std::string> arguments;
    for (const BoundExpression* argument : e.arguments)
      arguments.push_back(part(*argument, false, e));
    return deparse_sql_syntax(procedure_name(e.procedure), e, arguments);
  }

  std::string boolean(const BooleanExpression& e) {
    if (e.op == BooleanOperator::not_)
      return enclosed(concat("NOT ", part(*e.arguments[0], false, e)));
    std::string result;
    for (size_t i = 0; i < e.arguments.size(); ++i) {
      if (i != 0) result += e.op == BooleanOperator::and_ ? " AND " : " OR ";
      result += part(*e.arguments[i], false, e);
    }
    return enclosed(result);
  }

  std::string boolean_test(const BooleanTestExpression& e) {
    static constexpr std::string_view names[] = {
        " IS TRUE", " IS NOT TRUE", " IS FALSE", " IS NOT FALSE", " IS UNKNOWN", " IS NOT UNKNOWN"};
    return enclosed(concat(part(*e.argument, false, e), names[static_cast<size_t>(e.test)]));
  }

  std::string case_when(const CaseExpression& e) {
    std::string result = context_.definition ? lines_.begin("CASE") : "CASE";
    lines_.indent();
    if (e.argument != nullptr) result += " " + text(*e.argument, true);
    for (const BoundWhen& when : e.whens) {
      result += concat(keyword("WHEN "), case_condition(e, *when.condition), " THEN ",
                       text(*when.result, true));
    }
    result += keyword("ELSE ") + text(*e.otherwise, true);
    lines_.outdent();
    return result + keyword("END");
  }
  std::string keyword(std::string_view word) {
    return context_.definition ? lines_.begin(word) : concat(" ", word);
  }

  // CASE x WHEN y: the comparison's other side.
  std::string case_condition(const CaseExpression& e, const BoundExpression& condition) {
    auto* comparison = try_as<CallExpression>(&condition);
    if (e.argument != nullptr && comparison != nullptr && comparison->arguments.size() == 2) {
      return text(*comparison->arguments[1], false);
    }
    return text(condition, false);
  }

  std::string in_list(const InListExpression& e) {
    const BuiltinOperator* op = find_operator(e.operator_oid);
    std::string items;
    if (!context_.definition) items = deparse_array(e.items, context_.types);
    if (items.empty()) items = concat("ARRAY[", list(e.items), "]");
    return enclosed(concat(part(*e.operand, true, e), " ",
                           op == nullptr ? std::string_view("?") : op->name,
                           e.negated ? " ALL (" : " ANY (", items, ")"));
  }

  std::string array_comparison(const ArrayComparisonExpression& e) {
    const BuiltinOperator* op = find_operator(e.operator_oid);
    // A bare subquery would be one whose rows are compared.
    auto* sublink = try_as<SublinkExpression>(e.array);
    std::string type;
    if (sublink != nullptr && sublink->sublink_kind == SublinkKind::scalar)
      type = "::" + deparse_type(sublink->type, sublink->typmod, context_.types);
    return enclosed(concat(part(*e.operand, true, e), " ",
                           op == nullptr ? std::string_view("?") : op->name,
                           e.is_all ? " ALL (" : " ANY (", part(*e.array, true, e), type, ")"));
  }

  std::string subplan(const SubplanExpression& e) {
    bool once =
        e.run_once && e.subplan_kind != SubplanKind::any && e.subplan_kind != SubplanKind::all;
    if (once) return concat("$", e.number - 1);
    return concat(e.hashed ? "(hashed SubPlan " : "(SubPlan ", e.number, ")");
  }

  const DeparseContext& context_;
  SlotText slot_text_;
  IndentedLines own_lines_;
  IndentedLines& lines_;  // of a definition
};

}  // namespace

std::string quote_identifier(std::string_view name) {
  Arena memory;
  return std::string(quote_identifier(name, memory));
}

std::string deparse(const DeparseContext& context, const BoundExpression& expression,
                    SlotText slot_text) {
  std::string shown = Deparser(context, slot_text).text(expression, false);
  return context.definition ? IndentedLines::finish(shown) : shown;
}

std::string deparse_part(const DeparseContext& context, const BoundExpression& expression,
                         bool show_implicit) {
  return Deparser(context, [](int32_t) { return std::string("?"); })
      .text(expression, show_implicit);
}

}  // namespace pgsilo
