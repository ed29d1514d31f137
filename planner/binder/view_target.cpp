// Views through which rows of a table are changed: those that show one table's rows as they are.
#include <algorithm>
#include <vector>

#include "catalog/descriptors.h"
#include "planner/binder/modification_target.h"
#include "planner/bound/make_expression.h"
#include "planner/bound/query_tree.h"
#include "sql/sql_error.h"

namespace pgsilo {

namespace {

// Over relation 0 of the view's query, over what that is, wherever it stands.
const BoundExpression* over_base(Arena& arena, const BoundExpression* expression,
                                 const ModificationTarget& base) {
  auto column_of_base = [&](const BoundExpression* e, int32_t depth) -> const BoundExpression* {
    const auto* column = try_as<ColumnExpression>(e);
    if (column == nullptr || column->levels_up != depth) return nullptr;
    return raise_levels(arena, base.columns[static_cast<size_t>(column->column)], depth);
  };
  auto same_level = [](const BoundRelation& relation, int32_t) { return relation.cte_levels_up; };
  return map_levels(arena, expression, 0, column_of_base, same_level);
}

enum class CheckOption : uint8_t { none, local, cascaded };

CheckOption check_option_of(const TableDescriptor& view) {
  constexpr std::string_view name = "check_option=";
  for (std::string_view option : view.options) {
    if (!option.starts_with(name)) continue;
    bool is_local = (option[name.size()] | ' ') == 'l';  // a word in any case
    return is_local ? CheckOption::local : CheckOption::cascaded;
  }
  return CheckOption::none;
}

}  // namespace

std::string_view why_not_updatable(const BoundQuery& query) {
  if (query.distinct || !query.distinct_on.empty())
    return "Views containing DISTINCT are not automatically updatable.";
  if (!query.group_by.empty()) return "Views containing GROUP BY are not automatically updatable.";
  if (query.having != nullptr) return "Views containing HAVING are not automatically updatable.";
  if (query.set_operation != QuerySetOperation::none)
    return "Views containing UNION, INTERSECT, or EXCEPT are not automatically updatable.";
  if (!query.ctes.empty()) return "Views containing WITH are not automatically updatable.";
  if (query.limit_count != nullptr || query.limit_offset != nullptr)
    return "Views containing LIMIT or OFFSET are not automatically updatable.";
  if (query.is_grouped)
    return "Views that return aggregate functions are not automatically updatable.";
  if (query.has_set_returning_targets)
    return "Views that return set-returning functions are not automatically updatable.";
  bool has_one = query.from.size() == 1 && query.from[0]->relation == 0;
  const BoundRelation* only = has_one ? query.relations[0] : nullptr;
  if (only == nullptr || (only->table == nullptr && only->view == nullptr) ||
      (only->table != nullptr && only->table->kind != RelationKind::table) ||
      (only->view != nullptr && only->view->is_system()))
    return "Views that do not select from a single table or view are not automatically updatable.";
  return {};
}

ModificationTarget table_target(Arena& arena, const TableDescriptor& table) {
  ModificationTarget target;
  target.table = &table;
  auto columns = arena.make_span<const BoundExpression*>(table.columns.size());
  for (size_t i = 0; i < columns.size(); ++i) {
    const ColumnDescriptor& column = table.columns[i];
    if (!column.dropped)
      columns[i] = make_column(arena, 0, column.number - 1, column.type, column.typmod);
  }
  target.columns = columns;
  return target;
}

namespace {

struct ChangeWords {
  std::string_view command;  // "cannot insert into"
  std::string_view hint;     // behind "To enable "
};

ChangeWords words_of(PlanKind kind) {
  switch (kind) {
    case PlanKind::update:
      return {"update",
              "updating the view, provide an INSTEAD OF UPDATE trigger or an unconditional ON "
              "UPDATE DO INSTEAD rule."};
    case PlanKind::delete_:
      return {"delete from",
              "deleting from the view, provide an INSTEAD OF DELETE trigger or an unconditional "
              "ON DELETE DO INSTEAD rule."};
    default:
      return {"insert into",
              "inserting into the view, provide an INSTEAD OF INSERT trigger or an unconditional "
              "ON INSERT DO INSTEAD rule."};
  }
}

void require_updatable(const TableDescriptor& view, const BoundQuery& query, PlanKind kind) {
  std::string_view reason = why_not_updatable(query);
  auto shows_column = [](const BoundTarget& target) { return is_base_column(target.expression); };
  if (reason.empty() && kind != PlanKind::delete_ &&
      std::ranges::none_of(query.targets, shows_column))
    reason = "Views that have no updatable columns are not automatically updatable.";
  if (reason.empty()) return;
  ChangeWords words = words_of(kind);
  throw SqlError(sqlstate::object_not_in_prerequisite_state,
                 concat("cannot ", words.command, " view \"", view.name, "\""))
      .detail(std::string(reason))
      .hint(concat("To enable ", words.hint));
}

}  // namespace

bool is_base_column(const BoundExpression* expression) {
  const auto* column = try_as<ColumnExpression>(expression);
  return column != nullptr && column->levels_up == 0;
}

ModificationTarget view_target(Arena& arena, const TableDescriptor& view, const BoundQuery& query,
                               PlanKind kind, bool is_checked) {
  require_updatable(view, query, kind);
  CheckOption option = check_option_of(view);
  const BoundRelation& relation = *query.relations[0];
  ModificationTarget target = relation.view != nullptr
                                  ? view_target(arena, *relation.view, *relation.query, kind,
                                                is_checked || option == CheckOption::cascaded)
                                  : table_target(arena, *relation.table);
  const BoundExpression* condition =
      query.where != nullptr ? over_base(arena, query.where, target) : nullptr;
  if (condition != nullptr) {
    CheckConstraint check{view.name, condition, CheckKind::view};
    target.conditions.push_back(check);
    if (is_checked || option != CheckOption::none) target.checks.push_back(check);
  }
  auto columns =
      arena.make_span<const BoundExpression*>(static_cast<size_t>(query.visible_targets));
  for (size_t i = 0; i < columns.size(); ++i)
    columns[i] = over_base(arena, query.targets[i].expression, target);
  target.columns = columns;
  target.view = &view;
  return target;
}

}  // namespace pgsilo
