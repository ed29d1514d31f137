#include "catalog/key_layout.h"

#include <algorithm>

#include "base/byte_buffer.h"
#include "sql/internal_error.h"
#include "sql/sql_error.h"
#include "storage/limits.h"

namespace pgsilo {

KeyLayout::KeyLayout(std::vector<KeyColumn> columns, std::vector<uint16_t> column_numbers,
                     bool unique, bool nulls_distinct, bool may_hold_nulls)
    : columns_(std::move(columns)),
      column_numbers_(std::move(column_numbers)),
      unique_(unique),
      nulls_distinct_(nulls_distinct),
      may_hold_nulls_(may_hold_nulls) {
  PGSILO_REQUIRE(columns_.size() == column_numbers_.size());
}

bool KeyLayout::encode_columns(const RowLayout& layout, std::string_view row,
                               ByteBuffer& out) const {
  size_t before = out.size();
  bool has_null = false;
  RowLayout::Row columns(layout, row);
  for (size_t i = 0; i < columns_.size(); ++i) {
    Datum value = columns.get_unpadded(column_numbers_[i]);
    has_null |= value.null;
    encode_key(columns_[i], value, out);
  }
  check_length(out.size() - before);
  return has_null;
}

bool KeyLayout::encode_columns(std::span<const Datum> row_values, ByteBuffer& out) const {
  size_t before = out.size();
  bool has_null = false;
  for (size_t i = 0; i < columns_.size(); ++i) {
    Datum value = row_values[column_numbers_[i]];
    has_null |= value.null;
    encode_key(columns_[i], value, out);
  }
  check_length(out.size() - before);
  return has_null;
}

bool KeyLayout::encode_values(std::span<const Datum> key_values, ByteBuffer& out) const {
  size_t before = out.size();
  bool has_null = std::ranges::any_of(key_values, [](const Datum& value) { return value.null; });
  encode_key(columns_, key_values, out);
  check_length(out.size() - before);
  return has_null;
}

size_t KeyLayout::primary_key_bytes() const {
  if (is_hidden_row_id()) return hidden_row_id_bytes;
  size_t sum = 0;
  for (const KeyColumn& column : columns_) {
    size_t bytes = encoded_bytes(column);
    if (bytes == 0) return 0;
    sum += bytes;
  }
  return sum;
}

void KeyLayout::append(std::string_view bytes, ByteBuffer& out) {
  out.append(bytes);
  check_length(out.size());
}

void KeyLayout::check_length(size_t bytes) {
  if (bytes <= max_key_bytes) [[likely]]
    return;
  throw SqlError(sqlstate::program_limit_exceeded,
                 concat("index row size ", bytes, " exceeds maximum ", max_key_bytes))
      .hint(
          "Values larger than the maximum cannot be indexed.\nConsider a function index of an MD5 "
          "hash of the "
          "value, or use full text indexing.");
}

}  // namespace pgsilo
