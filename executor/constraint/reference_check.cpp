#include "executor/constraint/reference_check.h"

#include <algorithm>
#include <limits>

#include "catalog/builtin/builtin.h"
#include "catalog/catalog_view.h"
#include "catalog/reference_types.h"
#include "executor/constraint/key_text.h"
#include "executor/execution_context.h"
#include "executor/expression/standalone_expression.h"
#include "executor/transaction_status.h"
#include "planner/bound/make_expression.h"
#include "sql/internal_error.h"
#include "sql/types/type.h"
#include "storage/relation/relation.h"

namespace pgsilo {

namespace {

size_t place_of(int16_t number) { return static_cast<size_t>(number) - 1; }

// The cast of a value given in slot 0.
std::unique_ptr<StandaloneExpression> make_cast(Arena& arena, ExecutionContext& context,
                                                Oid procedure, Oid from, Oid to) {
  auto* value = make_expression<SlotExpression>(arena, from);
  const BoundExpression* arguments[] = {value};
  const BoundExpression* call =
      make_call(arena, *find_procedure(procedure), to, arena.copy_span(arguments), -1);
  return std::make_unique<StandaloneExpression>(*call, 1, context.types, &context);
}

bool fits(Oid integer_type, int64_t value) {
  if (integer_type == type_oid::int2) return value == static_cast<int16_t>(value);
  if (integer_type == type_oid::int4) return value == static_cast<int32_t>(value);
  return true;
}

const TableDescriptor& referenced_table(ExecutionContext& context,
                                        const ConstraintDescriptor& constraint) {
  const TableDescriptor* found =
      context.catalog->find_table(constraint.foreign_key->referenced_table);
  PGSILO_REQUIRE(found != nullptr);  // it cannot be dropped before the constraint
  return *found;
}

}  // namespace

ReferenceCheck::ReferenceCheck(ExecutionContext& context, const TableDescriptor& table,
                               const ConstraintDescriptor& constraint)
    : context_(context),
      table_(table),
      constraint_(constraint),
      referenced_(referenced_table(context, constraint)),
      index_(*referenced_.find_index(constraint.index)),
      referenced_row_(referenced_.columns.size()),
      buffer_(buffer_memory_) {
  const std::vector<int16_t>& referenced_columns = constraint.foreign_key->referenced_columns;
  for (size_t i = 0; i < constraint.columns.size(); ++i) {
    Column column;
    column.from = place_of(constraint.columns[i]);
    column.to = place_of(referenced_columns[i]);
    Oid from = base_type_of(table.columns[column.from].type);
    Oid to = base_type_of(referenced_.columns[column.to].type);
    ReferenceTypes types = reference_types(from, to);
    column.to_type = to;
    column.is_integer = types.conversion == ReferenceConversion::integer;
    if (types.conversion == ReferenceConversion::cast)
      column.cast = make_cast(expressions_, context, types.procedure, from, to);
    columns_.push_back(std::move(column));
  }
}

ReferenceCheck::~ReferenceCheck() = default;

Transaction& ReferenceCheck::transaction() const { return *context_.transaction; }

bool ReferenceCheck::encode(std::span<const Datum> row, ByteBuffer& key) {
  if (cast_memory_.bytes_reserved() != 0) cast_memory_.reset();
  for (const Column& column : columns_) {
    Datum value = row[column.from];
    if (column.is_integer && !fits(column.to_type, value.i64)) return false;
    if (column.cast != nullptr) value = column.cast->evaluate({&value, 1}, cast_memory_);
    referenced_row_[column.to] = value;
  }
  key.clear();
  index_.key.encode_columns(referenced_row_, key);
  return true;
}

bool ReferenceCheck::has_null(std::span<const Datum> row) const {
  return std::any_of(columns_.begin(), columns_.end(),
                     [&](const Column& column) { return row[column.from].null; });
}

bool ReferenceCheck::is_needed(std::span<const Datum> row) const {
  if (!has_null(row)) return true;
  return constraint_.foreign_key->match != ReferentialMatch::simple &&
         !std::all_of(columns_.begin(), columns_.end(),
                      [&](const Column& column) { return row[column.from].null; });
}

// 23503 if only some columns of a MATCH FULL key are null.
bool ReferenceCheck::refers_to_nothing(std::span<const Datum> row) const {
  if (!is_needed(row)) return true;
  if (!has_null(row)) return false;
  throw violation("MATCH FULL does not allow mixing of null and nonnull key values.");
}

bool ReferenceCheck::holds(std::span<const Datum> row) {
  if (refers_to_nothing(row)) return true;
  if (!encode(row, key_)) return false;
  if (is_known(key_.view())) return true;
  if (!find(key_.view())) return false;
  known_.clear();
  known_.append(key_.view());
  known_transaction_ = transaction().number();
  known_command_ = transaction().command();
  return true;
}

bool ReferenceCheck::seems_to_hold(std::span<const Datum> row) {
  if (refers_to_nothing(row)) return true;
  if (!encode(row, key_)) return false;
  Relation& tree = index_.is_primary_tree() ? *referenced_.relation : *index_.relation;
  RowRef found;
  TransactionStatus status =
      transaction().get(tree, key_.view(), buffer_, &found, ReadPurpose::peek);
  if (status != TransactionStatus::not_found) require_ok_status(status);
  return status == TransactionStatus::ok;
}

bool ReferenceCheck::is_there(std::span<const Datum> values) {
  for (size_t i = 0; i < columns_.size(); ++i) referenced_row_[columns_[i].to] = values[i];
  key_.clear();
  index_.key.encode_columns(referenced_row_, key_);
  return find(key_.view());
}

bool ReferenceCheck::is_known(std::string_view key) const {
  return known_transaction_ == transaction().number() &&
         known_command_ == transaction().command() && known_.view() == key;
}

bool ReferenceCheck::find(std::string_view key) {
  if (!index_.is_primary_tree()) return find_by_entry(key);
  RowRef found;
  TransactionStatus status = transaction().get(*referenced_.relation, key, buffer_, &found,
                                               ReadPurpose::referenced, {LockMode::key_share});
  if (status == TransactionStatus::not_found) return false;
  require_ok_status(status);
  return true;
}

// The row before the entry that leads to it, as all lock them who change both; then the entry once
// more.
bool ReferenceCheck::find_by_entry(std::string_view key) {
  constexpr RowLock lock = {LockMode::key_share};
  Relation& entries = *index_.relation;
  auto get = [&](Relation& relation, std::string_view at, ReadPurpose purpose, RowRef* found) {
    TransactionStatus status = transaction().get(relation, at, buffer_, found, purpose, lock);
    if (status != TransactionStatus::not_found) require_ok_status(status);
    return status == TransactionStatus::ok;
  };
  for (;; context_.maybe_yield()) {
    RowRef entry;
    RowRef row;
    if (!get(entries, key, ReadPurpose::peek, &entry)) {
      if (!get(entries, key, ReadPurpose::referenced, &entry)) return false;
      continue;  // somebody has just made it
    }
    primary_key_.clear();
    primary_key_.append(entry.row);
    if (get(*referenced_.relation, primary_key_.view(), ReadPurpose::referenced, &row) &&
        get(entries, key, ReadPurpose::peek, &entry) && entry.row == primary_key_.view() &&
        get(entries, key, ReadPurpose::referenced, &entry)) {
      return true;
    }
    // It leads to another row by now; or what was read does not fit together.
    require_ok_status(transaction().validate());
  }
}

bool ReferenceCheck::same(std::span<const Datum> left, std::span<const Datum> right) {
  if (has_null(left) || has_null(right)) return false;
  bool left_fits = encode(left, other_key_);
  bool right_fits = encode(right, key_);
  return left_fits && right_fits && key_.view() == other_key_.view();
}

SqlError ReferenceCheck::violation(std::string detail) const {
  return SqlError(sqlstate::foreign_key_violation,
                  concat("insert or update on table \"", table_.name,
                         "\" violates foreign key constraint \"", constraint_.name, "\""))
      .detail(std::move(detail))
      .table(table_.schema_name, table_.name)
      .constraint(constraint_.name);
}

void ReferenceCheck::raise(std::span<const Datum> row) {
  require_ok_status(transaction().validate());
  throw violation(concat("Key ", key_text(table_, constraint_.columns, row, context_.types),
                         " is not present in table \"", referenced_.name, "\"."));
}

}  // namespace pgsilo
