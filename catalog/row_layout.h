// How a table's rows lie in a record's payload.
//
//   uint16   number of columns stored (dropped ones count; fewer than the table has if columns were
//            added since)
//   bytes    null bitmap, one bit per stored column, set = null
//   bytes    fixed part: a slot for each column of fixed width, null or not, in column order
//   uint32s  for each column of variable width but the last: the end of its bytes, counted from the
//            start of the variable part; the last one ends with the row
//   bytes    variable part
//
// A char(n) lies there without the blanks that fill it up: they say nothing, and rows, log and
// caches are smaller without them.
//
// Everything is little-endian as the machine has it, nothing is aligned. Where a column lies
// depends only on the number of columns stored, so reading one column costs no walk over the
// others, and ADD COLUMN rewrites nothing: a row with fewer columns reads the missing ones as their
// recorded missing value (a constant default at the time of ADD COLUMN) or null. Dropped columns
// are stored as null by rows written after the drop.
//
// Thread safety: immutable after construction. Invariant: a row encoded under a layout stays
// readable under every later layout of the same tree (columns are only appended, types of stored
// columns never change without a rewrite, which makes a new tree). So of the layouts that the rows
// of one tree have been written under the number of columns tells which is the later one.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "sql/types/datum.h"
#include "sql/types/stored_form.h"
#include "sql/types/type.h"
#include "storage/record/row_range.h"

namespace pgsilo {

class Arena;
class ByteBuffer;

// What one column contributes to the layout.
struct RowColumn {
  const TypeInfo* type = nullptr;  // of a dropped column: null, and `width` says what it was
  uint8_t width = 0;               // stored bytes of a fixed column; 0: variable
  bool dropped = false;
  int32_t padded_length = 0;  // characters that a char(n) is filled up to; 0: of other types
  // What rows that are too short for this column hold; points at memory that outlives the layout.
  Datum missing;
};

class RowLayout {
 public:
  RowLayout() = default;
  explicit RowLayout(std::vector<RowColumn> columns);

  size_t column_count() const { return columns_.size(); }
  const RowColumn& column(size_t index) const { return columns_[index]; }

  // Appends the encoded row. values.size() == column_count(); values of dropped columns are ignored
  // and stored as null. Throws SqlError 54000 when the row would pass 1 GiB.
  void encode(std::span<const Datum> values, ByteBuffer& out) const;

  // An encoded row, of which columns are to be read; both outlive it. Throws SqlError XX001 if the
  // row was written under a later layout: nothing of it would be where this one says. Who reads
  // beside a definition meets such rows, and what he read before has changed then: like every error
  // this one is told only if all that was read is still true (docs/unvalidated_reads.md).
  class Row {
   public:
    Row(const RowLayout& layout, std::string_view row)
        : layout_(layout), end_(row.data() + row.size()) {
      uint16_t stored;
      std::memcpy(&stored, row.data(), sizeof stored);
      if (stored > layout.column_count_) [[unlikely]]
        raise_later_layout(stored, layout.column_count_);
      PGSILO_DCHECK(layout.is_valid(row));
      stored_ = stored;
      bitmap_ = row.data() + sizeof stored;
      fixed_ = bitmap_ + (stored + 7) / 8;
    }

    // One column, of char(n) filled up in `padding`; other by-reference values point into the row.
    // Precondition: index < column_count().
    Datum get(size_t index, Arena& padding) const {
      Datum value = get_unpadded(index);
      int32_t padded_length = layout_.places_[index].padded_length;
      if (padded_length != 0 && !value.null) [[unlikely]]
        return pad(value, padded_length, padding);
      return value;
    }
    // The same as it is stored, for those to whom char(n)'s blanks do not matter: keys, null
    // checks.
    Datum get_unpadded(size_t index) const {
      const Place& place = layout_.places_[index];
      if (index >= stored_) [[unlikely]]
        return layout_.columns_[index].missing;
      if ((bitmap_[index / 8] >> (index % 8)) & 1) return Datum();
      if (place.form != StoredForm::variable)
        return read_stored(place.form, place.width, fixed_ + place.offset);
      const Shape& shape = layout_.shapes_[stored_];
      const char* ends = fixed_ + shape.fixed_bytes;
      const char* variable = ends + shape.ends_bytes;
      size_t ends_at = place.offset * sizeof(uint32_t);
      const char* begin = variable;
      const char* end = end_;
      if (ends_at != 0) begin += load_stored<uint32_t>(ends + ends_at - sizeof(uint32_t));
      if (ends_at < shape.ends_bytes) end = variable + load_stored<uint32_t>(ends + ends_at);
      return Datum::of_bytes({begin, end});
    }

   private:
    const RowLayout& layout_;
    const char* bitmap_;
    const char* fixed_;
    const char* end_;
    size_t stored_;
  };

  // One column alone.
  Datum get(std::string_view row, size_t index, Arena& padding) const {
    return Row(*this, row).get(index, padding);
  }
  Datum get_unpadded(std::string_view row, size_t index) const {
    return Row(*this, row).get_unpadded(index);
  }

  // What lies before the variable part is no longer than this.
  size_t head_bytes() const;

  // Of rows that have all columns: where their number and their null bits are, and a column;
  // precondition: it has a fixed width.
  RowRange header_range() const;
  RowRange fixed_range(size_t index) const;

  // Where a column of variable width is in `row`, which has all columns, and what says so: appends
  // its ranges. False: it reaches to the end of the row, wherever that is.
  bool find_variable(std::string_view row, size_t index, std::vector<RowRange>* ranges) const;
  bool has_all_columns(std::string_view row) const {
    return load_stored<uint16_t>(row.data()) == column_count_;
  }

  // All columns, as get(); out.size() == column_count(). Dropped columns come as null.
  void decode(std::string_view row, std::span<Datum> out, Arena& padding) const;

  // Checks that `row` is a well-formed row of this table, as far as it can be told (the length of
  // the last column of variable width cannot): for recovery and tests.
  bool is_valid(std::string_view row) const;

 private:
  struct Place {
    StoredForm form = StoredForm::variable;
    uint8_t width = 0;
    uint32_t offset = 0;  // in the fixed part; of a variable column: its number among them
    int32_t padded_length = 0;
  };
  // Of rows with a given number of stored columns.
  struct Shape {
    uint32_t fixed_bytes = 0;
    uint32_t ends_bytes = 0;
    bool has_variable = false;
  };

  [[noreturn, gnu::cold]] static void raise_later_layout(size_t stored, size_t known);
  static Datum pad(Datum value, int32_t length, Arena& padding);
  // The bytes of a variable column's value that are stored.
  std::string_view stored_bytes(size_t index, Datum value) const;

  std::vector<RowColumn> columns_;
  std::vector<Place> places_;
  size_t column_count_ = 0;
  std::vector<Shape> shapes_;  // by number of stored columns, 0..column_count()
};

}  // namespace pgsilo
