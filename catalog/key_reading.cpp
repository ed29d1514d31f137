#include "catalog/key_reading.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>

#include "base/byte_buffer.h"
#include "base/byte_order.h"
#include "sql/sql_error.h"
#include "sql/types/type.h"

namespace pgsilo {
namespace {

class KeyReader {
 public:
  KeyReader(std::string_view key, const TypeContext& types) : rest_(key), types_(types) {}

  // Appends the next column's text. False: it cannot be read.
  bool next(const KeyColumn& column, ByteBuffer& out) {
    constexpr char value_follows = 1;
    if (column.nullable) {
      if (rest_.empty()) return false;
      char marker = rest_.front();
      rest_.remove_prefix(1);
      if (marker != value_follows) {
        out.append("null");
        return true;
      }
    }
    std::string value = taken(column);
    std::optional<Datum> datum = value_of(*column.type, value);
    if (!datum) return false;
    rest_.remove_prefix(value.size());
    column.type->print(*datum, out, types_);
    return true;
  }

  std::string rest_in_hexadecimal() const {
    std::string text = "\\x";
    for (char byte : rest_) {
      std::array<char, 3> digits;
      std::snprintf(digits.data(), digits.size(), "%02x", static_cast<unsigned char>(byte));
      text += digits.data();
    }
    return text;
  }

 private:
  static size_t width(KeyForm form) {
    switch (form) {
      case KeyForm::boolean:
        return 1;
      case KeyForm::int16:
        return 2;
      case KeyForm::int32:
      case KeyForm::uint32:
        return 4;
      case KeyForm::int64:
        return 8;
      default:
        return 0;
    }
  }

  // The value's bytes as they were before DESC inverted them, the NUL behind a text included;
  // empty: not of a form that is read here, or cut short.
  std::string taken(const KeyColumn& column) const {
    KeyForm form = column.type->key_form;
    char mask = static_cast<char>(column.descending ? 0xff : 0);
    size_t bytes = width(form);
    if (form == KeyForm::text || form == KeyForm::bpchar) {
      size_t end = rest_.find(mask);
      bytes = end == std::string_view::npos ? 0 : end + 1;
    }
    if (bytes > rest_.size()) return "";
    std::string value(rest_.substr(0, bytes));
    for (char& byte : value) byte = static_cast<char>(byte ^ mask);
    return value;
  }

  static std::optional<Datum> value_of(const TypeInfo& type, const std::string& value) {
    if (value.empty()) return std::nullopt;
    switch (type.key_form) {
      case KeyForm::boolean:
        return Datum::of_int(static_cast<unsigned char>(value[0]));
      case KeyForm::int16:
        return Datum::of_int(static_cast<int16_t>(load_be<uint16_t>(value.data()) ^ 0x8000));
      case KeyForm::int32:
        return Datum::of_int(static_cast<int32_t>(load_be<uint32_t>(value.data()) ^ 0x80000000u));
      case KeyForm::uint32:
        return Datum::of_int(load_be<uint32_t>(value.data()));
      case KeyForm::int64:
        return Datum::of_int(
            static_cast<int64_t>(load_be<uint64_t>(value.data()) ^ (uint64_t{1} << 63)));
      default:
        return Datum::of_bytes(std::string_view(value).substr(0, value.size() - 1));
    }
  }

  std::string_view rest_;
  const TypeContext& types_;
};

std::string read(const TableDescriptor& table, const IndexDescriptor* index, std::string_view key,
                 const TypeContext& types) {
  const KeyLayout& layout = index != nullptr ? index->key : table.primary_key;
  ByteBuffer names;
  ByteBuffer values;
  KeyReader reader(key, types);
  bool readable = true;
  for (size_t i = 0; i < layout.columns().size(); ++i) {
    if (i != 0) names.append(", ");
    uint16_t column = layout.column_numbers()[i];
    names.append(column == KeyLayout::no_column ? index->expression_of(i)->name
                                                : table.columns[column].name);
    if (i != 0 && readable) values.append(", ");
    if (!readable || reader.next(layout.columns()[i], values)) continue;
    readable = false;
    values.append(reader.rest_in_hexadecimal());
  }
  return concat("(", names.view(), ")=(", values.view(), ")");
}

}  // namespace

std::string readable_key(const TableDescriptor& table, std::string_view key,
                         const TypeContext& types) {
  if (!table.primary_key.is_hidden_row_id()) return read(table, nullptr, key, types);
  if (key.size() != hidden_row_id_bytes) return KeyReader(key, types).rest_in_hexadecimal();
  return concat("(row)=(", load_be<uint64_t>(key.data()), ")");
}

std::string readable_key(const TableDescriptor& table, const IndexDescriptor& index,
                         std::string_view key, const TypeContext& types) {
  return read(table, &index, key, types);
}

}  // namespace pgsilo
