#include "catalog/catalog_loader.h"

#include <algorithm>

#include "base/arena.h"
#include "catalog/catalog.h"
#include "catalog/descriptor_builder.h"
#include "catalog/loaded_rows.h"
#include "catalog/relation_encoding.h"
#include "catalog/sequence/sequence_state.h"
#include "sql/sql_error.h"
#include "sql/types/array.h"
#include "storage/epoch/reclaimer.h"
#include "storage/record/row_buffer.h"
#include "storage/relation/relation.h"
#include "storage/relation/relation_directory.h"

namespace pgsilo {

namespace {

ForeignKeyDescriptor foreign_key_of(const RowReader& row) {
  ForeignKeyDescriptor key;
  key.referenced_table = row.oid(pg_constraint_confrelid);
  key.referenced_columns = numbers_of(row.get(pg_constraint_confkey));
  key.match = static_cast<ReferentialMatch>(row.character(pg_constraint_confmatchtype));
  key.on_update = static_cast<ReferentialAction>(row.character(pg_constraint_confupdtype));
  key.on_delete = static_cast<ReferentialAction>(row.character(pg_constraint_confdeltype));
  key.on_delete_columns = numbers_of(row.get(pg_constraint_confdelsetcols));
  return key;
}

// What a row of pg_type says of a domain.
DomainDescriptor domain_of(const RowReader& row) {
  DomainDescriptor domain;
  domain.base = row.oid(pg_type_typbasetype);
  domain.typmod = row.int4(pg_type_typtypmod);
  domain.dimensions = row.int4(pg_type_typndims);
  domain.collation = row.oid(pg_type_typcollation);
  domain.not_null = row.boolean(pg_type_typnotnull);
  domain.default_value = StoredExpression::read(row.text(pg_type_typdefaultbin));
  domain.default_text = row.text(pg_type_typdefault);
  return domain;
}

}  // namespace

Relation* CatalogLoader::relation_of(RelationId id, RelationPersistence persistence) {
  RelationOptions options;
  options.logged = persistence == RelationPersistence::permanent;
  Relation& relation = relations_.get_or_create(id, options);
  auto encoding = encodings_.find(id);
  relation.set_encoding(encoding == encodings_.end() ? first_encoding : encoding->second);
  return &relation;
}

void CatalogLoader::check_encodings() {
  Pin pin(handle_);
  Arena arena;
  RowBuffer buffer(arena);
  relations_.find(relation_encodings)->tree().for_each([&](Record* record) {
    TidWord seen = record->stable_read(buffer);
    if (seen.is_absent() || seen.is_obsolete()) return;
    RelationEncoding encoding = encoding_of_row(buffer.bytes());
    RelationId relation = relation_of_encoding_key(record->key());
    if (is_known(encoding)) {
      encodings_[relation] = encoding;
      return;
    }
    throw SqlError(
        Severity::fatal, sqlstate::feature_not_supported,
        concat("relation ", relation.value(), " has encoding ", encoding.keys, " of keys and ",
               encoding.rows, " of rows, this program knows those up to ", newest_encoding.keys,
               " and ", newest_encoding.rows));
  });
}

void CatalogLoader::read_classes() {
  for_each_row(system_oid::pg_class, [&](const RowReader& row, CatalogRecord record) {
    auto persistence = static_cast<RelationPersistence>(row.character(pg_class_relpersistence));
    RelationId relation(row.oid(pg_class_relfilenode));
    Oid oid = row.oid(pg_class_oid);
    if (row.character(pg_class_relkind) == static_cast<char>(RelationKind::index)) {
      index_names_[oid] = {row.text(pg_class_relname), relation,
                           texts_of(row.get(pg_class_reloptions))};
      return;
    }
    auto table = std::make_shared<TableDescriptor>();
    table->oid = oid;
    table->schema = row.oid(pg_class_relnamespace);
    table->name = row.text(pg_class_relname);
    table->row_type = row.oid(pg_class_reltype);
    table->kind = static_cast<RelationKind>(row.character(pg_class_relkind));
    table->persistence = persistence;
    table->relation_id = relation;
    // A view has no rows: its tree is there, and empty, for those who lock or size any relation.
    if (table->kind == RelationKind::view && table->is_system())
      table->relation_id = RelationId(oid);
    table->relation = relation_of(table->relation_id, persistence);
    table->options = texts_of(row.get(pg_class_reloptions));
    table->record = table->type_record = record;
    table->statistics->set_counted();
    by_oid_[oid] = std::move(table);
  });
}

void CatalogLoader::read_attributes() {
  for_each_row(system_oid::pg_attribute, [&](const RowReader& row, CatalogRecord) {
    auto found = by_oid_.find(row.oid(pg_attribute_attrelid));
    if (found == by_oid_.end()) {
      Oid type = row.oid(pg_attribute_atttypid);
      index_attributes_[row.oid(pg_attribute_attrelid)].push_back(
          {.value = {},
           .name = row.text(pg_attribute_attname),
           .type = type,
           .user_type = share_user_type(type),
           .typmod = row.int4(pg_attribute_atttypmod),
           .collation = row.oid(pg_attribute_attcollation)});
      return;
    }
    ColumnDescriptor column;
    column.name = row.text(pg_attribute_attname);
    column.number = row.int2(pg_attribute_attnum);
    column.type = row.oid(pg_attribute_atttypid);
    column.user_type = share_user_type(column.type);
    column.typmod = row.int4(pg_attribute_atttypmod);
    column.collation = row.oid(pg_attribute_attcollation);
    column.not_null = row.boolean(pg_attribute_attnotnull);
    column.dropped = row.boolean(pg_attribute_attisdropped);
    if (const TypeInfo* type = find_type(column.type)) {
      column.statistics_target = row.int4(pg_attribute_attstattarget);
      char storage = row.character(pg_attribute_attstorage);
      if (storage != type->storage) column.storage = storage;
    }
    column.identity = static_cast<IdentityKind>(row.character(pg_attribute_attidentity));
    column.generated = row.character(pg_attribute_attgenerated) == 's';
    if (row.boolean(pg_attribute_atthasmissing)) {
      ArrayReader reader(row.get(pg_attribute_attmissingval));
      Datum value;
      if (reader.next(&value)) set_missing(column, value);
    }
    std::vector<uint8_t>& widths = dropped_widths_[found->first];
    // Keys are in order of number, so columns come in order.
    widths.push_back(column.dropped ? static_cast<uint8_t>(row.int2(pg_attribute_attlen)) : 0);
    found->second->columns.push_back(std::move(column));
    PGSILO_CHECK(found->second->columns.size() ==
                 static_cast<size_t>(row.int2(pg_attribute_attnum)));
  });
}

void CatalogLoader::read_defaults() {
  for_each_row(system_oid::pg_attrdef, [&](const RowReader& row, CatalogRecord) {
    TableDescriptor& table = *existing(by_oid_, row.oid(pg_attrdef_adrelid), "a table");
    ColumnDescriptor& column =
        table.columns.at(static_cast<size_t>(row.int2(pg_attrdef_adnum)) - 1);
    column.default_oid = row.oid(pg_attrdef_oid);
    column.default_value = StoredExpression::read(row.text(pg_attrdef_adbin));
    defaults_[column.default_oid] = &column;
  });
}

void CatalogLoader::read_indexes() {
  for_each_row(system_oid::pg_index, [&](const RowReader& row, CatalogRecord) {
    auto index = std::make_shared<IndexDescriptor>();
    index->oid = row.oid(pg_index_indexrelid);
    index->table_oid = row.oid(pg_index_indrelid);
    IndexName& named = existing(index_names_, index->oid, "an index");
    index->name = named.name;
    index->options = named.options;
    index->relation_id = named.relation;
    index->unique = row.boolean(pg_index_indisunique);
    index->primary = row.boolean(pg_index_indisprimary);
    index->nulls_not_distinct = row.boolean(pg_index_indnullsnotdistinct);
    index->valid = row.boolean(pg_index_indisvalid);
    std::vector<int16_t> columns = numbers_of(row.get(pg_index_indkey));
    std::vector<int16_t> options = numbers_of(row.get(pg_index_indoption));
    for (size_t i = 0; i < columns.size(); ++i) {
      index->columns.push_back({columns[i], (options.at(i) & 1) != 0, (options.at(i) & 2) != 0});
    }
    index->predicate = StoredExpression::read(row.text(pg_index_indpred));
    read_index_expressions(StoredExpression::read_list(row.text(pg_index_indexprs)), index.get());
    if (index->computes()) computing_indexes_[index->oid] = index.get();
    if (!index->primary) {
      index->relation = relation_of(index->relation_id,
                                    existing(by_oid_, index->table_oid, "a table")->persistence);
    }
    indexes_[index->table_oid].push_back(std::move(index));
  });
}

void CatalogLoader::read_index_expressions(const std::vector<StoredExpression>& values,
                                           IndexDescriptor* index) {
  for (size_t i = 0; i < index->columns.size(); ++i) {
    if (index->columns[i].number != 0) continue;
    std::vector<IndexExpression>& attributes = existing(index_attributes_, index->oid, "an index");
    if (index->expressions.size() == values.size()) throw damaged_expression();
    IndexExpression expression = attributes.at(i);
    expression.value = values[index->expressions.size()];
    index->expressions.push_back(std::move(expression));
  }
}

void CatalogLoader::read_constraints() {
  for_each_row(system_oid::pg_constraint, [&](const RowReader& row, CatalogRecord) {
    Oid table = row.oid(pg_constraint_conrelid);
    if (table == invalid_oid) return;  // a domain's
    ConstraintDescriptor constraint;
    constraint.oid = row.oid(pg_constraint_oid);
    constraint.name = row.text(pg_constraint_conname);
    constraint.type = static_cast<ConstraintType>(row.character(pg_constraint_contype));
    constraint.columns = numbers_of(row.get(pg_constraint_conkey));
    constraint.check = StoredExpression::read(row.text(pg_constraint_conbin));
    constraint.index = row.oid(pg_constraint_conindid);
    constraint.deferrable = row.boolean(pg_constraint_condeferrable);
    constraint.initially_deferred = row.boolean(pg_constraint_condeferred);
    constraint.validated = row.boolean(pg_constraint_convalidated);
    if (constraint.type == ConstraintType::foreign_key) {
      constraint.foreign_key = foreign_key_of(row);
      existing(by_oid_, constraint.foreign_key->referenced_table, "a table")
          ->referenced_by.push_back({table, constraint.oid});
    } else {
      for (const std::shared_ptr<IndexDescriptor>& index : indexes_[table]) {
        if (index->oid == constraint.index) index->constraint = constraint.oid;
      }
    }
    existing(by_oid_, table, "a table")->constraints.push_back(std::move(constraint));
  });
}

// What is done with their values, of a type behind those that it is made of.
void CatalogLoader::make_values(TypeDescriptor& type) {
  if (type.values != nullptr) return;
  Oid oid = type.address.oid;
  if (type.domain == nullptr) {
    type.values = UserType::make_enum(oid, type.array_oid, type.name);
    return;
  }
  // By the type itself where arrays of it are what the domain is over.
  auto beneath = types_.find(element_of(type.domain->base));
  if (beneath != types_.end()) make_values(*beneath->second);
  type.values = UserType::make_domain(oid, type.array_oid, type.name, type.domain->base,
                                      type.domain->typmod, type.domain->collation);
}

Oid CatalogLoader::element_of(Oid type) const {
  auto found = array_elements_.find(type);
  return found != array_elements_.end() ? found->second : type;
}

void CatalogLoader::read_domain_constraints() {
  std::unordered_map<Oid, std::vector<DomainConstraint>> constraints;  // by type
  for_each_row(system_oid::pg_constraint, [&](const RowReader& row, CatalogRecord) {
    Oid type = row.oid(pg_constraint_contypid);
    if (type == invalid_oid) return;
    DomainConstraint constraint;
    constraint.oid = row.oid(pg_constraint_oid);
    constraint.name = row.text(pg_constraint_conname);
    constraint.check = StoredExpression::read(row.text(pg_constraint_conbin));
    constraint.validated = row.boolean(pg_constraint_convalidated);
    constraints[type].push_back(std::move(constraint));
  });
  for (auto& [oid, of_type] : constraints) {
    TypeDescriptor& type = *existing(types_, oid, "a domain");
    auto domain = std::make_shared<DomainDescriptor>(*type.domain);
    std::ranges::sort(of_type, {}, &DomainConstraint::name);
    domain->constraints = std::move(of_type);
    type.domain = std::move(domain);
  }
}

// The rows of tables, enums, domains, and arrays of these.
void CatalogLoader::read_types() {
  std::unordered_map<Oid, std::string> array_names;
  for_each_row(system_oid::pg_type, [&](const RowReader& row, CatalogRecord record) {
    Oid oid = row.oid(pg_type_oid);
    if (Oid relation = row.oid(pg_type_typrelid); relation != invalid_oid) {
      TableDescriptor& table = *existing(by_oid_, relation, "a table");
      table.array_type = row.oid(pg_type_typarray);
      table.type_record = record;
    } else if (char kind = row.character(pg_type_typtype); kind == 'e' || kind == 'd') {
      auto type = std::make_shared<TypeDescriptor>();
      type->address.oid = oid;
      type->schema = row.oid(pg_type_typnamespace);
      type->name = row.text(pg_type_typname);
      type->owner = row.oid(pg_type_typowner);
      type->array_oid = row.oid(pg_type_typarray);
      type->record = record;
      if (kind == 'd') type->domain = std::make_shared<DomainDescriptor>(domain_of(row));
      types_[oid] = std::move(type);
    } else if (oid >= Catalog::first_user_oid) {
      array_names[oid] = row.text(pg_type_typname);
      array_elements_[oid] = row.oid(pg_type_typelem);
    }
  });
  for (auto& [oid, type] : types_) {
    type->array_name = existing(array_names, type->array_oid, "an array type");
    make_values(*type);
  }
}

void CatalogLoader::read_enum_labels() {
  std::unordered_map<Oid, std::vector<EnumLabel>> labels;  // by type
  for_each_row(system_oid::pg_enum, [&](const RowReader& row, CatalogRecord) {
    auto order = static_cast<float>(row.get(pg_enum_enumsortorder).f64);
    labels[row.oid(pg_enum_enumtypid)].push_back(
        {row.oid(pg_enum_oid), enum_position(order), row.text(pg_enum_enumlabel)});
  });
  for (auto& [oid, of_type] : labels)
    existing(types_, oid, "an enum")->labels = EnumLabels(std::move(of_type));
}

std::unordered_map<uint32_t, CatalogLoader::SequenceRow> CatalogLoader::read_sequence_states() {
  std::unordered_map<uint32_t, SequenceRow> rows;
  Pin pin(handle_);
  Arena arena;
  RowBuffer buffer(arena);
  relations_.find(Catalog::sequence_states)->tree().for_each([&](Record* record) {
    TidWord seen = record->stable_read(buffer);
    if (seen.is_absent() || seen.is_obsolete()) return;
    rows[SequenceState::relation_of_row(record->key()).value()] = {
        SequenceState::position_of_row(buffer.bytes()), seen.tid().epoch()};
  });
  return rows;
}

void CatalogLoader::read_sequences() {
  Relation& states = *relations_.find(Catalog::sequence_states);
  std::unordered_map<uint32_t, SequenceRow> rows = read_sequence_states();
  for_each_row(system_oid::pg_sequence, [&](const RowReader& row, CatalogRecord) {
    TableDescriptor& table = *existing(by_oid_, row.oid(pg_sequence_seqrelid), "a table");
    auto sequence = std::make_shared<SequenceDescriptor>();
    SequenceDefinition& definition = sequence->definition;
    definition.type = row.oid(pg_sequence_seqtypid);
    definition.start = row.get(pg_sequence_seqstart).i64;
    definition.increment = row.get(pg_sequence_seqincrement).i64;
    definition.max_value = row.get(pg_sequence_seqmax).i64;
    definition.min_value = row.get(pg_sequence_seqmin).i64;
    definition.cache = row.get(pg_sequence_seqcache).i64;
    definition.cycles = row.boolean(pg_sequence_seqcycle);
    const SequenceRow& stands = existing(rows, table.relation_id.value(), "a sequence's position");
    sequence->state =
        std::make_shared<SequenceState>(*table.relation, states, stands.position, stands.epoch);
    sequences_[table.oid] = sequence;
    table.sequence = std::move(sequence);
  });
}

void CatalogLoader::read_rules() {
  for_each_row(system_oid::pg_rewrite, [&](const RowReader& row, CatalogRecord) {
    auto view = std::make_shared<ViewDescriptor>();
    view->rule = row.oid(pg_rewrite_oid);
    view->query = row.text(pg_rewrite_ev_action);
    existing(by_oid_, row.oid(pg_rewrite_ev_class), "a view")->view = std::move(view);
  });
}

void CatalogLoader::read_dependencies() {
  for_each_row(system_oid::pg_depend, [&](const RowReader& row, CatalogRecord) {
    Oid object = row.oid(pg_depend_objid), referenced = row.oid(pg_depend_refobjid);
    auto part = static_cast<int16_t>(row.int4(pg_depend_refobjsubid));
    if (row.oid(pg_depend_classid) == system_oid::pg_attrdef) {
      // Trees say themselves what they rest on.
      ColumnDescriptor& column = *existing(defaults_, object, "a default");
      if (part != 0 && part != column.number) column.read_columns.push_back(part);
      StoredExpression& value = column.default_value;
      if (value.is_sql()) value.uses.sequences.push_back(referenced);
    }
    if (row.oid(pg_depend_classid) != system_oid::pg_class) return;
    if (auto index = computing_indexes_.find(object); index != computing_indexes_.end()) {
      if (part != 0) index->second->read_columns.push_back(part);
      return;
    }
    SequenceDescriptor& sequence = *existing(sequences_, object, "a sequence");
    sequence.owner_table = referenced;
    sequence.owner_column = part;
    sequence.is_identity = row.character(pg_depend_deptype) == 'i';
    if (!sequence.is_identity) return;
    existing(by_oid_, referenced, "a table")
        ->columns.at(static_cast<size_t>(sequence.owner_column) - 1)
        .identity_sequence = object;
  });
}

std::shared_ptr<const CatalogSnapshot> CatalogLoader::load(uint64_t version) {
  CatalogSnapshotBuilder builder;
  std::unordered_map<Oid, std::string> schema_names;
  for_each_row(system_oid::pg_namespace, [&](const RowReader& row, CatalogRecord) {
    SchemaDescriptor schema{row.oid(pg_namespace_oid), row.text(pg_namespace_nspname)};
    schema_names[schema.oid] = schema.name;
    builder.put_schema(std::move(schema));
  });
  check_encodings();
  read_classes();
  read_types();
  read_enum_labels();
  read_domain_constraints();
  read_attributes();
  read_defaults();
  read_indexes();
  read_constraints();
  read_sequences();
  read_rules();
  read_statistics();
  read_dependencies();
  for (auto& [oid, type] : types_) {
    type->schema_name = existing(schema_names, type->schema, "a schema");
    builder.put_object(type);
  }
  for (auto& [oid, table] : by_oid_) {
    table->schema_name = existing(schema_names, table->schema, "a schema");
    for (auto& each : table->combinations) {
      auto named = std::make_shared<StatisticsDescriptor>(*each);
      named->schema_name = table->schema_name;
      each = named;
      builder.put_object(std::move(named));
    }
    const std::vector<std::shared_ptr<IndexDescriptor>>& indexes = indexes_[oid];
    complete_descriptor(*table, {indexes.begin(), indexes.end()}, dropped_widths_[oid]);
    builder.put_table(std::move(table));
  }
  return builder.build(version);
}

std::vector<RelationId> CatalogLoader::live_relations() {
  std::vector<RelationId> live;
  for_each_row(system_oid::pg_class, [&](const RowReader& row, CatalogRecord) {
    // A primary key's index is its table's own tree.
    RelationId relation(row.oid(pg_class_relfilenode));
    if (relation.value() >= Catalog::first_user_oid) live.push_back(relation);
  });
  std::sort(live.begin(), live.end());
  live.erase(std::unique(live.begin(), live.end()), live.end());
  return live;
}

bool CatalogLoader::is_empty() {
  bool empty = true;
  for_each_row(system_oid::pg_class, [&](const RowReader&, CatalogRecord) { empty = false; });
  return empty;
}

}  // namespace pgsilo
