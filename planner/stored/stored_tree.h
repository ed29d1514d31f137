// Bound expressions as the catalog keeps them: `(call 23 -1 177 551 infix_operator f (...))`, every
// object by its OID, columns by their numbers (docs/stored_expressions.md). A storage format.
// Thread safety: pure functions of what they are given.
#pragma once

#include <cstdint>
#include <string_view>

#include "catalog/stored_expression.h"
#include "catalog/stored_query.h"
#include "planner/bound/expression.h"
#include "planner/bound/function_ref.h"
#include "planner/bound/query.h"

namespace pgsilo {

class CatalogView;
struct StatementBinding;

// What the reader puts in place of column `number` of the table (pg_attribute.attnum).
using ColumnMaker = FunctionRef<const BoundExpression*(int16_t number, Oid type, int32_t typmod)>;

// Precondition: constants, calls and the like over columns of one table, which are slots or columns
// of relation 0; no subqueries, no parameters. The catalog says which constants are sequences.
StoredExpression store_expression(const CatalogView& catalog, const BoundExpression& expression);

// Nodes without locations, in the statement's arena; the statement rests on the types used. XX001
// if the tree is damaged, 42883 and 42704 if something it names is not there.
const BoundExpression* read_expression(StatementBinding& binding, const StoredExpression& stored,
                                       ColumnMaker column);

// XX001 unless a table of so many columns has one of that number.
void require_column(int16_t number, size_t columns);

// A query as it was bound; no parameters.
StoredQuery store_query(const CatalogView& catalog, const BoundQuery& query);
// As read_expression(); the statement rests on the relations as well.
const BoundQuery* read_query(StatementBinding& binding, std::string_view stored);

// The same of an expression without columns.
const BoundExpression* read_constant_expression(StatementBinding& binding,
                                                const StoredExpression& stored);

}  // namespace pgsilo
