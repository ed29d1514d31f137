// Queries, and what occurs in them only, out of their text.
#include <ranges>
#include <utility>

#include "base/byte_buffer.h"
#include "base/long_work.h"
#include "catalog/builtin/builtin.h"
#include "catalog/catalog_view.h"
#include "catalog/descriptors.h"
#include "planner/binder/index_expressions.h"
#include "planner/binder/query_binder.h"
#include "planner/bound/query_tree.h"
#include "planner/stored/stored_tree.h"
#include "planner/stored/tree_reader.h"
#include "sql/limits.h"
#include "sql/sql_error.h"

namespace pgsilo {

namespace {

// What a query gives, of the types that its reader expects.
void require_types(const BoundQuery& query, std::span<const BoundColumn> columns) {
  if (columns.size() != static_cast<size_t>(query.visible_targets)) throw damaged_expression();
  for (size_t i = 0; i < columns.size(); ++i) {
    if (query.targets[i].expression->type != columns[i].type) throw damaged_expression();
  }
}

std::vector<Oid> types_of(const BoundQuery& query) {
  std::vector<Oid> types;
  types.reserve(static_cast<size_t>(query.visible_targets));
  for (int32_t i = 0; i < query.visible_targets; ++i)
    types.push_back(query.targets[static_cast<size_t>(i)].expression->type);
  return types;
}

}  // namespace

const BoundQuery* TreeReader::read_query() {
  const BoundQuery* read = query();
  if (!text_.empty()) throw damaged_expression();
  return read;
}

std::string_view TreeReader::name() {
  std::string_view text = item();
  if (!text.starts_with('\'')) throw damaged_expression();
  text.remove_prefix(1);
  did_work(text.size());
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      plain += text[i];
      continue;
    }
    uint8_t byte = 0;
    const char* at = text.data() + i + 1;
    if (text.size() - i < 3) throw damaged_expression();
    auto [end, error] = std::from_chars(at, at + 2, byte, 16);
    if (error != std::errc() || end != at + 2) throw damaged_expression();
    plain += static_cast<char>(byte);
    i += 2;
  }
  return binding_.arena.copy_string(plain);
}

void TreeReader::sort_keys(std::span<const BoundSortKey>& to) {
  begin("keys");
  std::vector<BoundSortKey> keys;
  while (!at_end()) {
    BoundSortKey& key = keys.emplace_back();
    key.expression = needed();
    flag(key.descending);
    flag(key.nulls_first);
  }
  end();
  to = binding_.arena.copy_span(keys);
}

TreeReader::OpenQuery& TreeReader::open(size_t levels_up) {
  if (levels_up >= open_.size()) throw damaged_expression();
  return *open_[open_.size() - 1 - levels_up];
}

const BoundQuery* TreeReader::query() {
  DepthGuard depth(binding_);
  Arena& arena = binding_.arena;
  OpenQuery opened;
  open_.push_back(&opened);
  begin("query");
  auto* query = arena.make<BoundQuery>();
  flag(query->is_grouped);
  flag(query->has_set_returning_targets);
  flag(query->distinct);
  query->ctes = with_queries(*query);
  begin("relations");
  while (!at_end()) opened.relations.push_back(relation());
  end();
  query->relations = arena.copy_span(opened.relations);
  begin("from");
  std::vector<const FromItem*> from;
  while (!at_end()) from.push_back(shape());
  end();
  query->from = arena.copy_span(from);
  set_operation(*query);
  child(query->where);
  targets(*query);
  begin("group");
  std::vector<int32_t> grouped = target_numbers(*query);
  auto keys = arena.make_span<const BoundExpression*>(grouped.size());
  for (size_t i = 0; i < keys.size(); ++i)
    keys[i] = query->targets[static_cast<size_t>(grouped[i])].expression;
  query->group_by = keys;
  child(query->having);
  order(*query);
  child(query->limit_count);
  child(query->limit_offset);
  query->with_ties = take("(with_ties) ");
  row_marks(*query);
  end();
  open_.pop_back();
  if (reads_dropped_) throw damaged_expression();
  return query;
}

std::span<BoundCte* const> TreeReader::with_queries(BoundQuery& query) {
  OpenQuery& opened = *open_.back();
  if (!take("(")) throw damaged_expression();
  query.with_recursive = text_.starts_with("with_recursive");
  if (item() != (query.with_recursive ? "with_recursive" : "with")) throw damaged_expression();
  while (!at_end()) with_query();
  end();
  return binding_.arena.copy_span(opened.ctes);
}

void TreeReader::with_query() {
  if (!take("(")) throw damaged_expression();
  auto* cte = binding_.arena.make<BoundCte>();
  std::string_view kind = item();
  cte->is_recursive = kind == "recursive";
  if (!cte->is_recursive && kind != "cte") throw damaged_expression();
  cte->name = name();
  word(cte->mode, stored::Words(stored::cte_modes));
  number(cte->written_columns);
  cte->columns = columns();
  // It names itself.
  if (cte->is_recursive) open_.back()->ctes.push_back(cte);
  bool volatile_before = std::exchange(binding_.calls_volatile, false);
  size_t work_tables_before = binding_.work_tables.size();
  const BoundQuery* with = query();
  cte->calls_volatile = binding_.calls_volatile;
  binding_.calls_volatile |= volatile_before;
  require_types(*with, cte->columns);
  if (cte->written_columns < 0 || cte->written_columns > with->visible_targets ||
      (cte->is_recursive && with->set_operation != QuerySetOperation::union_))
    throw damaged_expression();
  cte->reads_outer_query = reads_outer(*with);
  cte->query = with;
  binding_.note_work_tables(*cte, work_tables_before);
  end();
  if (!cte->is_recursive) open_.back()->ctes.push_back(cte);
}

std::span<const BoundColumn> TreeReader::columns() {
  begin("columns");
  std::vector<BoundColumn> columns;
  while (!at_end()) {
    BoundColumn& column = columns.emplace_back();
    column.name = name();
    oid(column.type);
    number(column.typmod);
    binding_.use_type(column.type);
  }
  end();
  return binding_.arena.copy_span(columns);
}

const BoundRelation* TreeReader::relation() {
  if (!take("(")) throw damaged_expression();
  std::string_view kind = item();
  auto* relation = binding_.arena.make<BoundRelation>();
  bool is_view = kind == "view";
  auto known = std::ranges::find(stored::range_kinds, is_view ? "subquery" : kind);
  if (known == std::ranges::end(stored::range_kinds)) throw damaged_expression();
  relation->kind = static_cast<RangeKind>(known - std::ranges::begin(stored::range_kinds));
  relation->alias = name();
  flag(relation->alias_is_written);
  number(relation->written_columns);
  if (is_view || relation->kind == RangeKind::table) {
    begin("names");
    std::vector<std::string_view> names;
    while (!at_end()) names.push_back(name());
    end();
    flag(relation->lateral);
    named_relation(*relation, names);
    if (is_view != (relation->view != nullptr)) throw damaged_expression();
  } else {
    relation->columns = columns();
    flag(relation->lateral);
    relation_body(*relation);
  }
  end();
  return relation;
}

// A table or a view, with its columns as they are by now.
void TreeReader::named_relation(BoundRelation& relation, std::span<const std::string_view> names) {
  Oid named = invalid_oid;
  oid(named);
  const TableDescriptor* table = binding_.catalog.find_table(named);
  if (table == nullptr) {
    throw SqlError(sqlstate::undefined_table,
                   concat("relation with OID ", named, " does not exist"));
  }
  std::span<BoundColumn> columns = table_columns(binding_.arena, *table);
  size_t next = 0;
  for (BoundColumn& column : columns) {
    if (column.type != invalid_oid && next < names.size()) column.name = names[next++];
  }
  relation.columns = columns;
  if (table->kind == RelationKind::view) {
    relation.view = table;
    if (!binding_.keeps_views) relation.query = bind_view_query(binding_, *table);
  } else {
    relation.table = table;
    relation.index_keys = bind_index_keys(binding_, *table);
  }
  binding_.use_table(table);
}

void TreeReader::relation_body(BoundRelation& relation) {
  Arena& arena = binding_.arena;
  if (relation.kind == RangeKind::subquery) {
    relation.query = query();
    return require_types(*relation.query, relation.columns);
  }
  bool is_cte = relation.kind == RangeKind::cte || relation.kind == RangeKind::work_table;
  if (is_cte) return cte_reference(relation);
  if (relation.kind == RangeKind::values) {
    std::vector<ExpressionList> rows;
    while (!at_end()) {
      begin("row");
      list(rows.emplace_back());
      end();
      if (rows.back().size() != relation.columns.size()) throw damaged_expression();
    }
    if (rows.empty()) throw damaged_expression();
    relation.rows = arena.copy_span(rows);
    return;
  }
  functions(relation);
}

void TreeReader::functions(BoundRelation& relation) {
  Arena& arena = binding_.arena;
  relation.function_name = name();
  flag(relation.with_ordinality);
  std::vector<const BoundExpression*> calls;
  std::vector<char> returns_set;
  while (!at_end()) {
    returns_set.push_back(flag() ? 1 : 0);
    calls.push_back(returns_set.back() != 0 ? set_call() : needed());
  }
  size_t most_columns = relation.columns.size() - (relation.with_ordinality ? 1 : 0);
  if (calls.empty() || relation.columns.empty() || calls.size() > most_columns)
    throw damaged_expression();
  relation.calls = arena.copy_span(calls);
  std::span<bool> flags = arena.make_span<bool>(calls.size());
  std::ranges::copy(returns_set, flags.begin());
  relation.returns_set = flags;
}

// A call that returns a set, where one may stand.
const BoundExpression* TreeReader::set_call() {
  set_depth_ = depth_ + 1;
  const BoundExpression* call = needed();
  set_depth_ = 0;
  const auto* function = try_as<CallExpression>(call);
  const BuiltinProcedure* procedure =
      function == nullptr ? nullptr : find_procedure(function->procedure);
  if (procedure == nullptr || !procedure->returns_set) throw damaged_expression();
  return call;
}

void TreeReader::cte_reference(BoundRelation& relation) {
  number(relation.cte_levels_up);
  if (relation.cte_levels_up < 0) throw damaged_expression();
  OpenQuery& owner = open(static_cast<size_t>(relation.cte_levels_up));
  relation.cte = owner.ctes[index(owner.ctes.size())];
  auto same_type = [](const BoundColumn& left, const BoundColumn& right) {
    return left.type == right.type;
  };
  if (!std::ranges::equal(relation.columns, relation.cte->columns, same_type))
    throw damaged_expression();
  bool is_itself = relation.kind == RangeKind::work_table;
  if (is_itself != (relation.cte->query == nullptr)) throw damaged_expression();
  if (is_itself) return binding_.work_tables.push_back(relation.cte);
  ++relation.cte->references;
  binding_.read_work_tables(*relation.cte);
}

const FromItem* TreeReader::shape() {
  require_stack();
  auto* item = binding_.arena.make<FromItem>();
  if (!text_.starts_with('(')) {
    item->relation = static_cast<int32_t>(index(open_.back()->relations.size()));
    return item;
  }
  if (++depth_ > 3 * limits::max_nesting_depth) throw damaged_expression();
  begin("join");
  word(item->join_type, stored::Words(stored::join_types));
  item->left = shape();
  item->right = shape();
  child(item->condition);
  item->alias = name();
  item->using_alias = name();
  number(item->using_columns);
  std::vector<JoinOutput> outputs;
  while (!at_end()) {
    JoinOutput& output = outputs.emplace_back();
    output.name = name();
    reads_dropped_ = false;
    output.value = needed();
    if (!reads_dropped_) continue;
    if (static_cast<int32_t>(outputs.size()) <= item->using_columns) throw damaged_expression();
    output.value = nullptr;
  }
  reads_dropped_ = false;
  end();
  --depth_;
  if (item->using_columns < 0 || static_cast<size_t>(item->using_columns) > outputs.size())
    throw damaged_expression();
  item->outputs = binding_.arena.copy_span(outputs);
  return item;
}

void TreeReader::set_operation(BoundQuery& query) {
  begin("set");
  if (!at_end()) {
    OpenQuery& opened = *open_.back();
    word(query.set_operation, stored::Words(stored::set_operations));
    flag(query.set_all);
    query.left = this->query();
    query.right = this->query();
    opened.is_set_operation = true;
    opened.types = types_of(*query.left);
    begin("left");
    list(query.left_columns);
    end();
    opened.types = types_of(*query.right);
    begin("right");
    list(query.right_columns);
    end();
    opened.types.clear();
    opened.types.reserve(query.left_columns.size());
    for (const BoundExpression* column : query.left_columns) opened.types.push_back(column->type);
    auto same_type = [](const BoundExpression* left, const BoundExpression* right) {
      return left->type == right->type;
    };
    if (query.set_operation == QuerySetOperation::none ||
        !std::ranges::equal(query.left_columns, query.right_columns, same_type) ||
        query.left_columns.size() != static_cast<size_t>(query.left->visible_targets) ||
        query.right->visible_targets != query.left->visible_targets)
      throw damaged_expression();
  }
  end();
}

void TreeReader::targets(BoundQuery& query) {
  begin("targets");
  number(query.visible_targets);
  std::vector<BoundTarget> targets;
  while (!at_end()) {
    BoundTarget& target = targets.emplace_back();
    target.name = name();
    flag(target.is_junk);
    target.expression = needed();
  }
  end();
  if (query.visible_targets < 0 || static_cast<size_t>(query.visible_targets) > targets.size())
    throw damaged_expression();
  for (size_t i = 0; i < targets.size(); ++i) {
    bool is_visible = i < static_cast<size_t>(query.visible_targets);
    if (targets[i].is_junk == is_visible) throw damaged_expression();
  }
  query.targets = binding_.arena.copy_span(targets);
}

std::vector<int32_t> TreeReader::target_numbers(const BoundQuery& query) {
  std::vector<int32_t> numbers;
  while (!at_end()) numbers.push_back(static_cast<int32_t>(index(query.targets.size())));
  end();
  return numbers;
}

void TreeReader::order(BoundQuery& query) {
  begin("distinct_on");
  query.distinct_on = binding_.arena.copy_span(target_numbers(query));
  begin("order");
  std::vector<QuerySortKey> keys;
  while (!at_end()) {
    QuerySortKey& key = keys.emplace_back();
    key.target = static_cast<int32_t>(index(query.targets.size()));
    flag(key.descending);
    flag(key.nulls_first);
  }
  end();
  query.order_by = binding_.arena.copy_span(keys);
}

void TreeReader::row_marks(BoundQuery& query) {
  begin("locks");
  std::vector<BoundRowMark> marks;
  while (!at_end()) {
    BoundRowMark& mark = marks.emplace_back();
    mark.relation = static_cast<int32_t>(index(query.relations.size()));
    word(mark.strength, stored::Words(stored::lock_strengths));
    word(mark.wait, stored::Words(stored::lock_waits));
    const BoundRelation& marked = *query.relations[static_cast<size_t>(mark.relation)];
    if (marked.kind != RangeKind::table && marked.kind != RangeKind::subquery)
      throw damaged_expression();
    if (marked.table != nullptr) binding_.use_table(marked.table, TableUse::lock_rows);
    if (binding_.lock_clause.empty()) binding_.lock_clause = ast::lock_clause_name(mark.strength);
    binding_.calls_volatile = true;  // WITH: run once, and kept
  }
  end();
  query.row_marks = binding_.arena.copy_span(marks);
  for (const BoundRowMark& mark : marks) {
    if (query.relations[static_cast<size_t>(mark.relation)]->view != nullptr &&
        !binding_.keeps_views)
      lock_rows_of_view(binding_, query, mark);
  }
}

const BoundExpression* TreeReader::variable(Oid type, int32_t typmod) {
  auto* node = make<ColumnExpression>(type, typmod);
  number(node->relation);
  number(node->column);
  number(node->levels_up);
  if (node->levels_up < 0) throw damaged_expression();
  const OpenQuery& of = open(static_cast<size_t>(node->levels_up));
  auto relation = static_cast<size_t>(node->relation);
  auto column = static_cast<size_t>(node->column);
  if (of.is_set_operation) {
    if (relation != 0 || column >= of.types.size() || of.types[column] != type)
      throw damaged_expression();
    return node;
  }
  if (relation >= of.relations.size() || column >= of.relations[relation]->columns.size())
    throw damaged_expression();
  Oid present = of.relations[relation]->columns[column].type;
  if (present == invalid_oid) {
    reads_dropped_ = true;
  } else if (present != type) {
    throw damaged_expression();
  }
  return node;
}

const BoundExpression* TreeReader::sublink(Oid type, int32_t typmod) {
  if (open_.empty()) throw damaged_expression();
  auto* node = make<SublinkExpression>(type, typmod);
  word(node->sublink_kind, stored::Words(stored::sublink_kinds));
  number(node->column);
  node->query = query();
  if (node->column < 0 || node->column >= node->query->visible_targets) {
    bool reads_none = node->sublink_kind == SublinkKind::exists && node->column == 0;
    if (!reads_none) throw damaged_expression();
  }
  auto count = number<size_t>();
  if (count > static_cast<size_t>(node->query->visible_targets)) throw damaged_expression();
  std::span<int32_t> parameters = binding_.arena.make_span<int32_t>(count);
  for (int32_t& parameter : parameters) parameter = binding_.new_execution_parameter();
  node->row_parameters = parameters;
  rows_.push_back(node->row_parameters);
  child(node->condition);
  rows_.pop_back();
  bool needs_condition =
      node->sublink_kind == SublinkKind::any || node->sublink_kind == SublinkKind::all;
  if (needs_condition != (node->condition != nullptr)) throw damaged_expression();
  return node;
}

const BoundExpression* TreeReader::row_value(Oid type, int32_t typmod) {
  std::span<const int32_t> row = rows_.rbegin()[static_cast<ptrdiff_t>(index(rows_.size()))];
  auto* node = make<ExecutionParameterExpression>(type, typmod);
  node->index = row[index(row.size())];
  return node;
}

const BoundQuery* read_query(StatementBinding& binding, std::string_view stored) {
  auto no_column = [](int16_t, Oid, int32_t) -> const BoundExpression* {
    throw damaged_expression();
  };
  return TreeReader(binding, tree_of_query(stored), no_column).read_query();
}

}  // namespace pgsilo
