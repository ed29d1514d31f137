#include "catalog/stored_expression.h"

#include <algorithm>
#include <charconv>

#include "base/byte_buffer.h"

namespace pgsilo {

namespace {

// `{1 (types) (sequences) tree}`; 1 is the version of all of it.
constexpr std::string_view head = "{1 ";
constexpr std::string_view tail = "}";

std::string print(std::vector<Oid>& oids) {
  std::ranges::sort(oids);
  oids.erase(std::unique(oids.begin(), oids.end()), oids.end());
  std::string text = "(";
  for (Oid oid : oids) text += concat(text.size() > 1 ? " " : "", oid);
  return text + ") ";
}

// Takes "(1 2) " off the front of the text.
std::vector<Oid> take_oids(std::string_view* text) {
  std::vector<Oid> oids;
  size_t end = text->find(") ");
  if (!text->starts_with('(') || end == std::string_view::npos) throw damaged_expression();
  const char* at = text->data() + 1;
  const char* behind = text->data() + end;
  while (at < behind) {
    Oid oid;
    auto [next, error] = std::from_chars(at, behind, oid);
    if (error != std::errc()) throw damaged_expression();
    oids.push_back(oid);
    at = next != behind ? next + 1 : next;
  }
  text->remove_prefix(end + 2);
  return oids;
}

}  // namespace

void ExpressionUses::add(const ExpressionUses& other) {
  auto merge = [](std::vector<Oid>& into, const std::vector<Oid>& from) {
    into.insert(into.end(), from.begin(), from.end());
    std::ranges::sort(into);
    into.erase(std::unique(into.begin(), into.end()), into.end());
  };
  merge(types, other.types);
  merge(sequences, other.sequences);
}

SqlError damaged_expression() {
  return SqlError(sqlstate::data_corrupted, "stored expression is damaged or of another program");
}

StoredExpression StoredExpression::make(ExpressionUses uses, std::string_view tree) {
  StoredExpression made;
  made.uses = std::move(uses);
  made.text = concat(head, print(made.uses.types), print(made.uses.sequences), tree, tail);
  return made;
}

StoredExpression StoredExpression::read(std::string_view text) {
  StoredExpression made;
  // A default's SQL came behind the numbers of its column.
  if (text.starts_with("{DEFAULT "))
    text.remove_prefix(std::min(text.find('}'), text.size() - 1) + 1);
  made.text = text;
  if (text.empty() || made.is_sql()) return made;
  if (!text.starts_with(head) || !text.ends_with(tail)) throw damaged_expression();
  text.remove_prefix(head.size());
  made.uses.types = take_oids(&text);
  made.uses.sequences = take_oids(&text);
  return made;
}

// Nothing in a tree is written with a brace (docs/stored_expressions.md).
std::vector<StoredExpression> StoredExpression::read_list(std::string_view text) {
  std::vector<StoredExpression> all;
  while (!text.empty()) {
    size_t end = text.find(tail);
    if (end == std::string_view::npos) throw damaged_expression();
    all.push_back(read(text.substr(0, end + 1)));
    text.remove_prefix(end + 1);
  }
  return all;
}

std::string_view StoredExpression::tree() const {
  if (empty() || is_sql()) throw damaged_expression();
  std::string_view rest = text;
  rest.remove_prefix(head.size());
  take_oids(&rest);
  take_oids(&rest);
  rest.remove_suffix(tail.size());
  return rest;
}

}  // namespace pgsilo
