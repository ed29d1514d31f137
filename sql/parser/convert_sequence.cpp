// CREATE and ALTER SEQUENCE.
#include "sql/ast/ast.h"
#include "sql/parser/tree_converter.h"

namespace pgsilo {

using namespace ast;

const Node* TreeConverter::create_sequence(const ::CreateSeqStmt& from) {
  auto* to = make<CreateSequenceStmt>();
  to->sequence = range_var(from.sequence);
  to->options = def_elems(from.options);
  to->if_not_exists = from.if_not_exists != 0;
  return to;
}

const Node* TreeConverter::alter_sequence(const ::AlterSeqStmt& from) {
  auto* to = make<AlterSequenceStmt>();
  to->sequence = range_var(from.sequence);
  to->options = def_elems(from.options);
  to->missing_ok = from.missing_ok != 0;
  return to;
}

}  // namespace pgsilo
