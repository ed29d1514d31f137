#include "catalog/row_layout.h"

#include "base/byte_buffer.h"
#include "base/check.h"
#include "sql/sql_error.h"
#include "sql/types/text.h"
#include "storage/limits.h"

namespace pgsilo {

namespace {
constexpr size_t header_bytes = sizeof(uint16_t);

size_t bitmap_bytes(size_t columns) { return (columns + 7) / 8; }
}  // namespace

namespace {
StoredForm form_of(const RowColumn& column) {
  if (column.width == 0) return StoredForm::variable;
  return column.type == nullptr ? StoredForm::bytes : stored_form(*column.type);
}
}  // namespace

RowLayout::RowLayout(std::vector<RowColumn> columns)
    : columns_(std::move(columns)), column_count_(columns_.size()) {
  places_.reserve(columns_.size());
  shapes_.reserve(columns_.size() + 1);
  Shape shape;
  uint32_t variable_count = 0;
  shapes_.push_back(shape);
  for (const RowColumn& column : columns_) {
    Place place;
    place.form = form_of(column);
    place.width = column.width;
    place.padded_length = column.padded_length;
    if (place.form == StoredForm::variable) {
      place.offset = variable_count++;
      shape.ends_bytes = place.offset * sizeof(uint32_t);
      shape.has_variable = true;
    } else {
      place.offset = shape.fixed_bytes;
      shape.fixed_bytes += column.width;
    }
    places_.push_back(place);
    shapes_.push_back(shape);
  }
}

void RowLayout::raise_later_layout(size_t stored, size_t known) {
  throw SqlError(sqlstate::data_corrupted,
                 concat("a row has ", stored, " columns where its table has ", known));
}

RowRange RowLayout::header_range() const {
  return {0, static_cast<uint32_t>(header_bytes + bitmap_bytes(columns_.size()))};
}

size_t RowLayout::head_bytes() const {
  const Shape& shape = shapes_.back();
  return header_range().bytes + shape.fixed_bytes + shape.ends_bytes;
}

RowRange RowLayout::fixed_range(size_t index) const {
  const Place& place = places_[index];
  PGSILO_DCHECK(place.form != StoredForm::variable);
  return {header_range().bytes + place.offset, place.width};
}

bool RowLayout::find_variable(std::string_view row, size_t index,
                              std::vector<RowRange>* ranges) const {
  const Place& place = places_[index];
  PGSILO_DCHECK(place.form == StoredForm::variable && has_all_columns(row));
  const Shape& shape = shapes_.back();
  constexpr uint32_t end_bytes = sizeof(uint32_t);
  uint32_t ends = header_range().bytes + shape.fixed_bytes;
  uint32_t variable = ends + shape.ends_bytes;
  uint32_t end_at = ends + place.offset * end_bytes;
  bool is_first = place.offset == 0, is_last = end_at == variable;
  uint32_t begin = is_first ? 0 : load_stored<uint32_t>(row.data() + end_at - end_bytes);
  uint32_t end = is_last ? static_cast<uint32_t>(row.size()) - variable
                         : load_stored<uint32_t>(row.data() + end_at);
  if (!is_first) ranges->push_back({end_at - end_bytes, end_bytes});
  if (!is_last) ranges->push_back({end_at, end_bytes});
  ranges->push_back({variable + begin, end - begin});
  return !is_last;
}

Datum RowLayout::pad(Datum value, int32_t length, Arena& padding) {
  return Datum::of_bytes(bpchar_pad(value.bytes(), length, padding));
}

std::string_view RowLayout::stored_bytes(size_t index, Datum value) const {
  if (value.null || columns_[index].dropped) return {};
  return places_[index].padded_length != 0 ? bpchar_trim(value.bytes()) : value.bytes();
}

void RowLayout::encode(std::span<const Datum> values, ByteBuffer& out) const {
  PGSILO_DCHECK(values.size() == columns_.size());
  const Shape& shape = shapes_.back();
  size_t bitmap_size = bitmap_bytes(columns_.size());
  size_t ends_at = header_bytes + bitmap_size + shape.fixed_bytes;
  size_t bytes = ends_at + shape.ends_bytes;
  for (size_t i = 0; i < values.size(); ++i) {
    if (places_[i].form == StoredForm::variable) bytes += stored_bytes(i, values[i]).size();
  }
  if (bytes > max_row_bytes) {
    throw SqlError(sqlstate::program_limit_exceeded,
                   concat("row is too big: size ", bytes, ", maximum size ", max_row_bytes));
  }
  char* row = out.reserve(bytes);
  auto stored = static_cast<uint16_t>(columns_.size());
  std::memcpy(row, &stored, sizeof stored);
  char* bitmap = row + header_bytes;
  // Slots of nulls are zero, so that equal rows are equal bytes.
  std::memset(bitmap, 0, ends_at - header_bytes);
  char* fixed = bitmap + bitmap_size;
  char* end_slot = row + ends_at;
  char* variable = end_slot + shape.ends_bytes;
  uint32_t variable_end = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const Place& place = places_[i];
    bool null = values[i].null || columns_[i].dropped;
    if (null) bitmap[i / 8] = static_cast<char>(bitmap[i / 8] | (1 << (i % 8)));
    if (place.form != StoredForm::variable) {
      if (!null) write_stored(place.form, place.width, values[i], fixed + place.offset);
      continue;
    }
    if (std::string_view bytes_of = stored_bytes(i, values[i]); !bytes_of.empty()) {
      std::memcpy(variable + variable_end, bytes_of.data(), bytes_of.size());
      variable_end += static_cast<uint32_t>(bytes_of.size());
    }
    if (place.offset * sizeof variable_end < shape.ends_bytes)
      std::memcpy(end_slot + place.offset * sizeof variable_end, &variable_end,
                  sizeof variable_end);
  }
  out.commit(bytes);
}

void RowLayout::decode(std::string_view row, std::span<Datum> out, Arena& padding) const {
  PGSILO_DCHECK(out.size() == columns_.size());
  Row columns(*this, row);
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = columns_[i].dropped ? Datum() : columns.get(i, padding);
}

bool RowLayout::is_valid(std::string_view row) const {
  if (row.size() < header_bytes) return false;
  uint16_t stored;
  std::memcpy(&stored, row.data(), sizeof stored);
  if (stored > columns_.size()) return false;
  const Shape& shape = shapes_[stored];
  size_t ends_at = header_bytes + bitmap_bytes(stored) + shape.fixed_bytes;
  size_t variable_at = ends_at + shape.ends_bytes;
  if (row.size() < variable_at) return false;
  uint32_t previous = 0;
  for (size_t at = ends_at; at < variable_at; at += sizeof(uint32_t)) {
    auto end = load_stored<uint32_t>(row.data() + at);
    if (end < previous) return false;
    previous = end;
  }
  size_t rest = row.size() - variable_at;
  return shape.has_variable ? rest >= previous : rest == 0;
}

}  // namespace pgsilo
