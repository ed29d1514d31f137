// A view in FROM: its definition, bound as the subquery it stands for.
#include "catalog/builtin/system_views.h"
#include "catalog/descriptors.h"
#include "planner/binder/query_binder.h"
#include "planner/unsupported_features.h"
#include "sql/parser/parser.h"

namespace pgsilo {

const BoundQuery* bind_view_query(StatementBinding& binding, const TableDescriptor& view,
                                  int32_t location) {
  const SystemView* known = find_system_view(view.oid);
  if (known == nullptr)
    throw_unsupported(UnsupportedFeature::view_query, binding.position(location));
  std::span<const ast::RawStatement> statements = parse(known->definition, binding.arena);
  return bind_query(binding, *ast::as<ast::SelectStmt>(statements.front().statement), nullptr);
}

}  // namespace pgsilo
