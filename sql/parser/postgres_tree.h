// PostgreSQL's own parse tree, as libpg_query builds it: the one file that includes PostgreSQL's
// headers, for sql/parser only. docs/decisions/raw-parse-tree.md says why that is sound.
//
// Of these headers the node types and their enumerations count, and nothing else: functions and
// variables that they declare are those of a server (the library has its own, one set for each
// thread), and macros that take the names of common functions are undone below. Node types are
// written with :: before them, for the syntax tree has some of the same names. Thread safety: a
// tree is its thread's; nothing else of the library may be called while it lives but what is here.
#pragma once

#include <span>
#include <string>

#include "sql/internal_error.h"

extern "C" {
#include <postgres.h>
// Needs what stands above.
#include <nodes/parsenodes.h>
}
#undef fprintf
#undef printf
#undef restrict
#undef snprintf
#undef sprintf
#undef strerror
#undef strerror_r
#undef vfprintf
#undef vprintf
#undef vsnprintf
#undef vsprintf

namespace pgsilo {

using PgNode = ::Node;

// The library numbers LimitOption from "none" on, the server ends with it.
inline constexpr int library_limit_with_ties = 2;

// A text's statements, and the memory that they lie in.
class PostgresTree {
 public:
  explicit PostgresTree(const char* sql);
  PostgresTree(const PostgresTree&) = delete;
  PostgresTree& operator=(const PostgresTree&) = delete;

  const ::List* statements() const { return statements_; }  // of RawStmt
  bool failed() const { return failed_; }
  const std::string& message() const { return message_; }
  int position() const { return position_; }  // in characters, from 1 on; 0: none

 private:
  // Of the library, in this thread.
  struct Context {
    Context();
    ~Context();
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;
    ::MemoryContextData* const memory;
  };

  Context context_;
  const ::List* statements_ = nullptr;
  bool failed_ = false;
  std::string message_;
  int position_ = 0;
};

inline std::span<const ListCell> cells(const ::List* list) {
  if (list == nullptr) return {};
  return {list->elements, static_cast<size_t>(list->length)};
}
inline const PgNode* node_in(const ListCell& cell) {
  return static_cast<const PgNode*>(cell.ptr_value);
}
// Of lists that are not empty.
inline const PgNode* first_node(const ::List* list) { return node_in(cells(list).front()); }
inline const PgNode* last_node(const ::List* list) { return node_in(cells(list).back()); }

template <typename T>
inline constexpr NodeTag tag_of = T_Invalid;

#define PGSILO_NODES(node)                                                                        \
  node(A_ArrayExpr) node(A_Const) node(A_Expr) node(A_Indices) node(A_Indirection)                \
      node(AlterStatsStmt) node(CreateStatsStmt) node(StatsElem) node(AlterDomainStmt) node(      \
          AlterEnumStmt) node(AlterObjectSchemaStmt) node(AlterOwnerStmt) node(CreateDomainStmt)  \
          node(AlterSeqStmt) node(AlterTableCmd) node(AlterTableStmt) node(BoolExpr) node(        \
              Boolean) node(BooleanTest) node(CaseExpr) node(CaseWhen) node(ClosePortalStmt)      \
              node(CoalesceExpr) node(CollateClause) node(ColumnDef) node(ColumnRef) node(        \
                  CommentStmt) node(CommonTableExpr) node(Constraint) node(ConstraintsSetStmt)    \
                  node(CopyStmt) node(CreateEnumStmt) node(CreateSchemaStmt) node(                \
                      CreateSeqStmt) node(CreateStmt) node(ViewStmt) node(CreateTableAsStmt)      \
                      node(CurrentOfExpr) node(DeallocateStmt) node(DeclareCursorStmt) node(      \
                          DefElem) node(DeleteStmt) node(DiscardStmt) node(DropStmt)              \
                          node(ExecuteStmt) node(ExplainStmt) node(FetchStmt) node(Float) node(   \
                              FuncCall) node(GroupingFunc) node(GroupingSet) node(IndexElem)      \
                              node(IndexStmt) node(InsertStmt) node(Integer) node(JoinExpr) node( \
                                  List) node(LockStmt) node(LockingClause) node(MinMaxExpr)       \
                                  node(MultiAssignRef) node(NamedArgExpr) node(NullTest) node(    \
                                      ParamRef) node(PrepareStmt) node(RangeFunction)             \
                                      node(RangeSubselect) node(RangeTableFunc) node(             \
                                          RangeTableSample) node(RangeVar) node(RawStmt)          \
                                          node(RenameStmt) node(ResTarget) node(RowExpr) node(    \
                                              SQLValueFunction) node(SelectStmt)                  \
                                              node(SetToDefault) node(SortBy) node(String) node(  \
                                                  SubLink) node(TableLikeClause)                  \
                                                  node(TransactionStmt) node(TruncateStmt) node(  \
                                                      TypeCast) node(TypeName) node(UpdateStmt)   \
                                                      node(VacuumRelation) node(VacuumStmt)       \
                                                          node(VariableSetStmt)                   \
                                                              node(VariableShowStmt)              \
                                                                  node(WindowDef) node(XmlExpr)   \
                                                                      node(XmlSerialize)
#define PGSILO_TAG(type) \
  template <>            \
  inline constexpr NodeTag tag_of<::type> = T_##type;
PGSILO_NODES(PGSILO_TAG)
#undef PGSILO_TAG
#undef PGSILO_NODES

// Null when the node is null or of another type.
template <typename T>
const T* try_node(const PgNode* node) {
  static_assert(tag_of<T> != T_Invalid);
  return node != nullptr && node->type == tag_of<T> ? reinterpret_cast<const T*>(node) : nullptr;
}

// T must be the node's type.
template <typename T>
const T& node_as(const PgNode* node) {
  const T* found = try_node<T>(node);
  PGSILO_REQUIRE(found != nullptr);
  return *found;
}

// A list in a node's place; null for an empty one.
inline const ::List* list_in(const PgNode* node) {
  return node != nullptr ? &node_as<::List>(node) : nullptr;
}

}  // namespace pgsilo
