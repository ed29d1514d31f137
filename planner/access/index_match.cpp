#include "planner/access/index_match.h"

#include <algorithm>

#include "base/arena.h"
#include "catalog/builtin/builtin.h"
#include "catalog/descriptors.h"
#include "planner/access/like_prefix.h"
#include "planner/bound/make_expression.h"
#include "planner/rewrite/fold.h"
#include "sql/types/type.h"

namespace pgsilo {

namespace {

enum class Use : uint8_t { none, equal, is_null, not_null, in_list, lower, upper, prefix };

// One clause as a condition on one column.
struct ColumnCondition {
  Use use = Use::none;
  KeyValue value;
  KeyValue prefix_end;  // of a prefix; value null: open
  bool inclusive = false;
  const InListExpression* list = nullptr;
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
    condition.use = Use::in_list;
    condition.list = &list;
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

void use(IndexMatch& match, const Clause& clause) {
  match.used.push_back(&clause);
  match.selectivity *= clause.selectivity;
}

void add_range(IndexMatch& match, const Found& found) {
  const ColumnCondition& condition = found.condition;
  switch (condition.use) {
    case Use::not_null:
      match.skip_nulls = true;
      break;
    case Use::lower:
      if (match.lower.value != nullptr) return;
      match.lower = condition.value;
      match.lower_inclusive = condition.inclusive;
      break;
    case Use::upper:
      if (match.upper.value != nullptr) return;
      match.upper = condition.value;
      match.upper_inclusive = condition.inclusive;
      break;
    case Use::prefix:
      if (match.has_range()) return;
      match.lower = condition.value;
      match.lower_inclusive = true;
      match.upper = condition.prefix_end;
      match.rechecked.push_back(found.clause);
      break;
    default:
      return;
  }
  use(match, *found.clause);
}

const Found* find_use(const std::vector<Found>& found, Use wanted) {
  for (const Found& item : found) {
    if (item.condition.use == wanted) return &item;
  }
  return nullptr;
}

// Returns whether later columns can be used too.
bool match_column(IndexMatch& match, const std::vector<Found>& found) {
  const Found* equal = find_use(found, Use::equal);
  if (equal == nullptr) equal = find_use(found, Use::is_null);
  if (equal != nullptr) {
    match.equal.push_back(equal->condition.value);
    use(match, *equal->clause);
    return true;
  }
  const Found* list = find_use(found, Use::in_list);
  if (list != nullptr && match.in_list_column < 0) {
    match.in_list_column = static_cast<int32_t>(match.equal.size());
    match.in_list = list->condition.list->items;
    match.in_list_conversion = list->condition.list_conversion;
    match.equal.push_back(KeyValue());
    use(match, *list->clause);
    return true;
  }
  for (const Found& item : found) add_range(match, item);
  return false;
}

bool any_is_null(const IndexMatch& match) {
  return std::any_of(match.equal.begin(), match.equal.end(),
                     [](const KeyValue& value) { return value.is_null; });
}

}  // namespace

int32_t plain_column_of(const BoundExpression& expression, int32_t relation) {
  if (auto* relabel = try_as<RelabelExpression>(&expression))
    return plain_column_of(*relabel->argument, relation);
  auto* column = try_as<ColumnExpression>(&expression);
  return column != nullptr && column->levels_up == 0 && column->relation == relation
             ? column->column
             : -1;
}

IndexMatch match_index(Arena& arena, const BoundQuery& query, int32_t relation,
                       const IndexDescriptor& index, std::span<const Clause* const> clauses) {
  IndexMatch match;
  match.index = &index;
  Matcher matcher(arena, query, relation);
  for (const IndexColumn& column : index.columns) {
    std::vector<Found> found;
    for (const Clause* clause : clauses) {
      ColumnCondition condition = matcher.match(*clause->expression, column.number - 1);
      if (condition.use != Use::none) found.push_back({clause, condition});
    }
    if (!match_column(match, found)) break;
  }
  match.is_unique_lookup =
      index.unique && match.equal.size() == index.columns.size() && !any_is_null(match);
  return match;
}

std::optional<ScanDirection> match_order(const BoundQuery& query, int32_t relation,
                                         const IndexMatch& match,
                                         std::span<const OrderKey> wanted) {
  const TableDescriptor& table = *query.relations[relation]->table;
  const auto& columns = match.index->columns;
  std::optional<ScanDirection> direction;
  size_t next = 0;
  auto is_fixed = [&](size_t i) {
    return i < match.equal.size() && static_cast<int32_t>(i) != match.in_list_column;
  };
  for (const OrderKey& key : wanted) {
    int32_t column = plain_column_of(*key.expression, relation);
    if (column < 0) return std::nullopt;
    bool fixed = false;
    for (size_t i = 0; i < columns.size(); ++i)
      fixed |= is_fixed(i) && columns[i].number == column + 1;
    if (fixed) continue;
    while (next < columns.size() && is_fixed(next)) ++next;
    // A unique key is used up: later keys decide nothing, unless nulls made it not unique.
    if (next == columns.size()) {
      if (match.index->unique && match.index->key.columns_are_key()) continue;
      return std::nullopt;
    }
    const IndexColumn& part = columns[next];
    if (part.number != column + 1) return std::nullopt;
    ScanDirection needed =
        key.descending == part.descending ? ScanDirection::forward : ScanDirection::backward;
    if (direction && *direction != needed) return std::nullopt;
    bool without_nulls = next == match.equal.size() && match.excludes_nulls();
    bool has_nulls = !table.columns[column].not_null && !without_nulls;
    bool nulls_first = needed == ScanDirection::forward ? part.nulls_first : !part.nulls_first;
    if (has_nulls && nulls_first != key.nulls_first) return std::nullopt;
    direction = needed;
    ++next;
  }
  return direction ? direction : ScanDirection::forward;
}

}  // namespace pgsilo
