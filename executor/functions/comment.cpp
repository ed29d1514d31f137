// obj_description() and col_description().
#include "catalog/catalog_view.h"
#include "catalog/comments.h"
#include "executor/execution_context.h"
#include "executor/functions/function.h"
#include "executor/transaction_status.h"

namespace pgsilo::functions {

namespace {

Datum comment_of(EvalContext& context, const CommentAddress& address) {
  ExecutionContext& session = *context.execution;
  std::string_view text;
  TransactionStatus status = read_comment(session.catalog->catalog(), *session.transaction, address,
                                          *context.arena, &text);
  if (status == TransactionStatus::not_found) return Datum();
  require_ok_status(status);
  return Datum::of_bytes(text);
}

Datum of_column(EvalContext& context, const Datum* a) {
  auto table = static_cast<Oid>(a[0].i64);
  return comment_of(context, {{system_oid::pg_class, table}, static_cast<int32_t>(a[1].i64)});
}

// The catalog that the object is in is told by its name.
Datum of_object(EvalContext& context, const Datum* a) {
  for (const SystemTableInfo& table : all_system_tables()) {
    if (table.name != a[1].bytes()) continue;
    auto catalog = static_cast<system_oid::Table>(table.oid);
    return comment_of(context, {{catalog, static_cast<Oid>(a[0].i64)}});
  }
  return Datum();
}

constexpr FunctionEntry entries[] = {
    {1215, of_object},  // obj_description
    {1216, of_column},  // col_description
};

}  // namespace

std::span<const FunctionEntry> comment() { return entries; }

}  // namespace pgsilo::functions
