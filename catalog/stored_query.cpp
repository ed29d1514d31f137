#include "catalog/stored_query.h"

#include <algorithm>

#include "base/byte_buffer.h"
#include "catalog/stored_expression.h"

namespace pgsilo {

namespace {

// `{query 1 tree}`; 1 is the version of all of it.
constexpr std::string_view head = "{query 1 ";
constexpr std::string_view tail = "}";

template <typename Value>
void keep_each_once(std::vector<Value>& values) {
  std::ranges::sort(values);
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

}  // namespace

StoredQuery StoredQuery::make(std::string_view tree, std::vector<ColumnUse> columns,
                              std::vector<Oid> types) {
  StoredQuery made;
  made.text = concat(head, tree, tail);
  keep_each_once(columns);
  // The whole comes before its columns.
  for (size_t i = 0; i < columns.size(); ++i) {
    bool has_columns = i + 1 < columns.size() && columns[i + 1].relation == columns[i].relation;
    if (columns[i].column != 0 || !has_columns) made.columns.push_back(columns[i]);
  }
  keep_each_once(types);
  made.types = std::move(types);
  return made;
}

void StoredQuery::rest_on_keys(std::vector<Oid> keys) {
  keep_each_once(keys);
  constraints = std::move(keys);
}

std::string_view tree_of_query(std::string_view text) {
  if (!text.starts_with(head) || !text.ends_with(tail)) throw damaged_expression();
  text.remove_prefix(head.size());
  text.remove_suffix(tail.size());
  return text;
}

}  // namespace pgsilo
