#include "catalog/relation_encoding.h"

#include <array>

#include "base/arena.h"
#include "base/byte_order.h"
#include "catalog/catalog_writer.h"
#include "storage/record/row_buffer.h"
#include "storage/relation/relation_directory.h"
#include "storage/transaction/transaction.h"

namespace pgsilo {
namespace {

using Bytes = std::array<char, 4>;

std::string_view view(const Bytes& bytes) { return {bytes.data(), bytes.size()}; }

Bytes key_of(RelationId id) {
  Bytes key;
  store_be<uint32_t>(key.data(), id.value());
  return key;
}

}  // namespace

RelationId relation_of_encoding_key(std::string_view key) {
  return RelationId(load_be<uint32_t>(key.data()));
}

RelationEncoding encoding_of_row(std::string_view row) {
  return {load_be<uint16_t>(row.data()), load_be<uint16_t>(row.data() + sizeof(uint16_t))};
}

void insert_encoding(Transaction& transaction, RelationDirectory& relations, RelationId id) {
  Bytes row;
  store_be<uint16_t>(row.data(), newest_encoding.keys);
  store_be<uint16_t>(row.data() + sizeof(uint16_t), newest_encoding.rows);
  Relation& encodings = *relations.find(relation_encodings);
  require_ok(transaction.insert(encodings, view(key_of(id)), view(row)));
}

void remove_encoding(Transaction& transaction, RelationDirectory& relations, RelationId id) {
  Arena arena;
  RowBuffer buffer(arena);
  RowRef row;
  Relation& encodings = *relations.find(relation_encodings);
  // The relation may have been made earlier in this very statement; a new command sees that.
  require_ok(transaction.continue_statement());
  TransactionStatus status =
      transaction.get(encodings, view(key_of(id)), buffer, &row, ReadPurpose::for_update);
  if (status == TransactionStatus::not_found) return;
  require_ok(status);
  require_ok(transaction.remove(row));
}

}  // namespace pgsilo
