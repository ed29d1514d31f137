// Queries, and what occurs in them only, as text.
#include <algorithm>

#include "base/byte_buffer.h"
#include "base/long_work.h"
#include "catalog/descriptors.h"
#include "planner/binder/binding.h"
#include "planner/stored/stored_tree.h"
#include "planner/stored/tree_writer.h"
#include "sql/internal_error.h"

namespace pgsilo {

void TreeWriter::name(std::string_view name) {
  constexpr char digits[] = "0123456789ABCDEF";
  did_work(name.size());
  item("'");
  for (unsigned char byte : name) {
    if (byte > ' ' && byte != '(' && byte != ')' && byte != '%') {
      text_ += static_cast<char>(byte);
    } else {
      text_ += '%';
      text_ += digits[byte >> 4];
      text_ += digits[byte & 15];
    }
  }
}

void TreeWriter::sort_keys(std::span<const BoundSortKey> keys) {
  begin("keys");
  for (const BoundSortKey& key : keys) {
    child(key.expression);
    flag(key.descending);
    flag(key.nulls_first);
  }
  end();
}

void TreeWriter::use_relation(Oid relation, int16_t column) {
  if (rests_on_columns_) relations_.push_back({relation, column});
}

void TreeWriter::variable(const ColumnExpression& node) {
  begin("variable", node);
  number(node.relation);
  number(node.column);
  number(node.levels_up);
  end();
  const BoundQuery& query = *open_[open_.size() - 1 - static_cast<size_t>(node.levels_up)];
  if (query.set_operation != QuerySetOperation::none) return;
  const BoundRelation& relation = *query.relations[static_cast<size_t>(node.relation)];
  const TableDescriptor* named = relation.table != nullptr ? relation.table : relation.view;
  if (named != nullptr) use_relation(named->oid, static_cast<int16_t>(node.column + 1));
}

void TreeWriter::sublink(const SublinkExpression& node) {
  begin("sublink", node);
  word(node.sublink_kind, stored::Words(stored::sublink_kinds));
  number(node.column);
  query(*node.query);
  number(static_cast<int64_t>(node.row_parameters.size()));
  rows_.push_back(node.row_parameters);
  child(node.condition);
  rows_.pop_back();
  end();
}

bool TreeWriter::row_value(const ExecutionParameterExpression& node) {
  for (size_t out = 0; out < rows_.size(); ++out) {
    std::span<const int32_t> row = rows_[rows_.size() - 1 - out];
    auto found = std::ranges::find(row, node.index);
    if (found == row.end()) continue;
    begin("row_value", node);
    number(static_cast<int64_t>(out));
    number(found - row.begin());
    end();
    return true;
  }
  return false;
}

void TreeWriter::query(const BoundQuery& query) {
  require_stack();
  open_.push_back(&query);
  begin("query");
  flag(query.is_grouped);
  flag(query.has_set_returning_targets);
  flag(query.distinct);
  with_queries(query);
  begin("relations");
  for (const BoundRelation* each : query.relations) relation(*each);
  end();
  begin("from");
  for (const FromItem* item : query.from) shape(*item);
  end();
  set_operation(query);
  child(query.where);
  targets(query);
  group_keys(query);
  child(query.having);
  order(query);
  child(query.limit_count);
  child(query.limit_offset);
  if (query.with_ties) {
    begin("with_ties");
    end();
  }
  row_marks(query);
  end();
  open_.pop_back();
}

void TreeWriter::with_queries(const BoundQuery& query) {
  begin(query.with_recursive ? "with_recursive" : "with");
  for (const BoundCte* cte : query.ctes) {
    begin(cte->is_recursive ? "recursive" : "cte");
    name(cte->name);
    word(cte->mode, stored::Words(stored::cte_modes));
    number(cte->written_columns);
    columns(cte->columns);
    this->query(*cte->query);
    end();
  }
  end();
}

void TreeWriter::columns(std::span<const BoundColumn> columns) {
  begin("columns");
  for (const BoundColumn& column : columns) {
    name(column.name);
    oid(column.type);
    number(column.typmod);
  }
  end();
}

// Of a table or a view, whose columns are as they are now.
void TreeWriter::alias(const BoundRelation& relation) {
  name(relation.alias);
  flag(relation.alias_is_written);
  number(relation.written_columns);
  if (relation.table == nullptr && relation.view == nullptr) return columns(relation.columns);
  begin("names");
  int32_t left = relation.written_columns;
  for (const BoundColumn& column : relation.columns) {
    if (column.type == invalid_oid || left-- <= 0) continue;
    name(column.name);
  }
  end();
}

void TreeWriter::relation(const BoundRelation& relation) {
  bool is_view = relation.view != nullptr;
  begin(is_view ? "view" : stored::range_kinds[static_cast<size_t>(relation.kind)]);
  alias(relation);
  flag(relation.lateral);
  if (relation.kind == RangeKind::table || is_view) {
    Oid named = is_view ? relation.view->oid : relation.table->oid;
    oid(named);
    use_relation(named);
    return end();
  }
  switch (relation.kind) {
    case RangeKind::subquery:
      query(*relation.query);
      break;
    case RangeKind::function:
      name(relation.function_name);
      flag(relation.with_ordinality);
      for (size_t i = 0; i < relation.calls.size(); ++i) {
        flag(relation.returns_set[i]);
        child(relation.calls[i]);
      }
      break;
    case RangeKind::values:
      for (ExpressionList row : relation.rows) {
        begin("row");
        list(row);
        end();
      }
      break;
    default: {
      number(relation.cte_levels_up);
      const BoundQuery& owner =
          *open_[open_.size() - 1 - static_cast<size_t>(relation.cte_levels_up)];
      number(std::ranges::find(owner.ctes, relation.cte) - owner.ctes.begin());
    }
  }
  end();
}

void TreeWriter::shape(const FromItem& item) {
  require_stack();
  if (item.relation >= 0) return number(item.relation);
  begin("join");
  word(item.join_type, stored::Words(stored::join_types));
  shape(*item.left);
  shape(*item.right);
  child(item.condition);
  name(item.alias);
  name(item.using_alias);
  number(item.using_columns);
  // But for the merged ones they only tell names: a column that nobody reads may go.
  int32_t merged = item.using_columns;
  for (const JoinOutput& output : item.outputs) {
    rests_on_columns_ = merged-- > 0;
    name(output.name);
    child(output.value);
  }
  rests_on_columns_ = true;
  end();
}

void TreeWriter::set_operation(const BoundQuery& query) {
  begin("set");
  if (query.set_operation != QuerySetOperation::none) {
    word(query.set_operation, stored::Words(stored::set_operations));
    flag(query.set_all);
    this->query(*query.left);
    this->query(*query.right);
    begin("left");
    list(query.left_columns);
    end();
    begin("right");
    list(query.right_columns);
    end();
  }
  end();
}

void TreeWriter::targets(const BoundQuery& query) {
  begin("targets");
  number(query.visible_targets);
  for (const BoundTarget& target : query.targets) {
    name(target.name);
    flag(target.is_junk);
    child(target.expression);
  }
  end();
}

// They are targets, and stay the very same.
void TreeWriter::group_keys(const BoundQuery& query) {
  begin("group");
  for (const BoundExpression* key : query.group_by) {
    auto target = std::ranges::find(query.targets, key, &BoundTarget::expression);
    PGSILO_REQUIRE(target != query.targets.end());
    number(target - query.targets.begin());
  }
  end();
}

void TreeWriter::order(const BoundQuery& query) {
  begin("distinct_on");
  for (int32_t target : query.distinct_on) number(target);
  end();
  begin("order");
  for (const QuerySortKey& key : query.order_by) {
    number(key.target);
    flag(key.descending);
    flag(key.nulls_first);
  }
  end();
}

void TreeWriter::row_marks(const BoundQuery& query) {
  begin("locks");
  for (const BoundRowMark& mark : query.row_marks) {
    number(mark.relation);
    word(mark.strength, stored::Words(stored::lock_strengths));
    word(mark.wait, stored::Words(stored::lock_waits));
  }
  end();
}

StoredQuery TreeWriter::finish_query() {
  return StoredQuery::make(std::move(text_), std::move(relations_), std::move(uses_.types));
}

StoredQuery store_query(const CatalogView& catalog, const BoundQuery& query) {
  TreeWriter writer(catalog);
  writer.query(query);
  return writer.finish_query();
}

}  // namespace pgsilo
