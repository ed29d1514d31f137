// CREATE TYPE, ALTER TYPE, and types as names of objects.
#include <algorithm>

#include "sql/ast/ast.h"
#include "sql/parser/tree_converter.h"

namespace pgsilo {

using namespace ast;

// Of an array with "[]" behind it.
NameList TreeConverter::type_words(const PgQuery__TypeName& from) {
  NameList words = names(from.names, from.n_names);
  if (from.n_array_bounds == 0) return words;
  auto array = arena_.make_span<std::string_view>(words.size());
  std::copy(words.begin(), words.end(), array.begin());
  array.back() = arena_.copy_string(std::string(words.back()) + "[]");
  return array;
}

const Node* TreeConverter::create_enum(const PgQuery__CreateEnumStmt& from) {
  auto* to = make<CreateEnumStmt>();
  to->name = names(from.type_name, from.n_type_name);
  to->labels = names(from.vals, from.n_vals);
  return to;
}

const Node* TreeConverter::alter_enum(const PgQuery__AlterEnumStmt& from) {
  auto* to = make<AlterEnumStmt>();
  to->name = names(from.type_name, from.n_type_name);
  to->old_value = text(from.old_val);
  to->new_value = text(from.new_val);
  to->neighbor = text(from.new_val_neighbor);
  to->is_after = from.new_val_is_after != 0;
  to->if_not_exists = from.skip_if_new_val_exists != 0;
  return to;
}

}  // namespace pgsilo
