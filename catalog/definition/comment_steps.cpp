#include "catalog/definition/comment_steps.h"

#include "catalog/system_row.h"

namespace pgsilo {

void CommentSteps::set_comment(const CommentAddress& of, std::string_view text) {
  // The object stays until the transaction ends: who drops it removes its comments.
  const SystemTables& tables = catalog_.system_tables();
  if (!writer_.hold(tables.table(of.object.catalog), {Datum::of_int(of.object.oid)}))
    throw EngineOutcome{TransactionStatus::conflict_record};
  const SystemTable& comments = tables.table(system_oid::pg_description);
  bool is_there = writer_.hold(
      comments,
      {Datum::of_int(of.object.oid), Datum::of_int(of.object.catalog), Datum::of_int(of.part)});
  if (text.empty()) {
    if (is_there)
      remove_row(system_oid::pg_description, {of.object.oid, of.object.catalog, of.part});
    return;
  }
  SystemRow row(comments);
  row.set_int(pg_description_objoid, of.object.oid)
      .set_int(pg_description_classoid, of.object.catalog)
      .set_int(pg_description_objsubid, of.part)
      .set(pg_description_description, text);
  if (is_there) {
    writer_.update(row);
  } else {
    writer_.insert(row);
  }
}

}  // namespace pgsilo
