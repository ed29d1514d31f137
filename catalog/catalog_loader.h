// Catalog rows to descriptors: reads the system tables' trees whole and digests them into a
// snapshot. For start-up, before anybody else uses the trees. Thread safety: one thread alone.
#pragma once

#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/strong_id.h"
#include "catalog/catalog_snapshot.h"
#include "catalog/object/type_descriptor.h"
#include "catalog/relation_encoding.h"
#include "catalog/system_tables.h"

namespace pgsilo {

class ReclaimerHandle;
class RelationDirectory;

class CatalogLoader {
 public:
  CatalogLoader(const SystemTables& tables, RelationDirectory& relations, ReclaimerHandle& handle)
      : tables_(tables), relations_(relations), handle_(handle) {}

  // Creates the trees of relations that the rows name and that do not exist. Throws SqlError when
  // the keys or rows of one have an encoding that this program does not know.
  std::shared_ptr<const CatalogSnapshot> load(uint64_t version);
  // User relations named by rows of pg_class, ascending.
  std::vector<RelationId> live_relations();
  // A new database: not even built-in rows.
  bool is_empty();

 private:
  template <typename Visit>
  void for_each_row(system_oid::Table table, Visit visit);
  void check_encodings();
  void read_classes();
  void read_attributes();
  void read_defaults();
  void read_indexes();
  void read_index_expressions(const std::vector<StoredExpression>& values, IndexDescriptor* index);
  void read_constraints();
  void read_types();
  void make_values(TypeDescriptor& type);
  Oid element_of(Oid type) const;
  void read_enum_labels();
  void read_domain_constraints();
  void read_sequences();
  void read_rules();
  void read_statistics();
  void read_dependencies();
  struct SequenceRow {
    SequencePosition position;
    Epoch epoch;
  };
  std::unordered_map<uint32_t, SequenceRow> read_sequence_states();  // by relation
  Relation* relation_of(RelationId id, RelationPersistence persistence);

  const SystemTables& tables_;
  RelationDirectory& relations_;
  ReclaimerHandle& handle_;
  std::unordered_map<Oid, std::shared_ptr<TableDescriptor>> by_oid_;
  struct IndexName {
    std::string name;
    RelationId relation;
    std::vector<std::string> options;
  };
  std::map<RelationId, RelationEncoding> encodings_;  // those that are noted
  std::unordered_map<Oid, IndexName> index_names_;
  std::unordered_map<Oid, std::vector<std::shared_ptr<IndexDescriptor>>> indexes_;  // by table
  std::unordered_map<Oid, IndexDescriptor*> computing_indexes_;
  std::unordered_map<Oid, std::vector<IndexExpression>> index_attributes_;  // by index
  std::unordered_map<Oid, std::vector<uint8_t>> dropped_widths_;            // by table
  std::unordered_map<Oid, ColumnDescriptor*> defaults_;                     // by pg_attrdef row
  std::unordered_map<Oid, std::shared_ptr<SequenceDescriptor>> sequences_;
  std::unordered_map<Oid, std::shared_ptr<TypeDescriptor>> types_;  // that users made
  std::unordered_map<Oid, Oid> array_elements_;                     // of users' array types
};

}  // namespace pgsilo
