#include "executor/constraint/key_text.h"

#include "base/byte_buffer.h"
#include "sql/sql_error.h"
#include "sql/types/type.h"

namespace pgsilo {

std::string key_text(const TableDescriptor& table, std::span<const int16_t> columns,
                     std::span<const Datum> row, const TypeContext& types) {
  ByteBuffer names;
  ByteBuffer values;
  for (int16_t number : columns) {
    if (!names.empty()) {
      names.append(", ");
      values.append(", ");
    }
    auto at = static_cast<size_t>(number) - 1;
    names.append(table.columns[at].name);
    if (row[at].null) {
      values.append("null");
    } else {
      type_info(table.columns[at].type).print(row[at], values, types);
    }
  }
  return concat("(", names.view(), ")=(", values.view(), ")");
}

std::string key_values_text(const KeyLayout& key, std::span<const Datum> values,
                            const TypeContext& types) {
  ByteBuffer text;
  for (size_t i = 0; i < values.size(); ++i) {
    if (i != 0) text.append(", ");
    if (values[i].null) {
      text.append("null");
    } else {
      key.columns()[i].type->print(values[i], text, types);
    }
  }
  return std::string(text.view());
}

}  // namespace pgsilo
