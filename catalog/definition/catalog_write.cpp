#include "catalog/definition/catalog_write.h"

#include "catalog/definition/object_names.h"
#include "catalog/named_relation.h"
#include "sql/internal_error.h"
#include "sql/sql_error.h"
#include "sql/types/text.h"
#include "storage/relation/relation.h"
#include "storage/relation/relation_directory.h"
#include "storage/transaction/transaction_scan.h"

namespace pgsilo {

namespace {
constexpr RelationId type_name_index(2704);  // pg_type_typname_nsp_index
}  // namespace

CatalogWrite::CatalogWrite(DataDefinition& definition)
    : definition_(definition),
      view_(definition.view_),
      transaction_(definition.transaction_),
      catalog_(view_.catalog()),
      rows_(catalog_.system_tables(), arena_),
      writer_(transaction_, catalog_.relations(), arena_) {
  // Catalog rows written by earlier steps of the statement are to be seen and written again.
  require_ok(transaction_.continue_statement());
}

Oid CatalogWrite::new_oid() {
  return catalog_.allocate_oid(transaction_.worker(), transaction_.waits());
}

void CatalogWrite::notice(SqlState state, std::string message, std::source_location place) {
  SqlError notice(Severity::notice, state, std::move(message), place);
  definition_.notices_.push_back(notice.diagnostic());
}

const SchemaDescriptor& CatalogWrite::own_temporary_schema() {
  const std::string& name = view_.name_temporary_schema();
  // Another session may have left it, empty.
  if (view_.temporary_schema() == nullptr) {
    SchemaDescriptor schema{new_oid(), name};
    writer_.insert(rows_.schema(schema, system_oid::role_postgres));
    view_.put_schema(std::move(schema));
  }
  return *view_.temporary_schema();
}

const SchemaDescriptor& CatalogWrite::creation_schema(std::string_view name,
                                                      RelationPersistence* persistence) {
  bool asked = *persistence == RelationPersistence::temporary;
  const SchemaDescriptor& schema =
      asked && name.empty() ? own_temporary_schema() : creation_schema(name);
  bool is_temporary = TemporarySchema::is_name(schema.name);
  if (asked && !is_temporary) {
    throw SqlError(sqlstate::invalid_table_definition,
                   "cannot create temporary relation in non-temporary schema");
  }
  if (is_temporary && *persistence == RelationPersistence::unlogged) {
    throw SqlError(sqlstate::invalid_table_definition,
                   "only temporary relations may be created in temporary schemas");
  }
  if (is_temporary) *persistence = RelationPersistence::temporary;
  return schema;
}

const SchemaDescriptor& CatalogWrite::creation_schema(std::string_view name) {
  if (name == TemporarySchema::alias || (name.empty() && view_.creates_temporary()))
    return own_temporary_schema();
  const SchemaDescriptor* schema = name.empty() ? view_.creation_schema() : view_.find_schema(name);
  if (schema == nullptr && name.empty()) {
    throw SqlError(sqlstate::invalid_schema_name, "no schema has been selected to create in");
  }
  if (schema == nullptr) throw undefined_schema(name);
  if (view_.is_foreign_temporary(*schema)) {
    throw SqlError(sqlstate::invalid_table_definition,
                   "cannot create relations in temporary schemas of other sessions");
  }
  return *schema;
}

// Whoever drops it locks it before he looks what it has.
void CatalogWrite::rest_on_schema(Oid schema) {
  const SystemTable& schemas = catalog_.system_tables().table(system_oid::pg_namespace);
  if (!writer_.hold(schemas, {Datum::of_int(schema)}))
    throw EngineOutcome{TransactionStatus::conflict_record};
}

bool CatalogWrite::skip_missing_schema(std::string_view schema, bool if_exists) {
  if (schema.empty() || view_.find_schema(schema) != nullptr) return false;
  report_missing_schema(schema, if_exists);
  return true;
}

void CatalogWrite::report_missing_schema(std::string_view schema, bool if_exists) {
  if (!if_exists) throw undefined_schema(schema);
  notice(sqlstate::successful_completion,
         concat("schema \"", schema, "\" does not exist, skipping"));
}

void CatalogWrite::remove_row(system_oid::Table table, std::initializer_list<int64_t> key) {
  std::vector<Datum> values;
  for (int64_t value : key) values.push_back(Datum::of_int(value));
  writer_.remove(catalog_.system_tables().table(table), values);
}

namespace {

std::vector<Datum> as_key(std::initializer_list<int64_t> parts) {
  std::vector<Datum> key;
  key.reserve(parts.size());
  for (int64_t part : parts) key.push_back(Datum::of_int(part));
  return key;
}

// Everything that begins with it.
struct PrefixRange {
  ByteBuffer first;
  ByteBuffer behind;
  PrefixRange(const KeyLayout& key, std::span<const Datum> prefix) {
    key.encode_prefix(prefix, first);
    behind.append(first.view());
    behind.append("\xff");
  }
  KeyRange range() const {
    return {KeyBound::inclusive(first.view()), KeyBound::exclusive(behind.view())};
  }
};

}  // namespace

ReadPurpose CatalogWrite::locked_rows_purpose() const {
  return transaction_.mode() == TransactionMode::interactive ? ReadPurpose::passing
                                                             : ReadPurpose::plain;
}

CatalogWrite::Dependency CatalogWrite::dependency_of_row(std::string_view row) const {
  const SystemTable& table = catalog_.system_tables().table(system_oid::pg_depend);
  auto oid = [&](SystemColumn column) { return static_cast<Oid>(table.get(row, column).i64); };
  auto catalog = [&](SystemColumn column) { return static_cast<system_oid::Table>(oid(column)); };
  return {{catalog(pg_depend_classid), oid(pg_depend_objid)},
          {catalog(pg_depend_refclassid), oid(pg_depend_refobjid)},
          static_cast<int32_t>(table.get(row, pg_depend_refobjsubid).i64),
          static_cast<char>(table.get(row, pg_depend_deptype).i64)};
}

std::vector<CatalogWrite::Dependency> CatalogWrite::dependencies_on(ObjectAddress object,
                                                                    int32_t part) const {
  const SystemTable& table = catalog_.system_tables().table(system_oid::pg_depend);
  const SystemTable::Index& index = table.secondary_indexes().front();
  std::vector<Datum> prefix = as_key({object.catalog, object.oid});
  if (part != 0) prefix.push_back(Datum::of_int(part));
  PrefixRange range(index.key, prefix);
  require_ok(transaction_.continue_statement());
  Arena memory;
  RowBuffer entries(memory);
  RowBuffer rows(memory);
  TransactionScan scan(transaction_, *catalog_.relations().find(index.relation_id), range.range(),
                       ScanDirection::forward, entries, locked_rows_purpose());
  std::vector<Dependency> found;
  RowRef entry;
  TransactionStatus status;
  while ((status = scan.next(&entry)) == TransactionStatus::ok) {
    RowRef row;
    require_ok(transaction_.get_via_entry(*catalog_.relations().find(table.relation_id()), entry,
                                          rows, &row));
    found.push_back(dependency_of_row(row.row));
  }
  if (status != TransactionStatus::not_found) require_ok(status);
  return found;
}

std::vector<CatalogWrite::Dependency> CatalogWrite::dependencies_of(ObjectAddress object) const {
  const SystemTable& table = catalog_.system_tables().table(system_oid::pg_depend);
  PrefixRange range(table.primary_key(), as_key({object.catalog, object.oid}));
  require_ok(transaction_.continue_statement());
  Arena memory;
  RowBuffer buffer(memory);
  TransactionScan scan(transaction_, *catalog_.relations().find(table.relation_id()), range.range(),
                       ScanDirection::forward, buffer, locked_rows_purpose());
  std::vector<Dependency> found;
  RowRef row;
  TransactionStatus status;
  while ((status = scan.next(&row)) == TransactionStatus::ok)
    found.push_back(dependency_of_row(row.row));
  if (status != TransactionStatus::not_found) require_ok(status);
  return found;
}

void CatalogWrite::remove_comments(ObjectAddress object, int32_t part) {
  const SystemTable& comments = catalog_.system_tables().table(system_oid::pg_description);
  std::vector<Datum> prefix = as_key({object.oid, object.catalog});
  if (part != 0) prefix.push_back(Datum::of_int(part));
  PrefixRange range(comments.primary_key(), prefix);
  require_ok(transaction_.continue_statement());
  Arena memory;
  RowBuffer buffer(memory);
  TransactionScan scan(transaction_, *catalog_.relations().find(comments.relation_id()),
                       range.range(), ScanDirection::forward, buffer, ReadPurpose::plain);
  std::vector<int64_t> parts;
  RowRef row;
  TransactionStatus status;
  while ((status = scan.next(&row)) == TransactionStatus::ok)
    parts.push_back(comments.get(row.row, pg_description_objsubid).i64);
  if (status != TransactionStatus::not_found) require_ok(status);
  for (int64_t each : parts)
    remove_row(system_oid::pg_description, {object.oid, object.catalog, each});
}

bool CatalogWrite::type_name_taken(Oid schema, std::string_view name) {
  std::string row;
  return writer_.find_by_index(catalog_.system_tables().table(system_oid::pg_type), type_name_index,
                               {Datum::of_bytes(name), Datum::of_int(schema)}, &row);
}

std::string CatalogWrite::array_type_name(Oid schema, std::string_view table) {
  const SystemTable& types = catalog_.system_tables().table(system_oid::pg_type);
  std::string name(table);
  std::string row;
  do {
    name = make_object_name("_" + name, {}, {});
  } while (writer_.find_by_index(types, type_name_index,
                                 {Datum::of_bytes(name), Datum::of_int(schema)}, &row));
  return name;
}

void CatalogWrite::move_array_type(Oid schema, std::string_view name, bool for_relation) {
  const SystemTable& types = catalog_.system_tables().table(system_oid::pg_type);
  std::string row;
  if (!writer_.find_by_index(types, type_name_index, {Datum::of_bytes(name), Datum::of_int(schema)},
                             &row)) {
    return;
  }
  if (types.get(row, pg_type_typelem).i64 == 0) {
    SqlError taken(sqlstate::duplicate_object, concat("type \"", name, "\" already exists"));
    if (!for_relation) throw taken;
    throw std::move(taken).hint(
        "A relation has an associated type of the same name, so you must use a name that "
        "doesn't conflict with "
        "any existing type.");
  }
  SystemRow moved(types);
  moved.assign(row);
  std::string new_name = array_type_name(schema, name);
  moved.set(pg_type_typname, std::string_view(new_name));
  writer_.update(moved);
  auto element = static_cast<Oid>(types.get(row, pg_type_typelem).i64);
  if (view_.find_type(element) == nullptr) return;  // a table's row type
  TypeDraft owner = type_draft(element);
  owner->array_name = new_name;
  finish_type(std::move(owner));
}

std::string CatalogWrite::shown_name(const TableDescriptor& relation) const {
  const TableDescriptor* found = view_.find_table({}, relation.name);
  bool is_visible = found != nullptr && found->oid == relation.oid;
  Arena memory;
  std::string_view name = quote_identifier(relation.name, memory);
  if (is_visible) return std::string(name);
  return concat(quote_identifier(relation.schema_name, memory), ".", name);
}

std::string CatalogWrite::shown_relation(const TableDescriptor& relation) const {
  std::string_view kind = relation.kind == RelationKind::view       ? "view "
                          : relation.kind == RelationKind::sequence ? "sequence "
                                                                    : "table ";
  return concat(kind, shown_name(relation));
}

void CatalogWrite::announce_drop(std::string_view dropped, std::span<const Dependent> dependents,
                                 bool cascade) {
  std::string detail;
  for (const Dependent& each : dependents) {
    if (!detail.empty()) detail += "\n";
    detail += cascade ? concat("drop cascades to ", each.object)
                      : concat(each.object, " depends on ", each.needed);
  }
  size_t count = dependents.size();
  if (count != 0 && !cascade) {
    std::string_view what = dropped.empty() ? "desired object(s)" : dropped;
    std::string_view it = dropped.empty() ? "them" : "it";
    throw SqlError(sqlstate::dependent_objects_still_exist,
                   concat("cannot drop ", what, " because other objects depend on ", it))
        .detail(detail)
        .hint("Use DROP ... CASCADE to drop the dependent objects too.");
  }
  if (count == 1) notice(sqlstate::successful_completion, detail);
  if (count > 1) {
    notice(sqlstate::successful_completion, concat("drop cascades to ", count, " other objects"));
    definition_.notices_.back().detail = detail;
  }
}

CatalogWrite::TypeDraft CatalogWrite::new_type(const DataDefinition::ObjectName& name) {
  const SchemaDescriptor& schema = creation_schema(name.schema);
  if (schema.oid == system_oid::schema_pg_catalog) {
    throw SqlError(sqlstate::insufficient_privilege,
                   concat("permission denied for schema ", schema.name));
  }
  move_array_type(schema.oid, name.name, /*for_relation=*/false);
  rest_on_schema(schema.oid);
  auto type = std::make_shared<TypeDescriptor>();
  type->address.oid = new_oid();
  type->schema = schema.oid;
  type->schema_name = schema.name;
  type->name = name.name;
  type->array_oid = new_oid();
  type->array_name = array_type_name(schema.oid, name.name);
  return type;
}

void CatalogWrite::insert_type(TypeDraft type) {
  writer_.insert(rows_.user_type(*type));
  writer_.insert(rows_.array_type(*type));
  view_.put_object(std::move(type));
}

CatalogWrite::TypeDraft CatalogWrite::type_draft(Oid type) {
  std::shared_ptr<const TypeDescriptor> known = view_.find_type(type);
  // Whoever called resolved the name against this very view.
  PGSILO_REQUIRE(known != nullptr);
  writer_.lock(catalog_.system_tables().table(system_oid::pg_type), {Datum::of_int(type)});
  if (known->record.record != nullptr)
    require_ok(transaction_.use_descriptor(known->record.record, known->record.tid));
  return std::make_shared<TypeDescriptor>(*known);
}

void CatalogWrite::finish_type(TypeDraft draft) {
  draft->record = {};
  writer_.update(rows_.user_type(*draft));
  view_.put_object(std::move(draft));
}

std::shared_ptr<const UserType> CatalogWrite::hold_type(Oid type) {
  std::shared_ptr<const UserType> found = share_user_type(type);
  if (found == nullptr) return nullptr;
  TypeDraft draft = type_draft(found->type().oid);
  // Once is enough for a transaction.
  if (draft->record.record != nullptr) finish_type(std::move(draft));
  return found;
}

void CatalogWrite::remove_dependencies(ObjectAddress object) {
  for (const Dependency& use : dependencies_of(object)) {
    remove_row(system_oid::pg_depend, {use.object.catalog, use.object.oid, 0,
                                       use.referenced.catalog, use.referenced.oid, use.part});
  }
  require_ok(transaction_.continue_statement());
}

void CatalogWrite::remove_domain_constraint(const DomainConstraint& constraint) {
  ObjectAddress address{system_oid::pg_constraint, constraint.oid};
  remove_dependencies(address);
  remove_comments(address);
  remove_row(system_oid::pg_constraint, {constraint.oid});
}

void CatalogWrite::remove_type(const TypeDescriptor& type) {
  for (const EnumLabel& label : type.labels.all()) remove_row(system_oid::pg_enum, {label.oid});
  if (type.domain != nullptr) {
    for (const DomainConstraint& each : type.domain->constraints) remove_domain_constraint(each);
    remove_dependencies(type.address);
  }
  remove_comments({system_oid::pg_type, type.array_oid});
  remove_comments(type.address);
  remove_row(system_oid::pg_type, {type.array_oid});
  remove_row(system_oid::pg_type, {type.address.oid});
  view_.remove_object(type.address);
}

}  // namespace pgsilo
