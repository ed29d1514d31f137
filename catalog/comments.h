// Comments of objects, as the transaction that asks sees them. Thread safety: the transaction's.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/arena.h"
#include "catalog/object/catalog_object.h"
#include "storage/transaction/abort_reason.h"

namespace pgsilo {

class Catalog;
class Transaction;

// An object, or (`part` above 0) a column of a table.
struct CommentAddress {
  ObjectAddress object;
  int32_t part = 0;
};

// ok: *text, in `arena`, not_found, or what ends the transaction.
TransactionStatus read_comment(Catalog& catalog, Transaction& transaction, const CommentAddress& of,
                               Arena& arena, std::string_view* text);

}  // namespace pgsilo
