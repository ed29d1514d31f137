// I9: each row of a table has exactly its entry in an index (of a partial one: or none), and no
// entry is without its row.
// Thread safety: the trees lie still.
#pragma once

#include <string>
#include <string_view>

#include "base/arena.h"
#include "base/byte_buffer.h"
#include "catalog/descriptors.h"
#include "catalog/index_evaluator.h"
#include "storage/record/row_buffer.h"
#include "storage/relation/relation.h"

namespace pgsilo {

// The rows that are there: deleted ones may wait to be unhooked.
template <typename Visit>
void for_each_present_row(Relation& relation, Visit visit) {
  Arena arena;
  RowBuffer buffer(arena);
  relation.tree().for_each([&](Record* record) {
    TidWord word = record->stable_read(buffer);
    if (!word.is_absent() && !word.is_obsolete()) visit(record->key(), buffer.bytes());
  });
}

// Not of an index that is the table's own tree. Empty: they agree.
inline std::string index_disagreement(const TableDescriptor& table, const IndexDescriptor& index,
                                      IndexEntries& entries_of_rows) {
  Arena arena;
  RowBuffer found(arena);
  size_t rows = 0, entries = 0, missing = 0;
  for_each_present_row(*table.relation, [&](std::string_view key, std::string_view row) {
    ByteBuffer entry;
    if (!entries_of_rows.encode(row, key, entry)) return;
    ++rows;
    Record* record = index.relation->tree().get(entry.view()).record;
    bool there = record != nullptr && !record->stable_read(found).is_absent() &&
                 found.bytes() == index.key.payload_of(key);
    missing += there ? 0 : 1;
  });
  for_each_present_row(*index.relation, [&](std::string_view, std::string_view) { ++entries; });
  if (missing == 0 && entries == rows) return "";
  return index.name + " has " + std::to_string(entries) + " entries for " + std::to_string(rows) +
         " rows, of which " + std::to_string(missing) + " have none";
}

// Of an index that computes nothing.
inline std::string index_disagreement(const TableDescriptor& table, const IndexDescriptor& index) {
  IndexEntries entries(table, index, nullptr);
  return index_disagreement(table, index, entries);
}

}  // namespace pgsilo
