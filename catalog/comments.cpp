#include "catalog/comments.h"

#include "base/byte_buffer.h"
#include "catalog/catalog.h"
#include "storage/relation/relation_directory.h"
#include "storage/transaction/transaction.h"

namespace pgsilo {

TransactionStatus read_comment(Catalog& catalog, Transaction& transaction, const CommentAddress& of,
                               Arena& arena, std::string_view* text) {
  const SystemTable& comments = catalog.system_tables().table(system_oid::pg_description);
  const Datum key[] = {Datum::of_int(of.object.oid), Datum::of_int(of.object.catalog),
                       Datum::of_int(of.part)};
  ByteBuffer encoded;
  comments.primary_key().encode_prefix(key, encoded);
  RowBuffer buffer(arena);
  RowRef row;
  TransactionStatus status = transaction.get(*catalog.relations().find(comments.relation_id()),
                                             encoded.view(), buffer, &row);
  if (status == TransactionStatus::ok)
    *text = arena.copy_string(comments.get(row.row, pg_description_description).bytes());
  return status;
}

}  // namespace pgsilo
