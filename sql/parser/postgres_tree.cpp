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

}  // namespace pgsilo
