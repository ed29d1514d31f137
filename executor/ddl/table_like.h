// What LIKE in CREATE TABLE takes over from another table or view. Thread safety: none; one
// definition.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "executor/ddl/table_definition.h"

namespace pgsilo {

class TableLikeness {
 public:
  // Throws 42P01, 42809.
  TableLikeness(DdlRun& run, const ast::TableLike& clause);

  // Its columns, behind those that `table` has by now.
  void add_columns(TableDefinition* table);
  // Its generation expressions, CHECKs and keys; `shape` has all of the new table's columns.
  void add_expressions(const TableShape& shape, TableDefinition* table);
  // Its other indexes, and what is set and said about the parts of a table that is there.
  void complete(Oid table);

 private:
  enum Part : uint32_t;
  bool takes(Part part) const { return (parts_ & part) != 0; }
  ColumnDefinition column_like(const ColumnDescriptor& column) const;
  size_t place_of(const TableShape& shape, int16_t number) const;
  void add_generations(const TableShape& shape, TableDefinition* table);
  StoredExpression expression_over(const TableShape& shape, const StoredExpression& expression);
  IndexDefinition index_like(const IndexDescriptor& index, const TableShape& shape);
  void copy_indexes(Oid table);
  void copy_statistics(Oid table);
  void copy_column_settings(Oid table);
  void copy_comments_of_columns(Oid table);
  void copy_comments_of_checks(Oid table);
  void copy_comment(const CommentAddress& from, const CommentAddress& to);

  DdlRun& run_;
  std::shared_ptr<const CatalogSnapshot> owner_;
  const TableDescriptor& source_;
  uint32_t parts_;  // of PostgreSQL's INCLUDING
};

}  // namespace pgsilo
