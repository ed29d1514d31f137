#include "catalog/definition/type_steps.h"

#include <algorithm>

#include "base/long_work.h"
#include "catalog/definition/definition_steps.h"
#include "catalog/named_relation.h"
#include "sql/limits.h"
#include "sql/sql_error.h"

namespace pgsilo {

namespace {

constexpr size_t label_work = 1024;
// Of DROP TYPE mood[], as the parser has it.
constexpr std::string_view array_suffix = "[]";

void check_label(std::string_view label) {
  if (label.size() <= limits::max_identifier_bytes) return;
  throw SqlError(sqlstate::invalid_name, concat("invalid enum label \"", label, "\""))
      .detail(concat("Labels must be ", limits::max_identifier_bytes, " bytes or less."));
}

[[noreturn]] void throw_no_label(std::string_view label) {
  throw SqlError(sqlstate::invalid_parameter_value,
                 concat("\"", label, "\" is not an existing enum label"));
}

[[noreturn]] void throw_label_exists(std::string_view label) {
  throw SqlError(sqlstate::duplicate_object, concat("enum label \"", label, "\" already exists"));
}

// Where a new label goes among the others, which are by position.
int32_t new_position(std::span<const EnumLabel> labels, const EnumValueDefinition& value) {
  if (labels.empty()) return enum_position(1);
  if (value.neighbor.empty()) return enum_position(enum_sort_order(labels.back().position) + 1);
  auto neighbor = std::ranges::find(labels, value.neighbor, &EnumLabel::name);
  if (neighbor == labels.end()) throw_no_label(value.neighbor);
  auto above = value.is_after ? neighbor + 1 : neighbor;
  if (above == labels.end()) return enum_position(enum_sort_order(labels.back().position) + 1);
  if (above == labels.begin()) return enum_position(enum_sort_order(above->position) - 1);
  float lower = enum_sort_order((above - 1)->position);
  float upper = enum_sort_order(above->position);
  float between = lower + (upper - lower) / 2;
  if (between > lower && between < upper) return enum_position(between);
  // Values say where their labels stand, so that these cannot move as in PostgreSQL.
  throw SqlError(sqlstate::program_limit_exceeded,
                 concat("there is no room for another value between \"", (above - 1)->name,
                        "\" and \"", above->name, "\""))
      .hint(
          "Between two values of an enum some 20 can be added one after the other. Make a new "
          "type and convert the columns to it.");
}

bool is_duplicate(std::span<const EnumLabel> labels, std::string_view name) {
  return std::ranges::find(labels, name, &EnumLabel::name) != labels.end();
}

}  // namespace

void TypeSteps::create_enum(const DataDefinition::ObjectName& name,
                            std::span<const std::string_view> labels) {
  TypeDraft type = new_type(name);
  type->values = UserType::make_enum(type->address.oid, type->array_oid, type->name);
  std::vector<EnumLabel> all;
  for (std::string_view label : labels) {
    did_work(label_work);
    check_label(label);
    auto order = static_cast<float>(all.size() + 1);
    all.push_back({new_oid(), enum_position(order), std::string(label)});
    writer_.insert(rows_.enum_label(*type, all.back()));
  }
  type->labels = EnumLabels(std::move(all));
  insert_type(std::move(type));
}

void TypeSteps::add_enum_value(Oid type, const EnumValueDefinition& value, bool if_not_exists) {
  check_label(value.name);
  TypeDraft draft = type_draft(type);
  std::vector<EnumLabel> all(draft->labels.all().begin(), draft->labels.all().end());
  if (is_duplicate(all, value.name)) {
    if (!if_not_exists) throw_label_exists(value.name);
    return notice(sqlstate::duplicate_object,
                  concat("enum label \"", value.name, "\" already exists, skipping"));
  }
  EnumLabel added{new_oid(), new_position(all, value), std::string(value.name), /*is_new=*/true};
  writer_.insert(rows_.enum_label(*draft, added));
  all.push_back(std::move(added));
  draft->labels = EnumLabels(std::move(all));
  finish_type(std::move(draft));
}

void TypeSteps::rename_enum_value(Oid type, std::string_view old_name, std::string_view new_name) {
  check_label(new_name);
  TypeDraft draft = type_draft(type);
  std::vector<EnumLabel> all(draft->labels.all().begin(), draft->labels.all().end());
  auto renamed = std::ranges::find(all, old_name, &EnumLabel::name);
  if (renamed == all.end()) throw_no_label(old_name);
  if (is_duplicate(all, new_name)) throw_label_exists(new_name);
  renamed->name = new_name;
  writer_.update(rows_.enum_label(*draft, *renamed));
  draft->labels = EnumLabels(std::move(all));
  finish_type(std::move(draft));
}

void TypeSteps::rename_type(Oid type, std::string_view new_name) {
  TypeDraft draft = type_draft(type);
  move_array_type(draft->schema, new_name, /*for_relation=*/false);
  draft->name = new_name;
  draft->array_name = array_type_name(draft->schema, new_name);
  writer_.update(rows_.array_type(*draft));
  finish_type(std::move(draft));
}

std::shared_ptr<const TypeDescriptor> TypeSteps::find_to_drop(
    const DataDefinition::ObjectName& name, bool if_exists, bool domains) {
  if (skip_missing_schema(name.schema, if_exists)) return nullptr;
  bool is_array = name.name.ends_with(array_suffix);
  std::string_view element = name.name;
  if (is_array) element.remove_suffix(array_suffix.size());
  std::shared_ptr<const TypeDescriptor> type = view_.find_type(name.schema, element);
  std::string written =
      name.schema.empty() ? std::string(name.name) : concat(name.schema, ".", name.name);
  bool is_builtin = name.schema.empty() || name.schema == "pg_catalog";
  if (domains) {
    bool is_type = type != nullptr || (is_builtin && find_type_by_name(name.name) != nullptr) ||
                   view_.find_table(name.schema, name.name) != nullptr;
    bool is_domain =
        type != nullptr && type->domain != nullptr && !is_array && type->array_name != name.name;
    if (is_type && !is_domain) {
      throw SqlError(sqlstate::wrong_object_type, concat("\"", written, "\" is not a domain"));
    }
  }
  if (type != nullptr && (is_array || type->array_name == name.name)) {
    throw SqlError(sqlstate::dependent_objects_still_exist,
                   concat("cannot drop type ", shown_type(type->array_oid), " because type ",
                          shown_type(type->address.oid), " requires it"))
        .hint(concat("You can drop type ", shown_type(type->address.oid), " instead."));
  }
  if (type != nullptr) return type;
  if (const TypeInfo* builtin = is_builtin ? find_type_by_name(name.name) : nullptr) {
    throw SqlError(sqlstate::dependent_objects_still_exist,
                   concat("cannot drop type ", builtin->display_name,
                          " because it is required by the database system"));
  }
  if (const TableDescriptor* table = view_.find_table(name.schema, name.name)) {
    throw SqlError(
        sqlstate::dependent_objects_still_exist,
        concat("cannot drop type ", table->name, " because ",
               table->kind == RelationKind::view ? "view " : "table ", table->name, " requires it"))
        .hint(concat("You can drop ", table->kind == RelationKind::view ? "view " : "table ",
                     table->name, " instead."));
  }
  if (!if_exists)
    throw SqlError(sqlstate::undefined_object, concat("type \"", written, "\" does not exist"));
  notice(sqlstate::successful_completion,
         concat("type \"", written, "\" does not exist, skipping"));
  return nullptr;
}

void TypeSteps::drop_types(std::span<const DataDefinition::ObjectName> names, bool if_exists,
                           bool cascade, bool domains) {
  std::vector<std::shared_ptr<const TypeDescriptor>> types;
  for (const DataDefinition::ObjectName& name : names) {
    std::shared_ptr<const TypeDescriptor> type = find_to_drop(name, if_exists, domains);
    if (type == nullptr || std::ranges::find(types, type) != types.end()) continue;
    static_cast<void>(type_draft(type->address.oid));  // locks it
    types.push_back(std::move(type));
  }
  if (!types.empty()) DefinitionSteps(definition_).drop_found_types(std::move(types), cascade);
}

void TypeSteps::set_schema(Oid type, std::string_view schema_name) {
  TypeDraft draft = type_draft(type);
  const SchemaDescriptor& schema = creation_schema(schema_name);
  if (schema.oid == draft->schema) return;
  if (schema.oid == system_oid::schema_pg_catalog) {
    throw SqlError(sqlstate::insufficient_privilege,
                   concat("permission denied for schema ", schema.name));
  }
  if (schema.name == "pg_toast") {
    throw SqlError(sqlstate::feature_not_supported,
                   "cannot move objects into or out of TOAST schema");
  }
  if (type_name_taken(schema.oid, draft->name)) {
    throw SqlError(
        sqlstate::duplicate_object,
        concat("type \"", draft->name, "\" already exists in schema \"", schema.name, "\""));
  }
  rest_on_schema(schema.oid);
  draft->schema = schema.oid;
  draft->schema_name = schema.name;
  draft->array_name = array_type_name(schema.oid, draft->name);
  writer_.update(rows_.array_type(*draft));
  if (draft->domain != nullptr) {
    for (const DomainConstraint& each : draft->domain->constraints)
      writer_.update(rows_.constraint(*draft, each));
  }
  finish_type(std::move(draft));
}

}  // namespace pgsilo
