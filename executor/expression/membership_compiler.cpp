// Conditions that ask whether a value or a row is among many: IN, = ANY, <> ALL, and OR (AND) of
// the comparisons that the binder makes of lists of rows.
#include <algorithm>

#include "catalog/builtin/builtin.h"
#include "executor/expression/expression_compiler.h"
#include "planner/access/strictness.h"
#include "planner/bound/expression_tree.h"
#include "sql/types/array.h"

namespace pgsilo {

namespace {

// The same in a whole run, whichever row it is evaluated on.
bool is_fixed_in_run(const BoundExpression& expression) {
  return !contains(expression, [](const BoundExpression& part) {
    switch (part.kind) {
      case ExpressionKind::slot:
      case ExpressionKind::execution_parameter:
        return true;
      case ExpressionKind::call:
        return as<CallExpression>(&part)->volatility == Volatility::volatile_;
      case ExpressionKind::subplan: {
        const auto* subplan = as<SubplanExpression>(&part);
        return !subplan->run_once || !subplan->arguments.empty();
      }
      default:
        return false;
    }
  });
}

// Its value, if it is known now.
const Datum* constant_value(const BoundExpression* expression) {
  const auto* constant = try_as<ConstantExpression>(without_relabel(expression));
  return constant != nullptr ? &constant->value : nullptr;
}

bool is_constant_or_parameter(const BoundExpression* expression) {
  ExpressionKind kind = without_relabel(expression)->kind;
  return kind == ExpressionKind::constant || kind == ExpressionKind::parameter;
}

// By how it hashes and compares what `=` or, `negated`, `<>` compares; null: that cannot be hashed.
const TypeInfo* hashed_type(Oid operator_oid, bool negated, Oid left, Oid right) {
  const BuiltinOperator* op = find_operator(operator_oid);
  bool is_equality = op != nullptr && op->name == (negated ? "<>" : "=");
  return is_equality && hash_alike(left, right) ? find_type(left) : nullptr;
}

// The comparisons `column = value` of one row of a list: of a conjunction, or just one. In a
// negated list `column <> value`, of a disjunction.
std::span<const BoundExpression* const> comparisons_of(const BoundExpression* const& alternative,
                                                       bool negated) {
  const auto* boolean = try_as<BooleanExpression>(alternative);
  BooleanOperator joined_by = negated ? BooleanOperator::or_ : BooleanOperator::and_;
  if (boolean != nullptr && boolean->op == joined_by) return boolean->arguments;
  return {&alternative, 1};
}

}  // namespace

// A row of a list: what is compared with what.
struct ExpressionCompiler::ListedRow {
  std::vector<Register> operands;
  std::vector<const TypeInfo*> types;
  std::vector<const BoundExpression*> values;

  bool is_like(const ListedRow& other) const {
    return operands == other.operands && types == other.types;
  }
  bool is_constant() const { return std::ranges::all_of(values, constant_value); }
};

bool ExpressionCompiler::read_listed_row(const BoundExpression* const& alternative, bool negated,
                                         ListedRow* row) {
  *row = {};
  for (const BoundExpression* comparison : comparisons_of(alternative, negated)) {
    const auto* call = try_as<CallExpression>(comparison);
    if (call == nullptr || call->operator_oid == invalid_oid || call->arguments.size() != 2)
      return false;
    const BoundExpression* operand = call->arguments[0];
    const BoundExpression* value = call->arguments[1];
    const TypeInfo* type = hashed_type(call->operator_oid, negated, operand->type, value->type);
    Register where;
    // Neither side can fail, so it does not matter that OR and AND would not look at all of them.
    bool is_row_of_list = type != nullptr && is_constant_or_parameter(value) &&
                          constant_value(operand) == nullptr && in_place(operand, &where);
    if (!is_row_of_list) return false;
    row->operands.push_back(where);
    row->types.push_back(type);
    row->values.push_back(value);
  }
  return true;
}

MembershipSet& ExpressionCompiler::constant_set(std::span<const TypeInfo* const> types) {
  auto& sets = plan_.statement().constant_sets;
  sets.push_back(std::make_unique<MembershipSet>(types));
  return *sets.back();
}

void ExpressionCompiler::emit_in_constants(const MembershipSet& set, bool negated, Register row,
                                           Register target) {
  emit(steps::in_constants, target, row, 0, 0,
       plan_.statement().arena.make<steps::ConstantSetSite>(&set, negated));
}

size_t ExpressionCompiler::compile_listed_rows(BooleanOperator op, ExpressionSpan alternatives,
                                               Register* where) {
  if (alternatives.size() < least_hashed_members) return 0;
  bool negated = op == BooleanOperator::and_;
  std::vector<ListedRow> rows;
  ListedRow row;
  for (const BoundExpression* const& alternative : alternatives) {
    if (!read_listed_row(alternative, negated, &row)) break;
    if (!rows.empty() && !row.is_like(rows.front())) break;
    rows.push_back(std::move(row));
  }
  if (rows.size() < least_hashed_members) return 0;
  const ListedRow& first = rows.front();
  auto width = static_cast<Register>(first.operands.size());
  *where = plan_.new_register();
  Register operands = plan_.new_registers(width);
  for (Register i = 0; i < width; ++i) emit(steps::move, operands + i, first.operands[i]);
  if (std::ranges::all_of(rows, &ListedRow::is_constant)) {
    MembershipSet& set = constant_set(first.types);
    std::vector<Datum> values(width);
    for (const ListedRow& each : rows) {
      std::ranges::transform(each.values, values.begin(),
                             [](const BoundExpression* value) { return *constant_value(value); });
      set.add(values.data());
    }
    emit_in_constants(set, negated, operands, *where);
    return rows.size();
  }
  RunSet set = begin_set(first.types, negated);
  Register listed = plan_.new_registers(width);
  for (const ListedRow& each : rows) {
    for (Register i = 0; i < width; ++i) compile_into(each.values[i], listed + i);
    emit(steps::add_row_to_set, 0, listed, 0, 0, set.site);
  }
  finish_set(set, operands, *where);
  return rows.size();
}

ExpressionCompiler::RunSet ExpressionCompiler::begin_set(std::span<const TypeInfo* const> types,
                                                         bool negated) {
  Arena& arena = plan_.statement().arena;
  const auto* site =
      arena.make<steps::RunSetSite>(plan_.statement().set_count++, arena.copy_span(types), negated);
  size_t known = emit_jump(steps::fill_set);
  steps_[known].data = site;
  return {site, known};
}

void ExpressionCompiler::finish_set(const RunSet& set, Register row, Register target) {
  emit(steps::set_is_filled, 0, 0, 0, 0, set.site);
  land(set.known);
  emit(steps::in_set, target, row, 0, 0, set.site);
}

bool ExpressionCompiler::compile_hashed_list(const InListExpression& list, Register operand,
                                             Register target) {
  if (list.items.size() < least_hashed_members) return false;
  const TypeInfo* type = nullptr;
  bool all_constant = true;
  for (const BoundExpression* item : list.items) {
    type = hashed_type(list.operator_oid, list.negated, list.operand->type, item->type);
    if (type == nullptr || !is_fixed_in_run(*item)) return false;
    all_constant &= constant_value(item) != nullptr;
  }
  if (all_constant) {
    MembershipSet& set = constant_set({&type, 1});
    for (const BoundExpression* item : list.items) set.add(constant_value(item));
    emit_in_constants(set, list.negated, operand, target);
    return true;
  }
  RunSet set = begin_set({&type, 1}, list.negated);
  for (const BoundExpression* item : list.items)
    emit(steps::add_row_to_set, 0, compile(item), 0, 0, set.site);
  finish_set(set, operand, target);
  return true;
}

bool ExpressionCompiler::compile_hashed_array(const ArrayComparisonExpression& comparison,
                                              Register operand, Register target) {
  bool negated = comparison.is_all;
  const TypeInfo* type = hashed_type(comparison.operator_oid, negated, comparison.operand->type,
                                     comparison.element_type);
  if (type == nullptr || !is_fixed_in_run(*comparison.array)) return false;
  if (const Datum* array = constant_value(comparison.array)) {
    if (array->null || ArrayReader(*array).count() < least_hashed_members) return false;
    MembershipSet& set = constant_set({&type, 1});
    set.add_elements(*array);
    emit_in_constants(set, negated, operand, target);
    return true;
  }
  RunSet set = begin_set({&type, 1}, negated);
  emit(steps::add_array_to_set, 0, compile(comparison.array), 0, 0, set.site);
  finish_set(set, operand, target);
  return true;
}

}  // namespace pgsilo
