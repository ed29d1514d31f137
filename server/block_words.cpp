#include "server/block_words.h"

#include "catalog/key_reading.h"
#include "sql/sql_error.h"
#include "sql/types/type_context.h"

namespace pgsilo {
namespace {

// What a relation is: a table, or one of its indexes.
struct Place {
  const TableDescriptor* table = nullptr;
  const IndexDescriptor* index = nullptr;
};

Place find(const CatalogSnapshot& catalog, RelationId relation) {
  for (const auto& [oid, table] : catalog.tables()) {
    if (table->relation_id == relation) return {table.get(), nullptr};
    for (const auto& index : table->indexes) {
      if (index->relation_id == relation) return {table.get(), index.get()};
    }
  }
  return {};
}

}  // namespace

std::string quoted_name(const TableDescriptor& table) {
  return concat("\"", table.schema_name, ".", table.name, "\"");
}

std::string quoted_name(const TableDescriptor& table, const IndexDescriptor& index) {
  return concat("\"", table.schema_name, ".", index.name, "\"");
}

BlockWords words_of_block(const CatalogSnapshot& catalog, RelationId relation, uint64_t records,
                          const std::string& first_key, const std::string& last_key) {
  Place place = find(catalog, relation);
  if (place.table == nullptr) return {};
  TypeContext types;
  auto key = [&](const std::string& bytes) {
    return place.index == nullptr ? readable_key(*place.table, bytes, types)
                                  : readable_key(*place.table, *place.index, bytes, types);
  };
  BlockWords words;
  words.what = place.index == nullptr
                   ? concat(records, " rows of table ", quoted_name(*place.table))
                   : concat(records, " entries of index ", quoted_name(*place.table, *place.index));
  words.range = concat("from ", key(first_key));
  if (!last_key.empty()) words.range += concat(" to ", key(last_key));
  return words;
}

std::string CheckpointNames::held_by(const CheckpointBlock& block) const {
  BlockWords words = words_of_block(*catalog_.snapshot(), block.relation, block.records,
                                    block.first_key, block.last_key);
  return words.what.empty() ? "" : concat(words.what, ", ", words.range);
}

}  // namespace pgsilo
