#include "planner/explain/query_names.h"

#include <algorithm>

#include "base/byte_buffer.h"
#include "catalog/builtin/builtin.h"
#include "catalog/descriptors.h"
#include "catalog/system_tables.h"
#include "planner/binder/scope.h"
#include "planner/bound/expression_tree.h"
#include "sql/limits.h"

namespace pgsilo {

namespace {

constexpr int32_t not_found = -1;

bool is_in(const std::vector<std::string>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

std::string numbered(std::string_view name, int number) {
  std::string suffix = concat("_", number);
  size_t room = limits::max_identifier_bytes - suffix.size();
  if (name.size() > room) {
    // Whole characters only.
    while (room > 0 && (static_cast<unsigned char>(name[room]) & 0xC0) == 0x80) --room;
    name = name.substr(0, room);
  }
  return concat(name, suffix);
}

const BoundExpression* below_implicit_cast(const BoundExpression* e) {
  if (auto* relabel = try_as<RelabelExpression>(e))
    return relabel->form == CallForm::implicit_cast ? relabel->argument : nullptr;
  if (auto* conversion = try_as<IoConversionExpression>(e))
    return conversion->form == CallForm::implicit_cast ? conversion->argument : nullptr;
  if (auto* conversion = try_as<ArrayCoercionExpression>(e))
    return conversion->form == CallForm::implicit_cast ? conversion->argument : nullptr;
  if (auto* call = try_as<CallExpression>(e))
    return call->form == CallForm::implicit_cast ? call->arguments[0] : nullptr;
  return nullptr;
}

// The comparison of a pair of merged columns.
const CallExpression& equality_of(const FromItem& join, int32_t column) {
  auto* all = try_as<BooleanExpression>(join.condition);
  return *as<CallExpression>(all != nullptr ? all->arguments[column] : join.condition);
}

// Who tells of a column of a system table that has no datum of its own.
bool is_told(const BoundRelation& relation, size_t column, const CallExpression& call) {
  if (relation.table == nullptr || !relation.table->is_system()) return false;
  const BuiltinProcedure* tells = telling_procedure(relation.table->oid, column);
  return tells != nullptr && tells->oid == call.procedure;
}

std::string_view name_of(const ShownItem& leaf) {
  const BoundRelation& relation = *leaf.relation;
  return relation.alias_is_written || leaf.table() == nullptr ? relation.alias : leaf.table()->name;
}

}  // namespace

QueryNames::QueryNames(const BoundQuery& query, Taken taken)
    : taken_(std::move(taken)), relations_(query.relations.size(), nullptr) {
  for (auto& [name, next] : taken_) next = 0;
  for (size_t i = 0; i < relations_.size(); ++i) {
    auto item = std::make_unique<ShownItem>();
    item->relation = query.relations[i];
    relations_[i] = item.get();
    items_.push_back(std::move(item));
  }
  // The order in which PostgreSQL has them: what FROM names, a join behind its sides.
  for (const FromItem* item : query.from) shapes_.push_back(add(*item));
  for (ShownItem* item : shapes_) name_merged(*item, {});
  for (auto& item : items_)
    if (item->relation != nullptr) name_columns(*item);
  for (auto& item : items_)
    if (item->relation == nullptr) name_join_columns(*item);
}

ShownItem* QueryNames::add(const FromItem& item) {
  if (item.relation >= 0) {
    ShownItem* leaf = relations_[item.relation];
    leaf->item = &item;
    add_columns(*leaf);
    name_relation(*leaf, name_of(*leaf));
    return leaf;
  }
  auto join = std::make_unique<ShownItem>();
  join->item = &item;
  join->left = add(*item.left);
  join->right = add(*item.right);
  join_columns(*join);
  if (!item.alias.empty()) name_relation(*join, item.alias);
  for (int32_t i = 0; i < item.using_columns && item.alias.empty(); ++i)
    merged_are_unique_ |= item.outputs[i].value->kind != ExpressionKind::column;
  items_.push_back(std::move(join));
  return items_.back().get();
}

void QueryNames::add_columns(ShownItem& leaf) {
  for (const BoundColumn& column : leaf.relation->columns)
    leaf.columns.push_back({.name = column.type != 0 ? column.name : std::string_view()});
  leaf.names.resize(leaf.columns.size());
}

// Merged ones first, then the left's, then the right's.
void QueryNames::join_columns(ShownItem& join) {
  const FromItem& item = *join.item;
  std::vector<bool> is_merged[2] = {std::vector<bool>(join.left->columns.size()),
                                    std::vector<bool>(join.right->columns.size())};
  for (int32_t i = 0; i < item.using_columns; ++i) {
    const CallExpression& equality = equality_of(item, i);
    ShownItem::Column column{.name = item.outputs[i].name, .value = item.outputs[i].value};
    column.left = find_column(*join.left, equality.arguments[0]);
    column.right = find_column(*join.right, equality.arguments[1]);
    if (column.left != not_found) is_merged[0][column.left] = true;
    if (column.right != not_found) is_merged[1][column.right] = true;
    join.columns.push_back(column);
  }
  for (int side = 0; side < 2; ++side) {
    const ShownItem& from = side == 0 ? *join.left : *join.right;
    for (size_t i = 0; i < from.columns.size(); ++i) {
      if (is_merged[side][i] || from.columns[i].name.empty()) continue;
      ShownItem::Column column{.name = from.columns[i].name};
      (side == 0 ? column.left : column.right) = static_cast<int32_t>(i);
      for (size_t k = item.using_columns; k < item.outputs.size() && !item.alias.empty(); ++k) {
        const JoinOutput& output = item.outputs[k];
        if (output.name == column.name || output.value == nullptr) continue;
        if (!is_column(from, i, *output.value, 0)) continue;
        column.name = output.name;
        column.is_renamed = true;
      }
      join.columns.push_back(column);
    }
  }
  join.names.resize(join.columns.size());
}

int32_t QueryNames::find_column(const ShownItem& item, const BoundExpression* e) const {
  for (; e != nullptr; e = below_implicit_cast(e)) {
    for (size_t i = 0; i < item.columns.size(); ++i)
      if (is_column(item, i, *e, 0)) return static_cast<int32_t>(i);
  }
  return not_found;
}

bool QueryNames::is_value(const BoundExpression* value, const BoundExpression& e,
                          int32_t levels) const {
  if (value == nullptr || value->kind != e.kind) return false;
  if (levels != 0) value = raise_levels(memory_, value, levels);
  return equal_expressions(value, &e);
}

bool QueryNames::is_column(const ShownItem& item, size_t at, const BoundExpression& e,
                           int32_t levels) const {
  const ShownItem::Column& column = item.columns[at];
  if (item.relation == nullptr) {
    if (column.value != nullptr) return is_value(column.value, e, levels);
    return column.left >= 0 ? is_column(*item.left, column.left, e, levels)
                            : is_column(*item.right, column.right, e, levels);
  }
  return relation_column(item, e, levels) == static_cast<int32_t>(at);
}

// Of what is no column of the relation: not_found.
int32_t QueryNames::relation_column(const ShownItem& item, const BoundExpression& e,
                                    int32_t levels) const {
  auto* call = try_as<CallExpression>(&e);
  if (call != nullptr && call->arguments.size() != 1) return not_found;
  auto* column = try_as<ColumnExpression>(call != nullptr ? call->arguments[0] : &e);
  if (column == nullptr || column->levels_up != levels || relations_[column->relation] != &item)
    return not_found;
  if (call == nullptr) return column->column;
  for (size_t i = 0; i < item.columns.size(); ++i)
    if (is_told(*item.relation, i, *call)) return static_cast<int32_t>(i);
  return not_found;
}

void QueryNames::name_relation(ShownItem& item, std::string_view name) {
  item.alias = name;
  auto known = taken_.find(name);
  if (known == taken_.end()) {
    taken_.emplace(name, 0);
    return;
  }
  do {
    item.alias = numbered(name, ++known->second);
  } while (taken_.contains(item.alias));
  taken_.emplace(item.alias, 0);
}

std::string QueryNames::make_unique(const ShownItem& item, std::string_view name) const {
  std::string unique(name);
  for (int number = 1;
       is_in(item.names, unique) || is_in(merged_, unique) || is_in(item.merged_above, unique);
       ++number) {
    unique = concat(name, "_", number);
  }
  return unique;
}

void QueryNames::push_names(ShownItem& join, size_t column) {
  const ShownItem::Column& from = join.columns[column];
  if (from.left >= 0) join.left->names[from.left] = join.names[column];
  if (from.right >= 0) join.right->names[from.right] = join.names[column];
}

// Columns that USING merges have one name in the join and in its sides, from the top down.
void QueryNames::name_merged(ShownItem& item, const std::vector<std::string>& above) {
  if (item.relation != nullptr) return;
  if (item.alias.empty()) {
    for (size_t i = 0; i < item.names.size(); ++i)
      if (!item.names[i].empty()) push_names(item, i);
  }
  std::vector<std::string> merged = above;
  for (int32_t i = 0; i < item.item->using_columns; ++i) {
    std::string& name = item.names[i];
    if (name.empty()) {
      name = make_unique(item, item.columns[i].name);
      if (merged_are_unique_) merged_.push_back(name);
    }
    item.merged.push_back(name);
    merged.push_back(name);
    push_names(item, i);
  }
  item.left->merged_above = merged;
  item.right->merged_above = merged;
  name_merged(*item.left, merged);
  name_merged(*item.right, merged);
}

void QueryNames::name_columns(ShownItem& leaf) {
  const BoundRelation& relation = *leaf.relation;
  bool is_changed = false;
  int32_t written = relation.written_columns;
  for (size_t i = 0; i < leaf.columns.size(); ++i) {
    std::string_view bound = leaf.columns[i].name;
    if (bound.empty()) continue;
    std::string_view real = leaf.table() != nullptr ? leaf.table()->columns[i].name : bound;
    std::string_view wanted = written-- > 0 ? bound : real;
    if (leaf.names[i].empty()) leaf.names[i] = make_unique(leaf, wanted);
    is_changed |= leaf.names[i] != real;
  }
  if (relation.kind == RangeKind::function) {
    leaf.prints_columns = true;
  } else if (leaf.table() != nullptr) {
    leaf.prints_columns = is_changed;
  } else {
    leaf.prints_columns = is_changed || relation.written_columns > 0;
  }
}

void QueryNames::name_join_columns(ShownItem& join) {
  for (size_t i = join.item->using_columns; i < join.columns.size(); ++i) {
    const ShownItem::Column& column = join.columns[i];
    const std::string& real =
        column.left >= 0 ? join.left->names[column.left] : join.right->names[column.right];
    if (join.alias.empty()) {
      join.names[i] = real;
      continue;
    }
    std::string_view wanted = column.is_renamed ? column.name : std::string_view(real);
    if (join.names[i].empty()) join.names[i] = make_unique(join, wanted);
    join.prints_columns |= join.names[i] != real;
  }
}

ShownName QueryNames::find(const BoundExpression& e, int32_t levels) const {
  for (const ShownItem* shape : shapes_) {
    ShownName found = find(*shape, e, levels);
    if (!found.column.empty()) return found;
  }
  return {};
}

ShownName QueryNames::find(const ShownItem& item, const BoundExpression& e, int32_t levels) const {
  bool is_join = item.relation == nullptr;
  bool is_hidden = is_join && !item.is_open && !item.alias.empty();
  size_t count = 0;  // of the item's own columns that may be meant
  if (!is_join || is_hidden) {
    count = item.columns.size();
  } else if (!item.is_open) {
    count = static_cast<size_t>(item.item->using_columns);
  }
  for (size_t i = 0; i < count; ++i) {
    // A merged column that is one of a side's is shown as that.
    if (is_join && !is_hidden && item.columns[i].value->kind == ExpressionKind::column) continue;
    if (!item.names[i].empty() && is_column(item, i, e, levels)) return {item.alias, item.names[i]};
  }
  if (!is_join || is_hidden) return {};
  ShownName found = find(*item.left, e, levels);
  return found.column.empty() ? find(*item.right, e, levels) : found;
}

}  // namespace pgsilo
