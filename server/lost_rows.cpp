#include "server/lost_rows.h"

#include <algorithm>

#include "base/server_log.h"
#include "catalog/catalog_view.h"
#include "catalog/index_evaluator.h"
#include "server/block_words.h"
#include "sql/sql_error.h"

namespace pgsilo {
namespace {

bool has_rows(const TableDescriptor& table) {
  return table.kind == RelationKind::table && !table.is_system() &&
         table.persistence == RelationPersistence::permanent;
}

}  // namespace

std::string LostRows::words_of(const LostBlock& lost) const {
  if (lost.relation == RelationId() && lost.blocks == 0)
    return concat(lost.words, ": it was searched, and all of its blocks were found");
  if (lost.relation == RelationId())
    return concat(lost.words, ": it was searched; blocks missing: ", lost.blocks, ", with ",
                  lost.records, " records of tables that nobody knows");
  BlockWords words =
      words_of_block(*catalog_, lost.relation, lost.records, lost.first_key, lost.last_key);
  if (words.what.empty())
    return concat(lost.words, ": ", lost.records, " records of relation ", lost.relation.value());
  return concat(lost.words, ": ", words.what, " were left out, ", words.range);
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
        concat("rows of table ", quoted_name(*from), " may refer by foreign key \"",
               constraint->name, "\" to rows of ", quoted_name(table), " that were left out"));
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

void LostRows::mend_indexes(WorkerContext& worker, const WaitSettings& waits) const {
  IndexMending mending(worker, waits);
  CatalogView view(owner_);
  for (const auto& [oid, table] : catalog_->tables()) {
    if (!is_concerned(*table)) continue;
    for (const auto& index : table->indexes) {
      if (index->is_primary_tree()) continue;
      IndexEntries entries(*table, *index, owner_.index_evaluator(view, *table, *index));
      MendedIndex mended = mending.mend(*table, *index, entries);
      write_server_log(LogLevel::log, concat("index ", quoted_name(*table, *index),
                                             " agrees with its table again: ", mended.removed,
                                             " entries removed, ", mended.added, " added"));
    }
  }
}

}  // namespace pgsilo
