#include "catalog/index_evaluator.h"

#include "base/byte_buffer.h"
#include "sql/sql_error.h"
#include "sql/types/type.h"

namespace pgsilo {

bool IndexEntries::evaluate(std::string_view row, std::span<const Datum>* key) {
  if (padding_.bytes_reserved() != 0) padding_.reset();
  table_.layout.decode(row, values_, padding_);
  return evaluator_->evaluate(values_, key);
}

bool IndexEntries::encode(std::string_view row, std::string_view primary_key, ByteBuffer& out) {
  if (evaluator_ == nullptr) {
    index_.key.encode_entry(table_.layout, row, primary_key, out);
    return true;
  }
  std::span<const Datum> key;
  if (!evaluate(row, &key)) return false;
  index_.key.encode_entry_of_values(key, primary_key, out);
  return true;
}

std::string IndexEntries::shown_key(std::string_view row, const TypeContext& types) {
  std::string names;
  std::vector<Datum> columns;
  std::span<const Datum> key;
  if (evaluator_ != nullptr) {
    names = evaluator_->column_names(types);
    evaluate(row, &key);
  } else {
    for (const IndexColumn& part : index_.columns) {
      size_t at = static_cast<size_t>(part.number) - 1;
      names += concat(names.empty() ? "" : ", ", table_.columns[at].name);
      columns.push_back(table_.layout.get(row, at, padding_));
    }
    key = columns;
  }
  ByteBuffer values;
  for (size_t i = 0; i < key.size(); ++i) {
    if (i != 0) values.append(", ");
    if (key[i].null) {
      values.append("null");
    } else {
      index_.key.columns()[i].type->print(key[i], values, types);
    }
  }
  return concat("(", names, ")=(", values.view(), ")");
}

}  // namespace pgsilo
