#include "catalog/descriptors.h"

#include "sql/sql_error.h"

namespace pgsilo {

const ColumnDescriptor* TableDescriptor::find_column(std::string_view column_name) const {
  for (const ColumnDescriptor& column : columns) {
    if (!column.dropped && column.name == column_name) return &column;
  }
  return nullptr;
}

const IndexDescriptor* TableDescriptor::find_index(Oid index_oid) const {
  for (const auto& index : indexes) {
    if (index->oid == index_oid) return index.get();
  }
  return nullptr;
}

const ConstraintDescriptor* TableDescriptor::find_constraint(
    std::string_view constraint_name) const {
  for (const ConstraintDescriptor& constraint : constraints) {
    if (constraint.name == constraint_name) return &constraint;
  }
  return nullptr;
}

const ConstraintDescriptor* TableDescriptor::find_constraint(Oid constraint_oid) const {
  for (const ConstraintDescriptor& constraint : constraints) {
    if (constraint.oid == constraint_oid) return &constraint;
  }
  return nullptr;
}

const IndexExpression* IndexDescriptor::expression_of(size_t position) const {
  if (columns[position].number != 0) return nullptr;
  auto before = std::count_if(columns.begin(), columns.begin() + static_cast<ptrdiff_t>(position),
                              [](const IndexColumn& column) { return column.number == 0; });
  return &expressions[static_cast<size_t>(before)];
}

bool IndexDescriptor::reads(int16_t number) const {
  return std::ranges::find(columns, number, &IndexColumn::number) != columns.end() ||
         std::ranges::find(read_columns, number) != read_columns.end();
}

ExpressionUses IndexDescriptor::uses() const {
  ExpressionUses all = predicate.uses;
  for (const IndexExpression& expression : expressions) all.add(expression.value.uses);
  return all;
}

bool TableDescriptor::has_foreign_keys() const {
  return std::any_of(
      constraints.begin(), constraints.end(),
      [](const ConstraintDescriptor& constraint) { return constraint.foreign_key.has_value(); });
}

}  // namespace pgsilo
