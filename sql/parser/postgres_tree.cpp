#include "sql/parser/postgres_tree.h"

// pg_config.h and the library say each which version it is.
namespace {
constexpr char header_version[] = PG_MAJORVERSION;
}
#undef PG_MAJORVERSION
#undef PG_VERSION
#undef PG_VERSION_NUM

extern "C" {
#include <pg_query.h>
// Needs what stands above.
#include <pg_query/pg_query_internal.h>
// In none of the library's installed headers.
PgQueryProtobuf pg_query_nodes_to_protobuf(const void* statements);
}

#include <cstdlib>
#include <memory>
#include <string_view>

static_assert(std::string_view(header_version) == PG_MAJORVERSION);

namespace pgsilo {

PostgresTree::Context::Context() : memory(pg_query_enter_memory_context()) {}
PostgresTree::Context::~Context() { pg_query_exit_memory_context(memory); }

PostgresTree::PostgresTree(const char* sql) {
  PgQueryInternalParsetreeAndError parsed = pg_query_raw_parse(sql);
  std::unique_ptr<PgQueryError, decltype(&pg_query_free_error)> error(parsed.error,
                                                                      &pg_query_free_error);
  std::free(parsed.stderr_buffer);
  statements_ = parsed.tree;
  if (error == nullptr) return;
  failed_ = true;
  message_ = error->message;
  position_ = error->cursorpos;
}

namespace {

// A list of one.
struct SingleList {
  explicit SingleList(void* item) {
    cell.ptr_value = item;
    list.type = T_List;
    list.length = list.max_length = 1;
    list.elements = &cell;
  }
  ListCell cell;
  ::List list = {};
};

}  // namespace

// As the only column of a SELECT. The deparser reads no nodes but the library's protobuf.
std::string print_expression(const PgNode* expression) {
  constexpr std::string_view prefix = "SELECT ";
  ::ResTarget target = {};
  target.type = T_ResTarget;
  target.val = const_cast<PgNode*>(expression);
  SingleList targets(&target);
  ::SelectStmt select = {};  // zero is LIMIT_OPTION_DEFAULT to the library
  select.type = T_SelectStmt;
  select.targetList = &targets.list;
  ::RawStmt raw = {};
  raw.type = T_RawStmt;
  raw.stmt = reinterpret_cast<PgNode*>(&select);
  SingleList statements(&raw);

  MemoryContext context = pg_query_enter_memory_context();
  PgQueryProtobuf packed = pg_query_nodes_to_protobuf(&statements.list);
  pg_query_exit_memory_context(context);
  struct Printed {
    PgQueryDeparseResult result;
    ~Printed() { pg_query_free_deparse_result(result); }
  } printed{pg_query_deparse_protobuf(packed)};
  std::free(packed.data);
  if (printed.result.error != nullptr) return {};
  return std::string(std::string_view(printed.result.query).substr(prefix.size()));
}

}  // namespace pgsilo
