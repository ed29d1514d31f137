#include "server/lost_rows.h"

#include <algorithm>

#include "base/server_log.h"
#include "catalog/key_reading.h"
#include "sql/sql_error.h"
#include "sql/types/type_context.h"

namespace pgsilo {
namespace {

std::string named(const TableDescriptor& table) {
  return concat("\"", table.schema_name, ".", table.name, "\"");
}

std::string named(const TableDescriptor& table, const IndexDescriptor& index) {
  return concat("\"", table.schema_name, ".", index.name, "\"");
}

bool has_rows(const TableDescriptor& table) {
  return table.kind == RelationKind::table && !table.is_system() &&
         table.persistence == RelationPersistence::permanent;
}

}  // namespace

LostRows::Place LostRows::find(RelationId relation) const {
  for (const auto& [oid, table] : catalog_->tables()) {
    if (table->relation_id == relation) return {table.get(), nullptr};
    for (const auto& index : table->indexes) {
      if (index->relation_id == relation) return {table.get(), index.get()};
    }
  }
  return {};
}

std::string LostRows::words_of(const LostBlock& lost) const {
  if (lost.relation == RelationId() && lost.blocks == 0)
    return concat(lost.words, ": it was searched, and all of its blocks were found");
  if (lost.relation == RelationId())
    return concat(lost.words, ": it was searched; blocks missing: ", lost.blocks, ", with ",
                  lost.records, " records of tables that nobody knows");
  Place place = find(lost.relation);
  if (place.table == nullptr)
    return concat(lost.words, ": ", lost.records, " records of relation ", lost.relation.value());
  TypeContext types;
  auto key = [&](const std::string& bytes) {
    return place.index == nullptr ? readable_key(*place.table, bytes, types)
                                  : readable_key(*place.table, *place.index, bytes, types);
  };
  std::string what = place.index == nullptr
                         ? concat("rows of table ", named(*place.table))
                         : concat("entries of index ", named(*place.table, *place.index));
  std::string range = concat("from ", key(lost.first_key));
  if (!lost.last_key.empty()) range += concat(" to ", key(lost.last_key));
  return concat(lost.words, ": ", lost.records, " ", what, " were left out, ", range);
}

// All tables are where a file does not tell any more whose blocks it had.
bool LostRows::is_concerned(const TableDescriptor& table) const {
  return has_rows(table) && std::any_of(lost_.begin(), lost_.end(), [&](const LostBlock& lost) {
           if (lost.relation == RelationId()) return lost.blocks != 0;
           return table.relation_id == lost.relation ||
                  std::any_of(table.indexes.begin(), table.indexes.end(), [&](const auto& index) {
                    return index->relation_id == lost.relation;
                  });
         });
}

void LostRows::tell_of_foreign_keys(const TableDescriptor& table) const {
  for (const IncomingReference& reference : table.referenced_by) {
    const TableDescriptor* from = catalog_->find_table(reference.table);
    const ConstraintDescriptor* constraint =
        from == nullptr ? nullptr : from->find_constraint(reference.constraint);
    if (constraint == nullptr) continue;
    write_server_log(
        LogLevel::warning,
        concat("rows of table ", named(*from), " may refer by foreign key \"", constraint->name,
               "\" to rows of ", named(table), " that were left out"));
  }
}

void LostRows::tell() const {
  for (size_t i = 0; i < std::min(lost_.size(), most_told); ++i) {
    write_server_log(LogLevel::warning, words_of(lost_[i]), {},
                     i != 0 ? std::string_view()
                            : "What was changed since the checkpoint is there, for it is in the "
                              "log. A new checkpoint is made.");
  }
  if (lost_.size() > most_told) {
    write_server_log(LogLevel::warning,
                     concat(lost_.size() - most_told, " more blocks were left out"));
  }
  for (const auto& [oid, table] : catalog_->tables()) {
    if (is_concerned(*table)) tell_of_foreign_keys(*table);
  }
}

void LostRows::mend_indexes(WorkerContext& worker, const IndexMending::Settle& settle) const {
  IndexMending mending(worker, settle);
  for (const auto& [oid, table] : catalog_->tables()) {
    if (!is_concerned(*table)) continue;
    for (const auto& index : table->indexes) {
      if (index->is_primary_tree()) continue;
      MendedIndex mended = mending.mend(*table, *index);
      write_server_log(LogLevel::log, concat("index ", named(*table, *index),
                                             " agrees with its table again: ", mended.removed,
                                             " entries removed, ", mended.added, " added"));
    }
  }
}

}  // namespace pgsilo
