// Binding INSERT, UPDATE and DELETE, and the expressions that tables carry: defaults and checks.
// Thread safety: none; see Scope.
#pragma once

#include "planner/binder/scope.h"
#include "sql/ast/query.h"

namespace pgsilo {

struct ColumnDescriptor;
struct ModificationTarget;

BoundModification* bind_insert(StatementBinding& binding, const ast::InsertStmt& statement);
// Of an INSERT with ON CONFLICT, inside the scope of its WITH. Throws 42P10, 42704 and what
// expressions throw.
const BoundConflict* bind_conflict(Scope& with, const ast::InsertStmt& statement,
                                   const ModificationTarget& target);
BoundModification* bind_update(StatementBinding& binding, const ast::UpdateStmt& statement);
BoundModification* bind_delete(StatementBinding& binding, const ast::DeleteStmt& statement);

// The value as the column's type. Throws 42804 `column "a" is of type integer but expression is of
// type text`.
const BoundExpression* coerce_to_column(StatementBinding& binding, const BoundExpression* value,
                                        const ColumnDescriptor& column, int32_t location);
// The next value of a sequence as a column of that type gets it.
const BoundExpression* make_next_value(StatementBinding& binding, Oid sequence, Oid type);
// NULL, if its type is a domain made one of it.
const BoundExpression* null_of_column(StatementBinding& binding, const ColumnDescriptor& column);
// The default of the domain that its type is; else NULL.
const BoundExpression* bind_type_default(StatementBinding& binding, const ColumnDescriptor& column);
// The column's own; without one bind_type_default().
const BoundExpression* bind_column_default(StatementBinding& binding,
                                           const ColumnDescriptor& column);
// What the table's generated columns are, over the table as relation 0, which is the new row.
std::span<const BoundAssignment> bind_generated(StatementBinding& binding,
                                                const TableDescriptor& table);
// Of those that are made of columns that are assigned.
std::span<const BoundAssignment> bind_generated(StatementBinding& binding,
                                                const TableDescriptor& table,
                                                std::span<const BoundAssignment> assignments);
// The table's CHECK constraints, over the table as relation 0, and a view's WITH CHECK OPTION.
std::span<const CheckConstraint> bind_checks(StatementBinding& binding,
                                             const ModificationTarget& target);

// One SQL expression from a text of the catalog's.
const ast::Node* parse_expression(StatementBinding& binding, std::string_view text);

// While such a text is bound: its locations mean nothing in the statement's, and who defined it was
// warned of it then.
class KeptText {
 public:
  explicit KeptText(StatementBinding& binding)
      : binding_(binding), text_(binding.text), warnings_(binding.warnings.size()) {
    binding.text = {};
  }
  ~KeptText() {
    binding_.text = text_;
    binding_.warnings.erase(binding_.warnings.begin() + static_cast<ptrdiff_t>(warnings_),
                            binding_.warnings.end());
  }
  KeptText(const KeptText&) = delete;
  KeptText& operator=(const KeptText&) = delete;

 private:
  StatementBinding& binding_;
  std::string_view text_;
  size_t warnings_;
};

}  // namespace pgsilo
