// Makes the built-in rows of a database those of this program: all of them in a new database, what
// is missing or different in one that an older program has made. Rows of users stay as they are.
//
// The database says which version of them it has. A start with another version compares all rows
// with visit_builtin_rows() and commits the difference and the version in one transaction, so
// a start that is cut short leaves the one version or the other, and may be begun again.
// Thread safety: start-up only, alone.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>

#include "base/arena.h"
#include "catalog/builtin_rows.h"
#include "catalog/catalog_writer.h"
#include "catalog/system_tables.h"

namespace pgsilo {

class Relation;
class RelationDirectory;
class Transaction;
class WorkerContext;
struct WaitSettings;

// Goes up by one whenever a built-in row changes, comes or goes: `unit_catalog` fails until then.
// 1: databases that do not say it.
inline constexpr uint32_t catalog_version = 25;

class CatalogUpgrade {
 public:
  // `control`: the catalog's relation of its own, in which the version is kept.
  CatalogUpgrade(const SystemTables& tables, RelationDirectory& relations, Relation& control,
                 WorkerContext& worker)
      : tables_(tables), relations_(relations), control_(control), worker_(worker) {}

  // Whether anything was committed; then it is not durable yet. Throws SqlError where the database
  // cannot be opened: a newer program has made it, or a user's object has a new built-in one's
  // name.
  bool run(const WaitSettings& waits);

 private:
  // 0: a new database.
  uint32_t stored_version(Transaction& transaction);
  void store_version(Transaction& transaction);
  void collect_wanted();
  void remove_others(CatalogWriter& writer);
  void insert_missing(CatalogWriter& writer, bool is_new);

  struct Wanted {
    std::string row;
    RowOrigin origin;
    bool is_there = false;
  };
  // By primary key.
  using WantedRows = std::unordered_map<std::string, Wanted>;

  const SystemTables& tables_;
  RelationDirectory& relations_;
  Relation& control_;
  WorkerContext& worker_;
  Arena arena_;
  std::map<Oid, WantedRows> wanted_;  // by table
};

}  // namespace pgsilo
