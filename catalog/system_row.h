// One row of a system table being put together, column by column; columns not set are null.
// Thread safety: none; one owner.
#pragma once

#include <string_view>
#include <vector>

#include "base/arena.h"
#include "base/check.h"
#include "catalog/system_tables.h"
#include "sql/types/datum.h"

namespace pgsilo {

class SystemRow {
 public:
  explicit SystemRow(const SystemTable& table)
      : table_(&table), values_(table.info().columns.size()) {}

  const SystemTable& table() const { return *table_; }
  std::span<const Datum> values() const { return values_; }

  // All columns from an encoded row, which must outlive this. System tables have no char(n).
  void assign(std::string_view row) {
    RowLayout::Row columns(table_->layout(), row);
    for (size_t i = 0; i < values_.size(); ++i) values_[i] = columns.get_unpadded(i);
  }
  // By-reference values must outlive the row.
  SystemRow& set(SystemColumn column, Datum value) {
    values_[position(column)] = value;
    return *this;
  }
  SystemRow& set(SystemColumn column, std::string_view text) {
    return set(column, Datum::of_bytes(text));
  }
  SystemRow& set_int(SystemColumn column, int64_t value) {
    return set(column, Datum::of_int(value));
  }
  SystemRow& set_bool(SystemColumn column, bool value) {
    return set(column, Datum::of_bool(value));
  }
  SystemRow& set_char(SystemColumn column, char value) {
    return set(column, Datum::of_int(static_cast<unsigned char>(value)));
  }
  SystemRow& set_float(SystemColumn column, double value) {
    return set(column, Datum::of_float(value));
  }

  // Whether every NOT NULL column has a value.
  bool is_complete() const {
    for (size_t i = 0; i < values_.size(); ++i) {
      if (values_[i].null && table_->info().columns[i].not_null) return false;
    }
    return true;
  }

 private:
  size_t position(SystemColumn column) const {
    size_t at = static_cast<size_t>(column) - table_->info().first_column;
    PGSILO_DCHECK(at < values_.size());
    return at;
  }

  const SystemTable* table_;
  std::vector<Datum> values_;
};

}  // namespace pgsilo
