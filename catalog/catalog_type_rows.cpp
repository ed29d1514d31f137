// Rows of pg_type.
#include "catalog/builtin/type_functions.h"
#include "catalog/catalog_rows.h"
#include "sql/types/array.h"

namespace pgsilo {

SystemRow CatalogRows::empty_type(Oid oid, std::string_view name, Oid schema) {
  SystemRow to = row(system_oid::pg_type);
  to.set_int(pg_type_oid, oid)
      .set(pg_type_typname, name)
      .set_int(pg_type_typnamespace, schema)
      .set_int(pg_type_typowner, system_oid::role_postgres)
      .set_int(pg_type_typlen, -1)
      .set_bool(pg_type_typbyval, false)
      .set_bool(pg_type_typispreferred, false)
      .set_bool(pg_type_typisdefined, true)
      .set_char(pg_type_typdelim, ',')
      .set_int(pg_type_typrelid, 0)
      .set_int(pg_type_typelem, 0)
      .set_int(pg_type_typarray, 0)
      .set_char(pg_type_typalign, 'd')
      .set_char(pg_type_typstorage, 'x')
      .set_bool(pg_type_typnotnull, false)
      .set_int(pg_type_typbasetype, 0)
      .set_int(pg_type_typtypmod, -1)
      .set_int(pg_type_typndims, 0)
      .set_int(pg_type_typcollation, 0);
  return to;
}

namespace {

// A domain prints and sends as the type beneath, and reads by itself.
TypeFunctions domain_type_functions(const TypeInfo& base) {
  constexpr Oid domain_in = 2597;
  constexpr Oid domain_recv = 2598;
  TypeFunctions functions = base.typtype == 'e' ? enum_type_functions : type_functions(base.oid);
  if (functions.output == invalid_oid && is_array_type(base))
    functions = type_functions(type_oid::int4_array);
  functions.input = domain_in;
  functions.receive = domain_recv;
  functions.modifier_in = functions.modifier_out = functions.subscript = invalid_oid;
  return functions;
}

void set_functions(SystemRow& to, const TypeFunctions& functions) {
  to.set_int(pg_type_typsubscript, functions.subscript)
      .set_int(pg_type_typinput, functions.input)
      .set_int(pg_type_typoutput, functions.output)
      .set_int(pg_type_typreceive, functions.receive)
      .set_int(pg_type_typsend, functions.send)
      .set_int(pg_type_typmodin, functions.modifier_in)
      .set_int(pg_type_typmodout, functions.modifier_out)
      .set_int(pg_type_typanalyze, functions.analyze);
}

}  // namespace

SystemRow CatalogRows::row_type(const TableDescriptor& table) {
  SystemRow to = empty_type(table.row_type, table.name, table.schema);
  to.set_char(pg_type_typtype, 'c')
      .set_char(pg_type_typcategory, 'C')
      .set_int(pg_type_typrelid, table.oid)
      .set_int(pg_type_typarray, table.array_type);
  set_functions(to, type_functions(type_oid::record));
  return to;
}

SystemRow CatalogRows::array_type(const TableDescriptor& table, std::string_view name) {
  SystemRow to = empty_type(table.array_type, name, table.schema);
  to.set_char(pg_type_typtype, 'b')
      .set_char(pg_type_typcategory, 'A')
      .set_int(pg_type_typelem, table.row_type);
  set_functions(to, type_functions(type_oid::record_array));
  // An array of a table's rows has what every true array has, not what record[] has.
  const TypeFunctions& array = type_functions(type_oid::text_array);
  to.set_int(pg_type_typanalyze, array.analyze).set_int(pg_type_typsubscript, array.subscript);
  to.set_int(pg_type_typinput, array.input).set_int(pg_type_typoutput, array.output);
  return to;
}

namespace {

// What the type says of itself.
void set_facts(SystemRow& to, const TypeInfo& type) {
  to.set_int(pg_type_typlen, type.typlen)
      .set_bool(pg_type_typbyval, type.typbyval)
      .set_char(pg_type_typtype, type.typtype)
      .set_char(pg_type_typcategory, type.category)
      .set_bool(pg_type_typispreferred, type.preferred)
      .set_char(pg_type_typdelim, type.delimiter)
      .set_int(pg_type_typelem, type.element)
      .set_int(pg_type_typarray, type.array)
      .set_char(pg_type_typalign, type.alignment)
      .set_char(pg_type_typstorage, type.storage)
      .set_int(pg_type_typcollation, type.collation);
}

}  // namespace

SystemRow CatalogRows::builtin_type(const TypeInfo& type) {
  SystemRow to = empty_type(type.oid, type.name, system_oid::schema_pg_catalog);
  set_facts(to, type);
  set_functions(to, type_functions(type.oid));
  return to;
}

SystemRow CatalogRows::user_type(const TypeDescriptor& type) {
  SystemRow to = empty_type(type.address.oid, type.name, type.schema);
  set_facts(to, type.values->type());
  if (type.domain == nullptr) {
    set_functions(to, enum_type_functions);
    return to;
  }
  const DomainDescriptor& domain = *type.domain;
  set_functions(to, domain_type_functions(*type.values->type().base));
  to.set_bool(pg_type_typnotnull, domain.not_null)
      .set_int(pg_type_typbasetype, domain.base)
      .set_int(pg_type_typtypmod, domain.typmod)
      .set_int(pg_type_typndims, domain.dimensions)
      .set_int(pg_type_typcollation, domain.collation);
  if (domain.default_value.empty()) return to;
  to.set(pg_type_typdefaultbin, std::string_view(domain.default_value.text))
      .set(pg_type_typdefault, std::string_view(domain.default_text));
  return to;
}

SystemRow CatalogRows::constraint(const TypeDescriptor& type, const DomainConstraint& constraint) {
  SystemRow to = empty_constraint(constraint.oid, constraint.name, type.schema);
  to.set_char(pg_constraint_contype, static_cast<char>(ConstraintType::check))
      .set_bool(pg_constraint_convalidated, constraint.validated)
      .set_int(pg_constraint_contypid, type.address.oid)
      .set_bool(pg_constraint_connoinherit, false)
      .set(pg_constraint_conbin, std::string_view(constraint.check.text));
  return to;
}

SystemRow CatalogRows::array_type(const TypeDescriptor& type) {
  SystemRow to = empty_type(type.array_oid, type.array_name, type.schema);
  set_facts(to, type.values->array_type());
  set_functions(to, type_functions(type_oid::int4_array));
  return to;
}

SystemRow CatalogRows::statistics(const StatisticsDescriptor& statistics) {
  SystemRow to = row(system_oid::pg_statistic_ext);
  std::vector<Datum> kinds;
  if (statistics.ndistinct) kinds.push_back(Datum::of_int('d'));
  if (statistics.dependencies) kinds.push_back(Datum::of_int('f'));
  if (statistics.common) kinds.push_back(Datum::of_int('m'));
  to.set_int(pg_statistic_ext_oid, statistics.address.oid)
      .set_int(pg_statistic_ext_stxrelid, statistics.table)
      .set(pg_statistic_ext_stxname, std::string_view(statistics.name))
      .set_int(pg_statistic_ext_stxnamespace, statistics.schema)
      .set_int(pg_statistic_ext_stxowner, statistics.owner)
      .set_int(pg_statistic_ext_stxstattarget, statistics.target)
      .set(pg_statistic_ext_stxkeys, numbers(statistics.columns, 0))
      .set(pg_statistic_ext_stxkind, make_array(type_oid::single_char, kinds, arena_));
  return to;
}

SystemRow CatalogRows::enum_label(const TypeDescriptor& type, const EnumLabel& label) {
  SystemRow to = row(system_oid::pg_enum);
  to.set_int(pg_enum_oid, label.oid)
      .set_int(pg_enum_enumtypid, type.address.oid)
      .set_float(pg_enum_enumsortorder, enum_sort_order(label.position))
      .set(pg_enum_enumlabel, std::string_view(label.name));
  return to;
}

}  // namespace pgsilo
