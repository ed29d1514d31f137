#include "planner/access/index_match.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/arena.h"
#include "base/long_work.h"
#include "catalog/builtin/builtin.h"
#include "catalog/descriptors.h"
#include "planner/access/like_prefix.h"
#include "planner/access/planning.h"
#include "planner/access/predicate_proof.h"
#include "planner/access/selectivity.h"
#include "planner/bound/expression_tree.h"
#include "planner/bound/make_expression.h"
#include "planner/rewrite/fold.h"
#include "sql/internal_error.h"
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
std::optional<KeyConversion> key_conversion(Oid of_column, Oid of_value) {
  Oid column = base_type_of(of_column);
  Oid value = base_type_of(of_value);
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

// What an index has in one place: a column, or (column -1) an expression.
struct IndexKey {
  int32_t column = -1;
  const BoundExpression* expression = nullptr;
  Oid type = invalid_oid;
};

class Matcher {
 public:
  Matcher(Arena& arena, const BoundQuery& query, int32_t relation)
      : arena_(arena), query_(query), relation_(relation) {}

  ColumnCondition match(const BoundExpression& expression, int32_t column) const {
    return match(expression, {column, nullptr, query_.relations[relation_]->columns[column].type});
  }

  ColumnCondition match(const BoundExpression& expression, const IndexKey& key) const {
    if (key.expression != nullptr && is_key(expression, key)) return match_boolean(true);
    switch (expression.kind) {
      case ExpressionKind::call:
        return match_call(*as<CallExpression>(&expression), key);
      case ExpressionKind::null_test:
        return match_null_test(*as<NullTestExpression>(&expression), key);
      case ExpressionKind::in_list:
        return match_list(*as<InListExpression>(&expression), key);
      case ExpressionKind::array_comparison:
        return match_array(*as<ArrayComparisonExpression>(&expression), key);
      case ExpressionKind::column:
        return is_key(expression, key) ? match_boolean(true) : ColumnCondition();
      case ExpressionKind::boolean: {
        auto* boolean = as<BooleanExpression>(&expression);
        bool negated = boolean->op == BooleanOperator::not_ && is_key(*boolean->arguments[0], key);
        return negated ? match_boolean(false) : ColumnCondition();
      }
      default:
        return {};
    }
  }

 private:
  bool is_key(const BoundExpression& expression, const IndexKey& key) const {
    if (key.expression == nullptr) return plain_column_of(expression, relation_) == key.column;
    return equal_expressions(without_relabel(&expression), without_relabel(key.expression));
  }

  bool is_outside_value(const BoundExpression& value) const {
    return !relations_of(value).has(relation_) && !is_volatile(value);
  }

  ColumnCondition match_boolean(bool value) const {
    ColumnCondition condition;
    condition.use = Use::equal;
    condition.value.value = make_boolean(arena_, value);
    return condition;
  }

  ColumnCondition match_call(const CallExpression& call, const IndexKey& key) const {
    const BuiltinOperator* op =
        call.operator_oid != invalid_oid ? find_operator(call.operator_oid) : nullptr;
    if (op == nullptr || call.arguments.size() != 2) return {};
    bool left = is_key(*call.arguments[0], key);
    bool right = !left && is_key(*call.arguments[1], key);
    if (!left && !right) return {};
    const BoundExpression* value = call.arguments[left ? 1 : 0];
    if (!is_outside_value(*value)) return {};
    if (op->name == "~~" && left) return match_like(*value, key.type);
    Use use = use_of_operator(op->name, left);
    auto conversion = key_conversion(key.type, value->type);
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

  ColumnCondition match_null_test(const NullTestExpression& test, const IndexKey& key) const {
    if (!is_key(*test.argument, key)) return {};
    ColumnCondition condition;
    condition.use = test.is_not_null ? Use::not_null : Use::is_null;
    condition.value.is_null = !test.is_not_null;
    return condition;
  }

  ColumnCondition match_list(const InListExpression& list, const IndexKey& key) const {
    if (list.negated || !is_key(*list.operand, key)) return {};
    auto conversion = key_conversion(key.type, list.items[0]->type);
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

  ColumnCondition match_array(const ArrayComparisonExpression& comparison,
                              const IndexKey& key) const {
    const BuiltinOperator* op = find_operator(comparison.operator_oid);
    bool is_equality = op != nullptr && op->name == "=" && !comparison.is_all;
    if (!is_equality || !is_key(*comparison.operand, key)) return {};
    auto conversion = key_conversion(key.type, comparison.element_type);
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

namespace {

// An expression over relation 0, over another.
const BoundExpression* over_relation(Arena& arena, const BoundExpression* expression,
                                     int32_t relation) {
  if (auto* column = try_as<ColumnExpression>(expression)) {
    auto* moved = arena.make<ColumnExpression>(*column);
    moved->relation = relation;
    return moved;
  }
  return map_children(arena, expression, [&](const BoundExpression* child) {
    return over_relation(arena, child, relation);
  });
}

}  // namespace

std::vector<IndexKeys> folded_index_keys(StatementPlanning& statement, const BoundQuery& query,
                                         int32_t relation) {
  std::span<const IndexKeys> bound = query.relations[relation]->index_keys;
  std::vector<IndexKeys> all(bound.begin(), bound.end());
  auto own = [&](const BoundExpression* expression) {
    return fold_expression(statement.arena, statement.evaluator,
                           over_relation(statement.arena, expression, relation));
  };
  for (IndexKeys& keys : all) {
    auto expressions = statement.arena.copy_span(keys.expressions);
    for (const BoundExpression*& expression : expressions) expression = own(expression);
    keys.expressions = expressions;
    if (keys.predicate != nullptr) keys.predicate = own(keys.predicate);
  }
  return all;
}

const IndexKeys* IndexedRelation::keys_of(const IndexDescriptor& index) const {
  auto found = std::ranges::find(keys, &index, &IndexKeys::index);
  return found != keys.end() ? &*found : nullptr;
}

const BoundExpression* IndexedRelation::expression_of(const IndexDescriptor& index,
                                                      size_t position) const {
  const IndexExpression* expression = index.expression_of(position);
  if (expression == nullptr) return nullptr;
  const IndexKeys* computed = keys_of(index);
  PGSILO_REQUIRE(computed != nullptr);
  return computed->expressions[static_cast<size_t>(expression - index.expressions.data())];
}

IndexMatch match_index(Arena& arena, const IndexedRelation& relation, const IndexDescriptor& index,
                       std::span<const Clause* const> clauses) {
  IndexMatch match;
  match.index = &index;
  Matcher matcher(arena, relation.query, relation.relation);
  Columns columns(match);
  for (size_t i = 0; i < index.columns.size(); ++i) {
    IndexKey key{index.columns[i].number - 1, relation.expression_of(index, i),
                 index.key.columns()[i].type->oid};
    did_work(clauses.size() * clause_work);
    std::vector<Found> found;
    for (const Clause* clause : clauses) {
      ColumnCondition condition = matcher.match(*clause->expression, key);
      if (condition.use != Use::none) found.push_back({clause, condition});
    }
    if (!columns.add(found)) break;
  }
  columns.finish(arena);
  return match;
}

bool match_predicate(const IndexedRelation& relation, std::span<const Clause* const> clauses,
                     IndexMatch& match) {
  const IndexKeys* keys = relation.keys_of(*match.index);
  if (keys == nullptr) return false;
  std::vector<const BoundExpression*> conjuncts;
  split_conjuncts(keys->predicate, conjuncts);
  for (const BoundExpression* conjunct : conjuncts) {
    auto found = std::ranges::find_if(
        clauses, [&](const Clause* clause) { return implies(*clause->expression, *conjunct); });
    if (found == clauses.end()) return false;
    bool is_same = equal_expressions((*found)->expression, conjunct);
    bool is_used = std::ranges::find(match.used, *found) != match.used.end();
    if (is_same) match.fulfilled.push_back(*found);
    if (is_used || std::ranges::find(match.implying, *found) != match.implying.end()) continue;
    match.implying.push_back(*found);
    match.selectivity *= (*found)->selectivity;
  }
  return true;
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
