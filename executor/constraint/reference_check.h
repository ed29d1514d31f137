// A foreign key from the side that refers: is there a row for what a row refers to?
//
// The row that is referred to must stay until the transaction commits, so it is read as
// ReadPurpose::referenced: an interactive transaction locks it (FOR KEY SHARE), a one-shot puts it
// into its read set (docs/foreign_keys.md). Thread safety: none; one statement. Both descriptors
// outlive the check.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/arena.h"
#include "base/byte_buffer.h"
#include "catalog/descriptors.h"
#include "sql/sql_error.h"
#include "sql/types/datum.h"
#include "storage/record/row_buffer.h"
#include "storage/transaction/transaction.h"

namespace pgsilo {

class StandaloneExpression;
struct ExecutionContext;

class ReferenceCheck {
 public:
  ReferenceCheck(ExecutionContext& context, const TableDescriptor& table,
                 const ConstraintDescriptor& constraint);
  ~ReferenceCheck();
  ReferenceCheck(const ReferenceCheck&) = delete;
  ReferenceCheck& operator=(const ReferenceCheck&) = delete;

  const ConstraintDescriptor& constraint() const { return constraint_; }
  const TableDescriptor& referenced() const { return referenced_; }
  bool is_self_reference() const { return &referenced_ == &table_; }

  // Whether the row, all columns of the referring table, leaves anything to look at: not if a null
  // lets it refer to nothing. MATCH FULL with some nulls is to be refused.
  bool is_needed(std::span<const Datum> row) const;
  // Whether the row refers to nothing or to a row that is there, the running statement's own writes
  // included. 23503 for MATCH FULL with some nulls.
  bool holds(std::span<const Datum> row);
  // As holds(), but nothing is locked or registered: true at some moment.
  bool seems_to_hold(std::span<const Datum> row);
  // Is there a row with these values in the referenced columns?
  bool is_there(std::span<const Datum> values);
  // Do both refer to the same row? No, if either has a null.
  bool same(std::span<const Datum> left, std::span<const Datum> right);
  // 23503: what the row refers to is not there. First makes sure that this is true.
  [[noreturn]] void raise(std::span<const Datum> row);

 private:
  struct Column {
    size_t from = 0;  // 0-based, of the referring table
    size_t to = 0;    // 0-based, of the referenced one
    Oid to_type = 0;  // of that column
    bool is_integer = false;
    std::unique_ptr<StandaloneExpression> cast;  // null: taken as it is
  };
  Transaction& transaction() const;
  bool has_null(std::span<const Datum> row) const;
  bool refers_to_nothing(std::span<const Datum> row) const;
  SqlError violation(std::string detail) const;
  // False: no row of the referenced table can have that key.
  bool encode(std::span<const Datum> row, ByteBuffer& key);
  bool find(std::string_view key);
  bool find_by_entry(std::string_view key);
  bool is_known(std::string_view key) const;

  ExecutionContext& context_;
  const TableDescriptor& table_;
  const ConstraintDescriptor& constraint_;
  const TableDescriptor& referenced_;
  const IndexDescriptor& index_;
  Arena expressions_;  // the casts'
  std::vector<Column> columns_;
  std::vector<Datum> referenced_row_;  // the key's columns of the row that there must be
  ByteBuffer key_;
  ByteBuffer other_key_;
  ByteBuffer primary_key_;
  // The key that this command found last: rows that come together often refer to the same.
  ByteBuffer known_;
  uint64_t known_transaction_ = 0;
  CommandId known_command_ = 0;
  Arena cast_memory_;
  Arena buffer_memory_;
  RowBuffer buffer_;
};

}  // namespace pgsilo
