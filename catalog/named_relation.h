// Relations by the names that statements give, and what is said of one that there is none of: that
// its schema is missing comes first, except in queries (planner/binder/query_binder.h).
#pragma once

#include <string_view>

#include "catalog/catalog_view.h"
#include "sql/ast/query.h"
#include "sql/sql_error.h"

namespace pgsilo {

struct NamedRelation {
  const TableDescriptor* table = nullptr;  // or a view or a sequence
  const IndexDescriptor* index = nullptr;

  bool exists() const { return table != nullptr || index != nullptr; }
};

// Empty where none is written. Throws 0A000 of a name that begins with another database than ours.
std::string_view schema_of(const ast::RangeVar& name, std::string_view database);

// As schema_of().
NamedRelation find_relation(const CatalogView& catalog, std::string_view database,
                            const ast::RangeVar& name);
// As find_relation(); throws 3F000 `schema "s" does not exist`, 42P01 `relation "s.t" does not
// exist`.
NamedRelation require_relation(const CatalogView& catalog, std::string_view database,
                               const ast::RangeVar& name);
// As require_relation(); throws 42809 `"i" is an index`.
const TableDescriptor& require_table(const CatalogView& catalog, std::string_view database,
                                     const ast::RangeVar& name);

// 0A000: the table is another session's temporary one.
void require_own_rows(const CatalogView& catalog, const TableDescriptor& table);

SqlError undefined_relation(const ast::RangeVar& name);
SqlError undefined_schema(std::string_view name);

}  // namespace pgsilo
