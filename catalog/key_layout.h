// Which bytes a row is found under in a tree. A primary tree's key is the primary key's columns, or
// a hidden row id for a table without one. A secondary entry's key is the index's columns, followed
// by the primary key where they alone do not tell entries apart: in every non-unique index, and in
// a unique one when a column is null (nulls are distinct). Its payload is the primary key, but for
// indexes whose every entry ends with one of known length: there the payload is empty. Column
// encodings: sql/types/key_codec.h.
//
// Thread safety: immutable after construction.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "catalog/row_layout.h"
#include "sql/types/key_codec.h"

namespace pgsilo {

class ByteBuffer;

// A hidden row id is eight bytes, big-endian.
inline constexpr size_t hidden_row_id_bytes = 8;

class KeyLayout {
 public:
  // For tables without a primary key: no columns, rows are named by a hidden id.
  KeyLayout() = default;
  // In place of a column's number: the value is computed (IndexEvaluator).
  static constexpr uint16_t no_column = 0xffff;

  // `may_hold_nulls`: a column of the table that the key uses is not NOT NULL; apart from
  // KeyColumn::nullable, which is part of the encoding and so never changes. `columns[i]` is
  // encoded from column `column_numbers[i]` (0-based) of the row.
  KeyLayout(std::vector<KeyColumn> columns, std::vector<uint16_t> column_numbers, bool unique,
            bool nulls_distinct = true, bool may_hold_nulls = true);

  bool is_hidden_row_id() const { return columns_.empty(); }
  std::span<const KeyColumn> columns() const { return columns_; }
  std::span<const uint16_t> column_numbers() const { return column_numbers_; }
  bool unique() const { return unique_; }
  bool nulls_distinct() const { return nulls_distinct_; }
  bool may_hold_nulls() const { return may_hold_nulls_; }

  // Appends the columns' part of the key for an encoded row. Returns true when a column was null.
  // Throws SqlError 54000 when the key is longer than storage can hold.
  bool encode_columns(const RowLayout& layout, std::string_view row, ByteBuffer& out) const;
  // The same from all values of a row (values[i] is table column i).
  bool encode_columns(std::span<const Datum> row_values, ByteBuffer& out) const;

  // Primary trees: the key of a row. Precondition: !is_hidden_row_id().
  void encode_primary(const RowLayout& layout, std::string_view row, ByteBuffer& out) const {
    encode_columns(layout, row, out);
  }

  // Secondary trees: the whole key of a row's entry; `primary_key` is the row's key in the primary
  // tree.
  void encode_entry(const RowLayout& layout, std::string_view row, std::string_view primary_key,
                    ByteBuffer& out) const {
    if (appends_primary_key(encode_columns(layout, row, out))) append(primary_key, out);
  }
  void encode_entry(std::span<const Datum> row_values, std::string_view primary_key,
                    ByteBuffer& out) const {
    if (appends_primary_key(encode_columns(row_values, out))) append(primary_key, out);
  }

  // The same from the values of the key's own columns, in order.
  bool encode_values(std::span<const Datum> key_values, ByteBuffer& out) const;
  void encode_entry_of_values(std::span<const Datum> key_values, std::string_view primary_key,
                              ByteBuffer& out) const {
    if (appends_primary_key(encode_values(key_values, out))) append(primary_key, out);
  }

  // What an entry holds beside its key, which is the row's; and the primary key that an entry
  // leads to.
  std::string_view payload_of(std::string_view primary_key) const {
    return suffix_bytes_ != 0 ? std::string_view() : primary_key;
  }
  std::string_view primary_key_of(std::string_view entry, std::string_view payload) const {
    return suffix_bytes_ != 0 ? entry.substr(entry.size() - suffix_bytes_) : payload;
  }
  // How long the primary key at the end of each entry is; 0: it is the payload.
  size_t suffix_bytes() const { return suffix_bytes_; }
  void set_suffix_bytes(size_t bytes) { suffix_bytes_ = bytes; }

  // How long each key in the primary tree is; 0: they differ.
  size_t primary_key_bytes() const;

  // Whether an entry with or without a null among its columns carries the primary key behind them.
  bool appends_primary_key(bool has_null) const {
    return !unique_ || (has_null && nulls_distinct_);
  }
  // Whether every entry's columns alone are its key, because no column can be null (or nulls are
  // equal).
  bool columns_are_key() const { return unique_ && (!nulls_distinct_ || !may_hold_nulls_); }

  // The key (or, with fewer values than columns, the key's prefix) for values of the key's own
  // columns in order.
  void encode_prefix(std::span<const Datum> key_values, ByteBuffer& out) const {
    encode_key(columns_, key_values, out);
  }

 private:
  static void append(std::string_view bytes, ByteBuffer& out);
  static void check_length(size_t bytes);

  std::vector<KeyColumn> columns_;
  std::vector<uint16_t> column_numbers_;
  size_t suffix_bytes_ = 0;
  bool unique_ = true;
  bool nulls_distinct_ = true;
  bool may_hold_nulls_ = false;
};

}  // namespace pgsilo
