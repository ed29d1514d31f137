#include "executor/expression/expression_compiler.h"

#include "base/long_work.h"
#include "catalog/builtin/builtin.h"
#include "planner/bound/expression_tree.h"
#include "sql/sql_error.h"
#include "sql/types/type.h"

namespace pgsilo {

Step& ExpressionCompiler::emit(Step::Run run, Register result, Register a, Register b, int32_t c,
                               const void* data) {
  steps_.push_back({run, result, a, b, c, data});
  return steps_.back();
}

size_t ExpressionCompiler::emit_jump(Step::Run run, Register a) {
  emit(run, 0, a);
  return steps_.size() - 1;
}

ExpressionProgram ExpressionCompiler::finish(Register result) {
  return {plan_.statement().arena.copy_span(steps_), result};
}

// Every node comes by here.
bool ExpressionCompiler::in_place(const BoundExpression* expression, Register* where) {
  constexpr size_t node_work = 512;
  did_work(node_work);
  expression = without_relabel(expression);
  switch (expression->kind) {
    case ExpressionKind::constant:
      *where = plan_.constant(as<ConstantExpression>(expression)->value);
      return true;
    case ExpressionKind::parameter:
      *where = plan_.parameter(as<ParameterExpression>(expression)->index);
      return true;
    case ExpressionKind::slot:
      *where = slots_[static_cast<size_t>(as<SlotExpression>(expression)->slot)];
      return true;
    case ExpressionKind::execution_parameter:
      *where = plan_.execution_parameter(as<ExecutionParameterExpression>(expression)->index);
      return true;
    default:
      return false;
  }
}

Register ExpressionCompiler::compile(const BoundExpression* expression) {
  Register where;
  if (in_place(expression, &where)) return where;
  Register target = plan_.new_register();
  compile_into(expression, target);
  return target;
}

void ExpressionCompiler::compile_relabel(const RelabelExpression& relabel, Register target) {
  if (!relabel.changes_sign()) return compile_into(relabel.argument, target);
  bool is_signed = type_info(relabel.type).key_form == KeyForm::int32;
  emit(is_signed ? steps::with_sign : steps::without_sign, target, compile(relabel.argument));
}

void ExpressionCompiler::compile_into(const BoundExpression* expression, Register target) {
  Register where;
  if (in_place(expression, &where)) {
    emit(steps::move, target, where);
    return;
  }
  switch (expression->kind) {
    case ExpressionKind::relabel:
      return compile_relabel(*as<RelabelExpression>(expression), target);
    case ExpressionKind::call:
      return compile_call(*as<CallExpression>(expression), target);
    case ExpressionKind::boolean:
      return compile_boolean(*as<BooleanExpression>(expression), target);
    case ExpressionKind::null_test:
      return compile_null_test(*as<NullTestExpression>(expression), target);
    case ExpressionKind::boolean_test: {
      const auto* test = as<BooleanTestExpression>(expression);
      Register argument = compile(test->argument);
      emit(steps::boolean_test, target, argument, 0, static_cast<int32_t>(test->test));
      return;
    }
    case ExpressionKind::distinct_from:
      return compile_distinct_from(*as<DistinctFromExpression>(expression), target);
    case ExpressionKind::case_when:
      return compile_case(*as<CaseExpression>(expression), target);
    case ExpressionKind::coalesce:
      return compile_coalesce(*as<CoalesceExpression>(expression), target);
    case ExpressionKind::null_if:
      return compile_null_if(*as<NullIfExpression>(expression), target);
    case ExpressionKind::min_max:
      return compile_min_max(*as<MinMaxExpression>(expression), target);
    case ExpressionKind::in_list:
      return compile_in_list(*as<InListExpression>(expression), target);
    case ExpressionKind::array_comparison:
      return compile_array_comparison(*as<ArrayComparisonExpression>(expression), target);
    case ExpressionKind::array:
      return compile_array(*as<ArrayExpression>(expression), target);
    case ExpressionKind::io_conversion:
      return compile_io_conversion(*as<IoConversionExpression>(expression), target);
    case ExpressionKind::array_coercion:
      return compile_array_coercion(*as<ArrayCoercionExpression>(expression), target);
    case ExpressionKind::typmod_coercion:
      return compile_typmod_coercion(*as<TypmodCoercionExpression>(expression), target);
    case ExpressionKind::domain_coercion:
      return compile_domain_coercion(*as<DomainCoercionExpression>(expression), target);
    case ExpressionKind::sql_value:
      return compile_sql_value(*as<SqlValueExpression>(expression), target);
    case ExpressionKind::row: {
      // Its fields matter only to IS NULL (compile_null_test); as a value a row is just not null.
      for (const BoundExpression* field : as<RowExpression>(expression)->fields) compile(field);
      emit(steps::move, target, plan_.constant(Datum::of_bool(true)));
      return;
    }
    case ExpressionKind::subplan:
      return compile_subplan(*as<SubplanExpression>(expression), target);
    default:
      // Kinds of the planning stage; in_place() took the rest.
      throw SqlError(sqlstate::internal_error, "expression was not planned");
  }
}

void ExpressionCompiler::compile_sql_value(const SqlValueExpression& value, Register target) {
  emit(steps::sql_value, target, 0, static_cast<Register>(value.typmod + 1),
       static_cast<int32_t>(value.value));
}

void ExpressionCompiler::compile_io_conversion(const IoConversionExpression& conversion,
                                               Register target) {
  Register argument = compile(conversion.argument);
  const auto* data = plan_.statement().arena.make<steps::IoConversion>(
      &type_info(conversion.argument->type), &type_info(conversion.type), conversion.typmod);
  emit(steps::io_conversion, target, argument, 0, 0, data);
}

void ExpressionCompiler::compile_array_coercion(const ArrayCoercionExpression& coercion,
                                                Register target) {
  Register argument = compile(coercion.argument);
  auto* data = plan_.statement().arena.make<steps::ArrayCoercion>();
  data->target = &type_info(coercion.target_element);
  data->is_explicit = coercion.form == CallForm::explicit_cast;
  if (coercion.procedure != invalid_oid) {
    const BuiltinProcedure& procedure = *find_procedure(coercion.procedure);
    Oid types[] = {coercion.source_element, type_oid::int4, type_oid::boolean};
    data->call = call_data(coercion.procedure, {types, procedure.argument_count}, procedure.result);
    data->strict = procedure.strict;
  }
  data->relabels = coercion.procedure == invalid_oid && !coercion.through_text &&
                   !is_domain(*data->target) &&
                   type_info(coercion.source_element).key_form == data->target->key_form;
  if (coercion.through_text)
    data->conversion = {&type_info(coercion.source_element), data->target, no_typmod};
  emit(steps::convert_elements, target, argument, 0, 0, data);
}

void ExpressionCompiler::compile_typmod_coercion(const TypmodCoercionExpression& coercion,
                                                 Register target) {
  Register argument = compile(coercion.argument);
  const auto* data = plan_.statement().arena.make<steps::TypmodCoercion>(
      &type_info(coercion.type), coercion.typmod, coercion.explicit_cast);
  emit(steps::typmod_coercion, target, argument, 0, 0, data);
}

void ExpressionCompiler::compile_domain_coercion(const DomainCoercionExpression& coercion,
                                                 Register target) {
  Register argument = compile(coercion.argument);
  emit(steps::domain_coercion, target, argument, 0, 0, &type_info(coercion.type));
}

void ExpressionCompiler::compile_distinct_from(const DistinctFromExpression& test,
                                               Register target) {
  Register left = compile(test.left);
  Register right = compile(test.right);
  Oid types[] = {test.left->type, test.right->type};
  emit(steps::distinct_from, target, left, right, test.negated ? 1 : 0,
       call_data(test.equality, types, type_oid::boolean));
}

const steps::CallData* ExpressionCompiler::call_data(Oid procedure, std::span<const Oid> types,
                                                     Oid result_type) {
  ScalarFunction function = find_function(procedure);
  if (function == nullptr) {
    const BuiltinProcedure* known = find_procedure(procedure);
    throw_unsupported(concat("function ", known == nullptr ? "?" : known->name));
  }
  Arena& arena = plan_.statement().arena;
  auto* data = arena.make<steps::CallData>();
  data->function = function;
  data->site.argument_types = arena.copy_span(types);
  data->site.result_type = result_type;
  return data;
}

Register ExpressionCompiler::compile_row(ExpressionList arguments) {
  Register first = plan_.new_registers(arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    compile_into(arguments[i], first + static_cast<Register>(i));
  }
  return first;
}

namespace {
// Of an array that is NULL PostgreSQL does not evaluate the subscripts.
bool skips_arguments(const CallExpression& call) {
  if (call.procedure != array_element_procedure && call.procedure != array_slice_procedure)
    return false;
  return std::any_of(call.arguments.begin() + 1, call.arguments.end(),
                     [](const BoundExpression* argument) {
                       return argument->kind != ExpressionKind::constant &&
                              argument->kind != ExpressionKind::slot &&
                              argument->kind != ExpressionKind::parameter;
                     });
}
}  // namespace

void ExpressionCompiler::compile_subscripts(const CallExpression& call, Register target) {
  size_t count = call.arguments.size();
  std::vector<Oid> types;
  for (const BoundExpression* argument : call.arguments) types.push_back(argument->type);
  Register first = plan_.new_registers(count);
  compile_into(call.arguments[0], first);
  emit(steps::move, target, first);
  size_t end = emit_jump(steps::jump_if_null, first);
  for (size_t i = 1; i < count; ++i)
    compile_into(call.arguments[i], first + static_cast<Register>(i));
  emit(steps::call_strict, target, first, 0, static_cast<int32_t>(count),
       call_data(call.procedure, types, call.type));
  land(end);
}

void ExpressionCompiler::compile_call(const CallExpression& call, Register target) {
  if (skips_arguments(call)) return compile_subscripts(call, target);
  size_t count = call.arguments.size();
  if (call.strict && count == 2) {
    if (Step::Run run = steps::specialised_call2(call.procedure)) {
      Register left = compile(call.arguments[0]);
      Register right = compile(call.arguments[1]);
      emit(run, target, left, right);
      return;
    }
  }
  std::vector<Oid> types;
  for (const BoundExpression* argument : call.arguments) types.push_back(argument->type);
  const auto* data = call_data(call.procedure, types, call.type);
  const BuiltinProcedure* known = find_procedure(call.procedure);
  if (known != nullptr && known->acts_outside) {
    Register first = compile_row(call.arguments);
    emit(steps::call_outside, target, first, call.strict ? 1 : 0, static_cast<int32_t>(count),
         data);
  } else if (call.strict && count == 1) {
    Register argument = compile(call.arguments[0]);
    emit(steps::call1_strict, target, argument, 0, 1, data);
  } else if (call.strict && count == 2) {
    Register left = compile(call.arguments[0]);
    Register right = compile(call.arguments[1]);
    emit(steps::call2_strict, target, left, right, 2, data);
  } else {
    Register first = compile_row(call.arguments);
    emit(call.strict && count != 0 ? steps::call_strict : steps::call, target, first, 0,
         static_cast<int32_t>(count), data);
  }
}

void ExpressionCompiler::call_procedure(Oid procedure, Register left, Register right, Oid left_type,
                                        Oid right_type, Register target) {
  if (Step::Run run = steps::specialised_call2(procedure)) {
    emit(run, target, left, right);
    return;
  }
  Oid types[] = {left_type, right_type};
  emit(steps::call2_strict, target, left, right, 2, call_data(procedure, types, type_oid::boolean));
}

void ExpressionCompiler::compile_boolean(const BooleanExpression& boolean, Register target) {
  if (boolean.op == BooleanOperator::not_) {
    Register argument = compile(boolean.arguments[0]);
    emit(steps::logical_not, target, argument);
    return;
  }
  bool is_and = boolean.op == BooleanOperator::and_;
  Step::Run decided = is_and ? steps::jump_if_false : steps::jump_if_true;
  std::vector<size_t> jumps;
  for (size_t i = 0, taken = 0; i < boolean.arguments.size(); i += taken) {
    if (i != 0) jumps.push_back(emit_jump(decided, target));
    Register argument;
    taken = compile_listed_rows(boolean.op, boolean.arguments.subspan(i), &argument);
    if (taken == 0) {
      taken = 1;
      if (i == 0) {
        compile_into(boolean.arguments[0], target);
        continue;
      }
      argument = compile(boolean.arguments[i]);
    }
    Step::Run combine = is_and ? steps::combine_and : steps::combine_or;
    emit(i == 0 ? steps::move : combine, target, argument);
  }
  for (size_t jump : jumps) land(jump);
}

Register ExpressionCompiler::compile_condition(const BoundExpression* expression) {
  if (auto* subplan = try_as<SubplanExpression>(expression);
      subplan != nullptr && subplan->hashed) {
    Register found = plan_.new_register();
    compile_subplan(*subplan, found, /*null_is_false=*/true);
    return found;
  }
  const auto* boolean = try_as<BooleanExpression>(expression);
  if (boolean == nullptr || boolean->op == BooleanOperator::not_) return compile(expression);
  Step::Run decided =
      boolean->op == BooleanOperator::and_ ? steps::jump_if_not_true : steps::jump_if_true;
  Register target = plan_.new_register();
  std::vector<size_t> jumps;
  for (size_t i = 0, taken = 0; i < boolean->arguments.size(); i += taken) {
    if (i != 0) jumps.push_back(emit_jump(decided, target));
    Register value;
    taken = compile_listed_rows(boolean->op, boolean->arguments.subspan(i), &value);
    if (taken == 0) {
      taken = 1;
      value = compile_condition(boolean->arguments[i]);
    }
    emit(steps::move, target, value);
  }
  for (size_t jump : jumps) land(jump);
  return target;
}

void ExpressionCompiler::compile_null_test(const NullTestExpression& test, Register target) {
  Step::Run run = test.is_not_null ? steps::is_not_null : steps::is_null;
  const auto* row = try_as<RowExpression>(test.argument);
  if (row == nullptr) {
    Register argument = compile(test.argument);
    emit(run, target, argument);
    return;
  }
  std::vector<size_t> jumps;
  emit(steps::move, target, plan_.constant(Datum::of_bool(true)));
  for (const BoundExpression* field : row->fields) {
    Register argument = compile(field);
    emit(run, target, argument);
    jumps.push_back(emit_jump(steps::jump_if_false, target));
  }
  for (size_t jump : jumps) land(jump);
}

void ExpressionCompiler::compile_case(const CaseExpression& expression, Register target) {
  if (expression.argument != nullptr) {
    compile_into(expression.argument, plan_.execution_parameter(expression.argument_parameter));
  }
  std::vector<size_t> ends;
  for (const BoundWhen& when : expression.whens) {
    Register condition = compile_condition(when.condition);
    size_t otherwise = emit_jump(steps::jump_if_not_true, condition);
    compile_into(when.result, target);
    ends.push_back(emit_jump(steps::jump));
    land(otherwise);
  }
  compile_into(expression.otherwise, target);
  for (size_t jump : ends) land(jump);
}

void ExpressionCompiler::compile_coalesce(const CoalesceExpression& expression, Register target) {
  std::vector<size_t> ends;
  for (size_t i = 0; i < expression.arguments.size(); ++i) {
    if (i != 0) ends.push_back(emit_jump(steps::jump_if_not_null, target));
    compile_into(expression.arguments[i], target);
  }
  for (size_t jump : ends) land(jump);
}

void ExpressionCompiler::compile_null_if(const NullIfExpression& expression, Register target) {
  Register left = compile(expression.left);
  Register right = compile(expression.right);
  Register equal = plan_.new_register();
  call_procedure(expression.equality, left, right, expression.left->type, expression.right->type,
                 equal);
  emit(steps::move, target, plan_.constant(Datum()));
  size_t end = emit_jump(steps::jump_if_true, equal);
  emit(steps::move, target, left);
  land(end);
}

void ExpressionCompiler::compile_min_max(const MinMaxExpression& expression, Register target) {
  const TypeInfo* type = &type_info(expression.type);
  if (!type->is_ordered()) {
    throw SqlError(
        sqlstate::undefined_function,
        concat("could not identify a comparison function for type ", format_type(type->oid)));
  }
  Register best = plan_.new_register();
  emit(steps::move, best, plan_.constant(Datum()));
  for (const BoundExpression* argument : expression.arguments) {
    Register value = compile(argument);
    emit(steps::min_max, best, value, 0, expression.is_least ? 1 : 0, type);
  }
  emit(steps::move, target, best);
}

void ExpressionCompiler::compile_in_list(const InListExpression& expression, Register target) {
  Register operand = compile(expression.operand);
  if (compile_hashed_list(expression, operand, target)) return;
  std::vector<size_t> ends;
  Register one = plan_.new_register();
  for (size_t i = 0; i < expression.items.size(); ++i) {
    const BoundExpression* item = expression.items[i];
    if (i != 0) {
      ends.push_back(
          emit_jump(expression.negated ? steps::jump_if_false : steps::jump_if_true, target));
    }
    Register value = compile(item);
    Register outcome = i == 0 ? target : one;
    call_procedure(expression.procedure, operand, value, expression.operand->type, item->type,
                   outcome);
    if (i != 0) emit(expression.negated ? steps::combine_and : steps::combine_or, target, one);
  }
  for (size_t jump : ends) land(jump);
}

void ExpressionCompiler::compile_array_comparison(const ArrayComparisonExpression& expression,
                                                  Register target) {
  Register operand = compile(expression.operand);
  if (compile_hashed_array(expression, operand, target)) return;
  Register array = compile(expression.array);
  Oid types[] = {expression.operand->type, expression.element_type};
  const auto* comparison = call_data(expression.procedure, types, type_oid::boolean);
  emit(steps::compare_with_array, target, operand, array, 0,
       plan_.statement().arena.make<steps::ArrayComparisonData>(*comparison, expression.strict,
                                                                expression.is_all));
}

void ExpressionCompiler::compile_array(const ArrayExpression& expression, Register target) {
  Register first = compile_row(expression.elements);
  emit(expression.of_arrays ? steps::join_arrays : steps::make_array, target, first, 0,
       static_cast<int32_t>(expression.elements.size()), &type_info(expression.element_type));
}

void ExpressionCompiler::compile_subplan(const SubplanExpression& expression, Register target,
                                         bool null_is_false) {
  for (const SubplanArgument& argument : expression.arguments) {
    compile_into(argument.value, plan_.execution_parameter(argument.execution_parameter));
  }
  uint32_t index = plan_.add_subplan(expression, slots_);
  plan_.statement().subplans[index].null_is_false = null_is_false;
  if (!expression.hashed) {
    emit(steps::subplan, target, 0, 0, static_cast<int32_t>(index));
    return;
  }
  emit(steps::jump_if_subplan_empty, target, index);
  size_t empty = steps_.size() - 1;
  Register key = compile_row(expression.hash_keys);
  plan_.statement().subplans[index].hash_key = key;
  emit(steps::subplan, target, 0, 0, static_cast<int32_t>(index));
  land(empty);
}

}  // namespace pgsilo
