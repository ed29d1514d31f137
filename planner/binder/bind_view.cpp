// A view in FROM: its definition, bound as the subquery it stands for.
#include <algorithm>

#include "catalog/builtin/system_views.h"
#include "catalog/descriptors.h"
#include "planner/binder/query_binder.h"
#include "planner/stored/stored_tree.h"
#include "sql/internal_error.h"
#include "sql/parser/parser.h"

namespace pgsilo {

namespace {

// CREATE OR REPLACE lets a view read itself.
class OpenView {
 public:
  OpenView(StatementBinding& binding, const TableDescriptor& view) : open_(binding.open_views) {
    if (std::ranges::find(open_, view.oid) != open_.end()) {
      throw SqlError(
          sqlstate::invalid_object_definition,
          concat("infinite recursion detected in rules for relation \"", view.name, "\""));
    }
    open_.push_back(view.oid);
  }
  ~OpenView() { open_.pop_back(); }
  OpenView(const OpenView&) = delete;
  OpenView& operator=(const OpenView&) = delete;

 private:
  std::vector<Oid>& open_;
};

// XX001 unless the query gives what the view shows.
void require_columns(const TableDescriptor& view, const BoundQuery& query) {
  bool fits = static_cast<size_t>(query.visible_targets) == view.columns.size();
  for (size_t i = 0; fits && i < view.columns.size(); ++i)
    fits = query.targets[i].expression->type == view.columns[i].type;
  if (!fits) throw damaged_expression();
}

}  // namespace

const BoundQuery* bind_view_query(StatementBinding& binding, const TableDescriptor& view) {
  DepthGuard depth(binding);
  if (const SystemView* known = find_system_view(view.oid)) {
    std::span<const ast::RawStatement> statements = parse(known->definition, binding.arena);
    return bind_query(binding, *ast::as<ast::SelectStmt>(statements.front().statement), nullptr);
  }
  PGSILO_REQUIRE(view.view != nullptr);
  OpenView open(binding, view);
  const BoundQuery* query = read_query(binding, view.view->query);
  require_columns(view, *query);
  return query;
}

}  // namespace pgsilo
