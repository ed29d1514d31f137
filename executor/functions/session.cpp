// What a statement may ask about its session, its database and the catalog.
#include <algorithm>
#include <string>
#include <vector>

#include "base/byte_buffer.h"
#include "base/clock.h"
#include "base/parker.h"
#include "catalog/catalog_snapshot.h"
#include "catalog/catalog_view.h"
#include "catalog/descriptors.h"
#include "catalog/system_tables.h"
#include "executor/execution_context.h"
#include "executor/functions/function.h"
#include "executor/wait_report.h"
#include "sql/sql_error.h"
#include "sql/types/array.h"
#include "sql/types/integer.h"
#include "sql/types/numeric.h"
#include "sql/types/type.h"
#include "sql/types/user_type.h"
#include "storage/relation/relation.h"

namespace pgsilo::functions {
namespace {

using std::string_view;

#if defined(__clang__)
#define PGSILO_COMPILER __VERSION__  // with its name
#else
#define PGSILO_COMPILER "gcc " __VERSION__
#endif

Datum copied(EvalContext& context, string_view text) {
  return Datum::of_bytes(context.arena->copy_string(text));
}

Datum version(EvalContext& context, const Datum*) {
  std::string number;
  context.execution->settings->get("server_version", &number);
  return copied(context, "PostgreSQL " + number +
                             " on x86_64-pc-linux-gnu, compiled by " PGSILO_COMPILER ", 64-bit");
}

Datum setting(EvalContext& context, string_view name, bool missing_ok) {
  std::string value;
  if (context.execution->settings->get(name, &value)) return copied(context, value);
  if (missing_ok) return Datum();
  throw SqlError(sqlstate::undefined_object,
                 concat("unrecognized configuration parameter \"", name, "\""));
}
Datum current_setting(EvalContext& context, const Datum* a) {
  return setting(context, a[0].bytes(), false);
}
Datum current_setting_missing_ok(EvalContext& context, const Datum* a) {
  return setting(context, a[0].bytes(), a[1].as_bool());
}
Datum set_config(EvalContext& context, const Datum* a) {
  if (a[0].null) throw SqlError(sqlstate::null_value_not_allowed, "SET requires parameter name");
  context.execution->settings->set(a[0].bytes(), a[1].null ? string_view() : a[1].bytes(),
                                   !a[2].null && a[2].as_bool());
  return setting(context, a[0].bytes(), false);
}

Datum current_database(EvalContext& context, const Datum*) {
  return copied(context, context.execution->database_name);
}
Datum current_schema(EvalContext& context, const Datum*) {
  const SchemaDescriptor* schema = context.execution->told_catalog().creation_schema();
  return schema == nullptr ? Datum() : copied(context, schema->name);
}
Datum current_schemas(EvalContext& context, const Datum* a) {
  const CatalogView& catalog = context.execution->told_catalog();
  std::vector<Datum> names;
  bool names_catalog = false;
  for (Oid oid : catalog.name_path().schemas) {
    const SchemaDescriptor* schema = catalog.snapshot().find_schema(oid);
    if (schema == nullptr) continue;
    names.push_back(copied(context, schema->name));
    names_catalog = names_catalog || schema->name == "pg_catalog";
  }
  // These are searched first without being named.
  if (a[0].as_bool() && !names_catalog) names.insert(names.begin(), Datum::of_bytes("pg_catalog"));
  const SchemaDescriptor* temporary = catalog.implicit_temporary_schema();
  if (a[0].as_bool() && temporary != nullptr)
    names.insert(names.begin(), copied(context, temporary->name));
  return make_array(type_oid::name, names, *context.arena);
}
Datum my_temporary_schema(EvalContext& context, const Datum*) {
  const SchemaDescriptor* own = context.execution->told_catalog().temporary_schema();
  return Datum::of_int(own == nullptr ? invalid_oid : own->oid);
}
Datum is_other_temporary_schema(EvalContext& context, const Datum* a) {
  const CatalogView& catalog = context.execution->told_catalog();
  const SchemaDescriptor* schema = catalog.snapshot().find_schema(static_cast<Oid>(a[0].i64));
  return Datum::of_bool(schema != nullptr && catalog.is_foreign_temporary(*schema));
}
Datum backend_pid(EvalContext& context, const Datum*) {
  return Datum::of_int(context.execution->backend_pid);
}
Datum encoding(EvalContext&, const Datum*) { return Datum::of_bytes("UTF8"); }
Datum encoding_name(EvalContext&, const Datum* a) {
  constexpr int64_t sql_ascii = 0;
  constexpr int64_t utf8 = 6;
  return Datum::of_bytes(a[0].i64 == utf8 ? "UTF8" : a[0].i64 == sql_ascii ? "SQL_ASCII" : "");
}
Datum is_in_recovery(EvalContext&, const Datum*) { return Datum::of_bool(false); }
Datum user_name(EvalContext& context, const Datum* a) {
  if (a[0].i64 == system_oid::role_postgres) return Datum::of_bytes("postgres");
  if (a[0].i64 == system_oid::role_database_owner) return Datum::of_bytes("pg_database_owner");
  return copied(context, concat("unknown (OID=", a[0].i64, ")"));
}

Datum sleep(EvalContext& context, const Datum* a) {
  ExecutionContext& session = *context.execution;
  double seconds = a[0].f64;
  if (!(seconds > 0)) return Datum::of_int(0);
  constexpr double longest_s = 1e9;
  int64_t deadline_us = monotonic_us() + static_cast<int64_t>(std::min(seconds, longest_s) * 1e6);
  WaitScope waits(session.wait_report, WaitEvent::pg_sleep);
  while (monotonic_us() < deadline_us) {
    session.parker->park(deadline_us);
    session.check_budget();  // raises 57014 when the wait was cancelled
  }
  return Datum::of_int(0);
}

Datum type_of(EvalContext& context, const Datum*) {
  return Datum::of_int(context.call->argument_types[0]);
}
Datum type_name(EvalContext& context, const Datum* a) {
  if (a[0].null) return Datum();
  auto oid = static_cast<Oid>(a[0].i64);
  if (find_type(oid) == nullptr) return Datum::of_bytes(oid == invalid_oid ? "-" : "???");
  ByteBuffer name;
  bool is_users = share_user_type(oid) != nullptr;
  if (is_users && context.types->object_names->print(type_oid::regtype, oid, name))
    return copied(context, name.view());
  if (a[1].null) return copied(context, pgsilo::format_type(oid));
  pgsilo::format_type(oid, static_cast<int32_t>(a[1].i64), name);
  return copied(context, name.view());
}

// to_regclass() and to_regtype(): null where the cast from text would find nothing.
template <Oid reg_type>
Datum find_object(EvalContext& context, const Datum* a) {
  try {
    return type_info(reg_type).parse(a[0].bytes(), no_typmod, *context.types);
  } catch (const SqlError& error) {
    SqlState state = error.state();
    bool missing = state == sqlstate::undefined_table || state == sqlstate::undefined_object ||
                   state == sqlstate::invalid_schema_name;
    if (!missing) throw;
  }
  return Datum();
}

Datum table_is_visible(EvalContext& context, const Datum* a) {
  const CatalogView& catalog = context.execution->told_catalog();
  auto oid = static_cast<Oid>(a[0].i64);
  if (const TableDescriptor* table = catalog.find_table(oid); table != nullptr) {
    const TableDescriptor* found = catalog.find_table({}, table->name);
    return Datum::of_bool(found != nullptr && found->oid == oid);
  }
  const IndexDescriptor* index = catalog.snapshot().find_index(oid);
  if (index == nullptr) return Datum();
  const IndexDescriptor* found = catalog.find_index({}, index->name);
  return Datum::of_bool(found != nullptr && found->oid == oid);
}

Datum column_size(EvalContext& context, const Datum* a) {
  const TypeInfo& type = type_info(context.call->argument_types[0]);
  if (!type.by_reference) return Datum::of_int(type.typlen);
  return Datum::of_int(int64_t{a[0].length} + (type.typlen < 0 ? 4 : 0));
}

constexpr FunctionEntry entries[] = {
    {89, version},
    {2077, current_setting},
    {3294, current_setting_missing_ok},
    {2078, set_config},
    {861, current_database},
    {1402, current_schema},
    {1403, current_schemas},
    {2854, my_temporary_schema},
    {2855, is_other_temporary_schema},
    {2026, backend_pid},
    {810, encoding},   // pg_client_encoding
    {1039, encoding},  // getdatabaseencoding
    {1597, encoding_name},
    {3810, is_in_recovery},
    {1642, user_name},
    {2626, sleep},
    {1619, type_of},
    {1081, type_name},
    {3495, find_object<type_oid::regclass>},
    {3493, find_object<type_oid::regtype>},
    {2079, table_is_visible},
    {1269, column_size},
};

}  // namespace

std::span<const FunctionEntry> session() { return entries; }

}  // namespace pgsilo::functions
