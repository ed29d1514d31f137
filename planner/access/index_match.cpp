#include "planner/access/index_match.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/arena.h"
#include "base/long_work.h"
#include "catalog/builtin/builtin.h"
#include "catalog/descriptors.h"
#include "planner/access/like_prefix.h"
#include "planner/access/selectivity.h"
#include "planner/bound/expression_tree.h"
#include "planner/bound/make_expression.h"
#include "planner/rewrite/fold.h"
#include "sql/types/type.h"

namespace pgsilo {

namespace {

// Of a look at a clause, in bytes (WorkMeter::block).
constexpr size_t clause_work = 128;

enum class Use : uint8_t { none, equal, is_null, not_null, list, lower, upper, prefix };

// One clause as a condition on one column.
struct ColumnCondition {
  Use use = Use::none;
  KeyValue value;
  KeyValue prefix_end;  // of a prefix; value null: open
  bool inclusive = false;
  std::span<const BoundExpression* const> list;
  const BoundExpression* array = nullptr;
  KeyConversion list_conversion = KeyConversion::none;
};

int integer_bytes(Oid type) {
  switch (type) {
    case type_oid::int2:
      return 2;
    case type_oid::int4:
      return 4;
    case type_oid::int8:
      return 8;
    default:
      return 0;
  }
}

// Whether values of type `value` can be made keys of a column of type `column`.
std::optional<KeyConversion> key_conversion(Oid column, Oid value) {
  if (column == value) return KeyConversion::none;
  if (integer_bytes(column) != 0 && integer_bytes(value) != 0) {
    return integer_bytes(value) > integer_bytes(column) ? KeyConversion::narrow_integer
                                                        : KeyConversion::none;
  }
  if (column == type_oid::float8 && value == type_oid::float4) return KeyConversion::none;
  const TypeInfo* column_type = find_type(column);
  const TypeInfo* value_type = find_type(value);
  if (column_type == nullptr || value_type == nullptr) return std::nullopt;
  bool both_text = column_type->key_form == KeyForm::text && value_type->key_form == KeyForm::text;
  if (both_text) return KeyConversion::none;
  return std::nullopt;
}

Use use_of_operator(std::string_view name, bool column_is_left) {
  if (name == "=") return Use::equal;
  if (name == "<" || name == "<=") return column_is_left ? Use::upper : Use::lower;
  if (name == ">" || name == ">=") return column_is_left ? Use::lower : Use::upper;
  return Use::none;
}

class Matcher {
 public:
  Matcher(Arena& arena, const BoundQuery& query, int32_t relation)
      : arena_(arena), query_(query), relation_(relation) {}

  ColumnCondition match(const BoundExpression& expression, int32_t column) const {
    Oid type = query_.relations[relation_]->columns[column].type;
    switch (expression.kind) {
      case ExpressionKind::call:
        return match_call(*as<CallExpression>(&expression), column, type);
      case ExpressionKind::null_test:
        return match_null_test(*as<NullTestExpression>(&expression), column);
      case ExpressionKind::in_list:
        return match_list(*as<InListExpression>(&expression), column, type);
      case ExpressionKind::array_comparison:
        return match_array(*as<ArrayComparisonExpression>(&expression), column, type);
      case ExpressionKind::column:
        return plain_column_of(expression, relation_) == column ? match_boolean(true)
                                                                : ColumnCondition();
      case ExpressionKind::boolean: {
        auto* boolean = as<BooleanExpression>(&expression);
        bool negated = boolean->op == BooleanOperator::not_ &&
                       plain_column_of(*boolean->arguments[0], relation_) == column;
        return negated ? match_boolean(false) : ColumnCondition();
      }
      default:
        return {};
    }
  }

 private:
  bool is_outside_value(const BoundExpression& value) const {
    return !relations_of(value).has(relation_) && !is_volatile(value);
  }

  ColumnCondition match_boolean(bool value) const {
    ColumnCondition condition;
    condition.use = Use::equal;
    condition.value.value = make_boolean(arena_, value);
    return condition;
  }

  ColumnCondition match_call(const CallExpression& call, int32_t column, Oid type) const {
    const BuiltinOperator* op =
        call.operator_oid != invalid_oid ? find_operator(call.operator_oid) : nullptr;
    if (op == nullptr || call.arguments.size() != 2) return {};
    bool left = plain_column_of(*call.arguments[0], relation_) == column;
    bool right = !left && plain_column_of(*call.arguments[1], relation_) == column;
    if (!left && !right) return {};
    const BoundExpression* value = call.arguments[left ? 1 : 0];
    if (!is_outside_value(*value)) return {};
    if (op->name == "~~" && left) return match_like(*value, type);
    Use use = use_of_operator(op->name, left);
    auto conversion = key_conversion(type, value->type);
    if (use == Use::none || !conversion) return {};
    ColumnCondition condition;
    condition.use = use;
    condition.value.value = value;
    condition.value.conversion = *conversion;
    condition.inclusive = op->name == "<=" || op->name == ">=";
    return condition;
  }

  ColumnCondition match_like(const BoundExpression& pattern, Oid type) const {
    const TypeInfo* info = find_type(type);
    auto* constant = try_as<ConstantExpression>(&pattern);
    if (info == nullptr || info->key_form != KeyForm::text || constant == nullptr ||
        constant->value.null)
      return {};
    LikePrefix prefix = like_prefix(constant->value.bytes());
    if (prefix.text.empty()) return {};
    ColumnCondition condition;
    condition.use = Use::prefix;
    condition.value.value =
        make_constant(arena_, type_oid::text, Datum::of_bytes(arena_.copy_string(prefix.text)));
    if (!prefix.end.empty()) {
      condition.prefix_end.value =
          make_constant(arena_, type_oid::text, Datum::of_bytes(arena_.copy_string(prefix.end)));
    }
    return condition;
  }

  ColumnCondition match_null_test(const NullTestExpression& test, int32_t column) const {
    if (plain_column_of(*test.argument, relation_) != column) return {};
    ColumnCondition condition;
    condition.use = test.is_not_null ? Use::not_null : Use::is_null;
    condition.value.is_null = !test.is_not_null;
    return condition;
  }

  ColumnCondition match_list(const InListExpression& list, int32_t column, Oid type) const {
    if (list.negated || plain_column_of(*list.operand, relation_) != column) return {};
    auto conversion = key_conversion(type, list.items[0]->type);
    if (!conversion) return {};
    for (const BoundExpression* item : list.items) {
      if (!is_outside_value(*item)) return {};
    }
    ColumnCondition condition;
    condition.use = Use::list;
    condition.list = list.items;
    condition.list_conversion = *conversion;
    return condition;
  }

  ColumnCondition match_array(const ArrayComparisonExpression& comparison, int32_t column,
                              Oid type) const {
    const BuiltinOperator* op = find_operator(comparison.operator_oid);
    bool is_equality = op != nullptr && op->name == "=" && !comparison.is_all;
    if (!is_equality || plain_column_of(*comparison.operand, relation_) != column) return {};
    auto conversion = key_conversion(type, comparison.element_type);
    if (!conversion || !is_outside_value(*comparison.array)) return {};
    ColumnCondition condition;
    condition.use = Use::list;
    condition.array = comparison.array;
    condition.list_conversion = *conversion;
    return condition;
  }

  Arena& arena_;
  const BoundQuery& query_;
  int32_t relation_;
};

struct Found {
  const Clause* clause = nullptr;
  ColumnCondition condition;
};

// What the columns of an index have got so far.
class Columns {
 public:
  explicit Columns(IndexMatch& match) : match_(match) {}

  // Returns whether later columns can be used too.
  bool add(const std::vector<Found>& found) {
    const Found* equal = find_use(found, Use::equal);
    if (equal == nullptr) equal = find_use(found, Use::is_null);
    if (equal != nullptr) {
      equal_.push_back(equal->condition.value);
      use(*equal->clause);
      return true;
    }
    const Found* list = find_use(found, Use::list);
    if (list != nullptr && ranges_.list_column < 0) {
      ranges_.list_column = static_cast<int32_t>(equal_.size());
      ranges_.list = list->condition.list;
      ranges_.array = list->condition.array;
      ranges_.list_conversion = list->condition.list_conversion;
      equal_.emplace_back();
      use(*list->clause);
      return true;
    }
    for (const Found& item : found) add_range(item);
    return false;
  }

  void finish(Arena& arena) {
    bool has_null = std::any_of(equal_.begin(), equal_.end(),
                                [](const KeyValue& value) { return value.is_null; });
    const IndexDescriptor& index = *match_.index;
    ranges_.is_unique_lookup = index.unique && equal_.size() == index.columns.size() && !has_null;
    ranges_.equal = arena.copy_span(equal_);
    match_.equal_columns = equal_.size();
    match_.list_column = ranges_.list_column;
    if (ranges_.array != nullptr) {
      match_.lookups = array_length(*ranges_.array);
    } else if (ranges_.list_column >= 0) {
      match_.lookups = static_cast<double>(ranges_.list.size());
    }
    match_.ranges = arena.copy_span(std::initializer_list<KeyRanges>{ranges_});
  }

 private:
  static const Found* find_use(const std::vector<Found>& found, Use wanted) {
    for (const Found& item : found) {
      if (item.condition.use == wanted) return &item;
    }
    return nullptr;
  }

  void use(const Clause& clause) {
    match_.used.push_back(&clause);
    match_.selectivity *= clause.selectivity;
  }

  void add_range(const Found& found) {
    const ColumnCondition& condition = found.condition;
    switch (condition.use) {
      case Use::not_null:
        if (ranges_.skip_nulls) return;
        ranges_.skip_nulls = true;
        break;
      case Use::lower:
        if (ranges_.lower.value != nullptr) return;
        ranges_.lower = condition.value;
        ranges_.lower_inclusive = condition.inclusive;
        break;
      case Use::upper:
        if (ranges_.upper.value != nullptr) return;
        ranges_.upper = condition.value;
        ranges_.upper_inclusive = condition.inclusive;
        break;
      case Use::prefix:
        if (ranges_.has_range()) return;
        ranges_.lower = condition.value;
        ranges_.lower_inclusive = true;
        ranges_.upper = condition.prefix_end;
        match_.rechecked.push_back(found.clause);
        break;
      default:
        return;
    }
    use(*found.clause);
  }

  IndexMatch& match_;
  KeyRanges ranges_;
  std::vector<KeyValue> equal_;
};

}  // namespace

bool IndexMatch::is_unique_lookup() const {
  return std::all_of(ranges.begin(), ranges.end(),
                     [](const KeyRanges& each) { return each.is_unique_lookup; });
}

int32_t plain_column_of(const BoundExpression& expression, int32_t relation) {
  auto* column = try_as<ColumnExpression>(without_relabel(&expression));
  return column != nullptr && column->levels_up == 0 && column->relation == relation
             ? column->column
             : -1;
}

IndexMatch match_index(Arena& arena, const BoundQuery& query, int32_t relation,
                       const IndexDescriptor& index, std::span<const Clause* const> clauses) {
  IndexMatch match;
  match.index = &index;
  Matcher matcher(arena, query, relation);
  Columns columns(match);
  for (const IndexColumn& column : index.columns) {
    did_work(clauses.size() * clause_work);
    std::vector<Found> found;
    for (const Clause* clause : clauses) {
      ColumnCondition condition = matcher.match(*clause->expression, column.number - 1);
      if (condition.use != Use::none) found.push_back({clause, condition});
    }
    if (!columns.add(found)) break;
  }
  columns.finish(arena);
  return match;
}

// Of each use of a column the first clause counts (Columns).
std::vector<const Clause*> usable_clauses(Arena& arena, const BoundQuery& query, int32_t relation,
                                          std::span<const IndexDescriptor* const> indexes,
                                          std::span<const Clause* const> clauses) {
  std::set<int16_t> columns;
  for (const IndexDescriptor* index : indexes) {
    for (const IndexColumn& column : index->columns) columns.insert(column.number);
  }
  Matcher matcher(arena, query, relation);
  std::set<std::pair<int16_t, Use>> seen;
  std::vector<const Clause*> usable;
  for (const Clause* clause : clauses) {
    did_work(columns.size() * clause_work);
    bool is_first = false;
    for (int16_t column : columns) {
      Use use = matcher.match(*clause->expression, column - 1).use;
      is_first |= use != Use::none && seen.emplace(column, use).second;
    }
    if (is_first) usable.push_back(clause);
  }
  return usable;
}

}  // namespace pgsilo
