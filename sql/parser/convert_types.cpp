// CREATE TYPE, ALTER TYPE, and types as names of objects.
#include <algorithm>

#include "sql/ast/ast.h"
#include "sql/parser/tree_converter.h"

namespace pgsilo {

using namespace ast;

// Of an array with "[]" behind it.
NameList TreeConverter::type_words(const ::TypeName& from) {
  NameList words = names(from.names);
  if (from.arrayBounds == nullptr) return words;
  auto array = arena_.make_span<std::string_view>(words.size());
  std::copy(words.begin(), words.end(), array.begin());
  array.back() = arena_.copy_string(std::string(words.back()) + "[]");
  return array;
}

const Node* TreeConverter::create_enum(const ::CreateEnumStmt& from) {
  auto* to = make<CreateEnumStmt>();
  to->name = names(from.typeName);
  to->labels = names(from.vals);
  return to;
}

const Node* TreeConverter::alter_enum(const ::AlterEnumStmt& from) {
  auto* to = make<AlterEnumStmt>();
  to->name = names(from.typeName);
  to->old_value = text(from.oldVal);
  to->new_value = text(from.newVal);
  to->neighbor = text(from.newValNeighbor);
  to->is_after = from.newValIsAfter != 0;
  to->if_not_exists = from.skipIfNewValExists != 0;
  return to;
}

}  // namespace pgsilo
