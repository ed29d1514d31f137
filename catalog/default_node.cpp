#include "catalog/default_node.h"

#include <charconv>

#include "sql/sql_error.h"

namespace pgsilo {
namespace {
constexpr std::string_view mark = "{DEFAULT ";
}  // namespace

std::string print_default_node(const DefaultNode& node) {
  return concat(mark, node.table, " ", node.column, "}", node.expression);
}

DefaultNode parse_default_node(std::string_view text) {
  DefaultNode node;
  node.expression = text;
  size_t end = text.starts_with(mark) ? text.find('}') : std::string_view::npos;
  if (end == std::string_view::npos) return node;
  const char* last = text.data() + end;
  auto [behind, failed] = std::from_chars(text.data() + mark.size(), last, node.table);
  if (failed == std::errc() && behind != last) std::from_chars(behind + 1, last, node.column);
  node.expression = text.substr(end + 1);
  return node;
}

}  // namespace pgsilo
