// How the catalog's rows are read into descriptors. Thread safety: as CatalogLoader.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "catalog/catalog_loader.h"
#include "catalog/system_tables.h"
#include "sql/sql_error.h"
#include "sql/types/array.h"
#include "storage/epoch/reclaimer.h"
#include "storage/record/row_buffer.h"
#include "storage/relation/relation.h"
#include "storage/relation/relation_directory.h"

namespace pgsilo {

inline std::vector<std::string> texts_of(Datum array) {
  std::vector<std::string> texts;
  if (array.null) return texts;
  ArrayReader reader(array);
  Datum value;
  while (reader.next(&value)) texts.emplace_back(value.bytes());
  return texts;
}

inline std::vector<int16_t> numbers_of(Datum array) {
  std::vector<int16_t> numbers;
  if (array.null) return numbers;
  ArrayReader reader(array);
  Datum value;
  while (reader.next(&value)) numbers.push_back(static_cast<int16_t>(value.i64));
  return numbers;
}

// Rows that name one another were written together.
template <typename Map>
auto& existing(Map& map, Oid oid, std::string_view what) {
  auto found = map.find(oid);
  if (found == map.end()) {
    throw SqlError(sqlstate::data_corrupted, concat("the catalog has no row of ", what,
                                                    " that others name: the one with OID ", oid));
  }
  return found->second;
}

// The columns of one row, by name.
class RowReader {
 public:
  RowReader(const SystemTable& table, std::string_view row) : table_(table), row_(row) {}
  Datum get(SystemColumn column) const { return table_.get(row_, column); }
  Oid oid(SystemColumn column) const { return static_cast<Oid>(get(column).i64); }
  int16_t int2(SystemColumn column) const { return static_cast<int16_t>(get(column).i64); }
  int32_t int4(SystemColumn column) const { return static_cast<int32_t>(get(column).i64); }
  bool boolean(SystemColumn column) const { return get(column).as_bool(); }
  char character(SystemColumn column) const { return static_cast<char>(get(column).i64); }
  std::string text(SystemColumn column) const {
    Datum value = get(column);
    return value.null ? std::string() : std::string(value.bytes());
  }

 private:
  const SystemTable& table_;
  std::string_view row_;
};

// visit(RowReader, CatalogRecord) for every row that exists.
template <typename Visit>
void CatalogLoader::for_each_row(system_oid::Table table, Visit visit) {
  const SystemTable& system = tables_.table(table);
  Relation* relation = relations_.find(system.relation_id());
  PGSILO_CHECK(relation != nullptr);
  Pin pin(handle_);
  Arena arena;
  RowBuffer buffer(arena);
  relation->tree().for_each([&](Record* record) {
    TidWord seen = record->stable_read(buffer);
    if (seen.is_absent() || seen.is_obsolete()) return;
    PGSILO_CHECK(system.layout().is_valid(buffer.bytes()));
    visit(RowReader(system, buffer.bytes()), CatalogRecord{record, seen.tid()});
  });
}

}  // namespace pgsilo
