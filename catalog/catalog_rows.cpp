#include "catalog/catalog_rows.h"

#include "catalog/builtin/type_functions.h"
#include "catalog/definition/object_names.h"
#include "sql/sql_error.h"
#include "sql/types/array.h"

namespace pgsilo {

std::string dropped_column_name(int16_t number) {
  return concat("........pg.dropped.", number, "........");
}

Datum CatalogRows::texts(std::span<const std::string> texts) {
  if (texts.empty()) return Datum();
  std::vector<Datum> values;
  for (const std::string& text : texts) values.push_back(Datum::of_bytes(text));
  return make_array(type_oid::text, values, arena_);
}

Datum CatalogRows::numbers(std::span<const int16_t> numbers, int32_t lower_bound) {
  std::vector<Datum> values;
  for (int16_t number : numbers) values.push_back(Datum::of_int(number));
  return make_array(type_oid::int2, values, arena_, lower_bound);
}

Datum CatalogRows::oids(std::span<const Oid> oids) {
  std::vector<Datum> values;
  for (Oid oid : oids) values.push_back(Datum::of_int(oid));
  return make_array(type_oid::oid, values, arena_, 0);
}

SystemRow CatalogRows::empty_class(Oid oid, std::string_view name, const TableDescriptor& table) {
  SystemRow to = row(system_oid::pg_class);
  to.set_int(pg_class_oid, oid)
      .set(pg_class_relname, name)
      .set_int(pg_class_relnamespace, table.schema)
      .set_int(pg_class_reltype, 0)
      .set_int(pg_class_reloftype, 0)
      .set_int(pg_class_relowner, system_oid::role_postgres)
      .set_int(pg_class_reltablespace, 0)
      .set_int(pg_class_relpages, 0)
      .set_float(pg_class_reltuples, -1)
      .set_int(pg_class_relallvisible, 0)
      .set_int(pg_class_reltoastrelid, 0)
      .set_bool(pg_class_relhasindex, false)
      .set_bool(pg_class_relisshared,
                table.oid == system_oid::pg_database || table.oid == system_oid::pg_tablespace ||
                    table.oid == system_oid::pg_authid || table.oid == system_oid::pg_auth_members)
      .set_char(pg_class_relpersistence, static_cast<char>(table.persistence))
      .set_int(pg_class_relchecks, 0)
      .set_bool(pg_class_relhasrules, false)
      .set_bool(pg_class_relhastriggers, false)
      .set_bool(pg_class_relhassubclass, false)
      .set_bool(pg_class_relrowsecurity, false)
      .set_bool(pg_class_relforcerowsecurity, false)
      .set_bool(pg_class_relispopulated, true)
      .set_char(pg_class_relreplident, 'n')
      .set_bool(pg_class_relispartition, false)
      .set_int(pg_class_relrewrite, 0)
      .set_int(pg_class_relfrozenxid, 0)
      .set_int(pg_class_relminmxid, 0);
  return to;
}

SystemRow CatalogRows::class_of(const TableDescriptor& table) {
  SystemRow to = empty_class(table.oid, table.name, table);
  int16_t checks = 0;
  for (const ConstraintDescriptor& constraint : table.constraints)
    checks += constraint.type == ConstraintType::check;
  bool view = table.kind == RelationKind::view;
  bool stored = !view && table.kind != RelationKind::sequence;
  to.set_int(pg_class_reltype, table.row_type)
      .set_int(pg_class_relam, stored ? system_oid::access_method_heap : invalid_oid)
      .set_bool(pg_class_relhasrules, view)
      .set_int(pg_class_relfilenode, table.relation_id.value())
      .set_bool(pg_class_relhasindex, !table.indexes.empty())
      .set_char(pg_class_relkind, static_cast<char>(table.kind))
      .set_int(pg_class_relnatts, static_cast<int64_t>(table.columns.size()))
      .set_int(pg_class_relchecks, checks)
      .set_bool(pg_class_relhastriggers, table.has_foreign_keys() || !table.referenced_by.empty())
      .set_char(pg_class_relreplident, table.is_system() || !stored ? 'n' : 'd')
      .set(pg_class_reloptions, texts(table.options));
  return to;
}

SystemRow CatalogRows::class_of(const TableDescriptor& table, const IndexDescriptor& index) {
  SystemRow to = empty_class(index.oid, index.name, table);
  to.set_int(pg_class_relam, system_oid::access_method_btree)
      .set_int(pg_class_relfilenode, index.relation_id.value())
      .set_float(pg_class_reltuples, 0)
      .set_char(pg_class_relkind, static_cast<char>(RelationKind::index))
      .set_int(pg_class_relnatts, static_cast<int64_t>(index.columns.size()))
      .set(pg_class_reloptions, texts(index.options));
  return to;
}

SystemRow CatalogRows::empty_attribute(Oid relation, std::string_view name, int16_t number,
                                       const TypeInfo* type) {
  SystemRow to = row(system_oid::pg_attribute);
  bool array = type != nullptr && is_array_type(*type);
  to.set_int(pg_attribute_attrelid, relation)
      .set(pg_attribute_attname, name)
      .set_int(pg_attribute_atttypid, type != nullptr ? type->oid : 0)
      .set_int(pg_attribute_attstattarget, -1)
      .set_int(pg_attribute_attlen, type != nullptr ? type->typlen : 0)
      .set_int(pg_attribute_attnum, number)
      .set_int(pg_attribute_attndims, array ? 1 : 0)
      .set_int(pg_attribute_attcacheoff, -1)
      .set_int(pg_attribute_atttypmod, -1)
      .set_bool(pg_attribute_attbyval, type != nullptr && type->typbyval)
      .set_char(pg_attribute_attalign, type != nullptr ? type->alignment : 'i')
      .set_char(pg_attribute_attstorage, type != nullptr ? type->storage : 'p')
      .set_char(pg_attribute_attcompression, '\0')
      .set_bool(pg_attribute_attnotnull, false)
      .set_bool(pg_attribute_atthasdef, false)
      .set_bool(pg_attribute_atthasmissing, false)
      .set_char(pg_attribute_attidentity, '\0')
      .set_char(pg_attribute_attgenerated, '\0')
      .set_bool(pg_attribute_attisdropped, false)
      .set_bool(pg_attribute_attislocal, true)
      .set_int(pg_attribute_attinhcount, 0)
      .set_int(pg_attribute_attcollation, 0);
  return to;
}

SystemRow CatalogRows::attribute(const TableDescriptor& table, const ColumnDescriptor& column) {
  const TypeInfo* type = column.dropped ? nullptr : &type_info(column.type);
  SystemRow to = empty_attribute(table.oid, column.name, column.number, type);
  if (column.dropped) {
    // As PostgreSQL, the physical form of a dropped column stays known; ours is its width in rows.
    to.set_int(pg_attribute_attlen,
               table.layout.column(static_cast<size_t>(column.number) - 1).width)
        .set_int(pg_attribute_attstattarget, 0)
        .set_bool(pg_attribute_attisdropped, true);
    return to;
  }
  if (column.storage != '\0') to.set_char(pg_attribute_attstorage, column.storage);
  to.set_int(pg_attribute_atttypmod, column.typmod)
      .set_int(pg_attribute_attstattarget, column.statistics_target)
      .set_bool(pg_attribute_attnotnull, column.not_null)
      .set_bool(pg_attribute_atthasdef, column.has_default())
      .set_bool(pg_attribute_atthasmissing, column.has_missing)
      .set_char(pg_attribute_attidentity, static_cast<char>(column.identity))
      .set_char(pg_attribute_attgenerated, column.generated ? 's' : '\0')
      .set_int(pg_attribute_attcollation, column.collation);
  if (column.has_missing) {
    to.set(pg_attribute_attmissingval,
           make_array(column.type, std::span(&column.missing, 1), arena_));
  }
  return to;
}

namespace {

std::string_view column_name(const TableDescriptor& table, const IndexDescriptor& index,
                             size_t position) {
  const IndexExpression* expression = index.expression_of(position);
  if (expression != nullptr) return expression->name;
  return table.columns[static_cast<size_t>(index.columns[position].number) - 1].name;
}

}  // namespace

SystemRow CatalogRows::attribute(const TableDescriptor& table, const IndexDescriptor& index,
                                 size_t position) {
  std::vector<std::string_view> names;
  names.reserve(index.columns.size());
  for (size_t i = 0; i < index.columns.size(); ++i) names.push_back(column_name(table, index, i));
  if (const IndexExpression* expression = index.expression_of(position)) {
    SystemRow to = empty_attribute(index.oid, expression->name, static_cast<int16_t>(position + 1),
                                   &type_info(expression->type));
    to.set_int(pg_attribute_atttypmod, expression->typmod)
        .set_int(pg_attribute_attcollation, expression->collation);
    return to;
  }
  const ColumnDescriptor& column =
      table.columns[static_cast<size_t>(index.columns[position].number) - 1];
  std::string_view name = arena_.copy_string(choose_column_names(names)[position]);
  SystemRow to =
      empty_attribute(index.oid, name, static_cast<int16_t>(position + 1), &type_info(column.type));
  to.set_int(pg_attribute_atttypmod, column.typmod)
      .set_int(pg_attribute_attcollation, column.collation);
  return to;
}

SystemRow CatalogRows::index(const TableDescriptor& table, const IndexDescriptor& index) {
  std::vector<int16_t> columns;
  std::vector<int16_t> options;
  std::vector<Oid> collations;
  std::vector<Oid> classes;
  constexpr int16_t descending = 1;
  constexpr int16_t nulls_first = 2;
  for (size_t i = 0; i < index.columns.size(); ++i) {
    const IndexColumn& column = index.columns[i];
    const IndexExpression* expression = index.expression_of(i);
    const ColumnDescriptor* of_table =
        expression != nullptr ? nullptr : &table.columns[static_cast<size_t>(column.number) - 1];
    Oid type = expression != nullptr ? expression->type : of_table->type;
    columns.push_back(column.number);
    options.push_back(static_cast<int16_t>((column.descending ? descending : 0) |
                                           (column.nulls_first ? nulls_first : 0)));
    collations.push_back(expression != nullptr ? expression->collation : of_table->collation);
    classes.push_back(type_functions(type).operator_class);
  }
  SystemRow to = row(system_oid::pg_index);
  to.set_int(pg_index_indexrelid, index.oid)
      .set_int(pg_index_indrelid, table.oid)
      .set_int(pg_index_indnatts, static_cast<int64_t>(columns.size()))
      .set_int(pg_index_indnkeyatts, static_cast<int64_t>(columns.size()))
      .set_bool(pg_index_indisunique, index.unique)
      .set_bool(pg_index_indnullsnotdistinct, index.nulls_not_distinct)
      .set_bool(pg_index_indisprimary, index.primary)
      .set_bool(pg_index_indisexclusion, false)
      .set_bool(pg_index_indimmediate, true)
      .set_bool(pg_index_indisclustered, false)
      .set_bool(pg_index_indisvalid, index.valid)
      .set_bool(pg_index_indcheckxmin, false)
      .set_bool(pg_index_indisready, true)
      .set_bool(pg_index_indislive, true)
      .set_bool(pg_index_indisreplident, false)
      .set(pg_index_indkey, numbers(columns, 0))
      .set(pg_index_indcollation, oids(collations))
      .set(pg_index_indclass, oids(classes))
      .set(pg_index_indoption, numbers(options, 0));
  std::string expressions;
  for (const IndexExpression& expression : index.expressions) expressions += expression.value.text;
  if (!expressions.empty()) to.set(pg_index_indexprs, arena_.copy_string(expressions));
  if (index.is_partial()) to.set(pg_index_indpred, std::string_view(index.predicate.text));
  return to;
}

SystemRow CatalogRows::empty_constraint(Oid oid, std::string_view name, Oid schema) {
  SystemRow to = row(system_oid::pg_constraint);
  to.set_int(pg_constraint_oid, oid)
      .set(pg_constraint_conname, name)
      .set_int(pg_constraint_connamespace, schema)
      .set_bool(pg_constraint_condeferrable, false)
      .set_bool(pg_constraint_condeferred, false)
      .set_int(pg_constraint_conrelid, 0)
      .set_int(pg_constraint_contypid, 0)
      .set_int(pg_constraint_conindid, 0)
      .set_int(pg_constraint_conparentid, 0)
      .set_int(pg_constraint_confrelid, 0)
      .set_char(pg_constraint_confupdtype, ' ')
      .set_char(pg_constraint_confdeltype, ' ')
      .set_char(pg_constraint_confmatchtype, ' ')
      .set_bool(pg_constraint_conislocal, true)
      .set_int(pg_constraint_coninhcount, 0);
  return to;
}

SystemRow CatalogRows::constraint(const TableDescriptor& table,
                                  const ConstraintDescriptor& constraint) {
  SystemRow to = empty_constraint(constraint.oid, constraint.name, table.schema);
  to.set_char(pg_constraint_contype, static_cast<char>(constraint.type))
      .set_bool(pg_constraint_condeferrable, constraint.deferrable)
      .set_bool(pg_constraint_condeferred, constraint.initially_deferred)
      .set_bool(pg_constraint_convalidated, constraint.validated)
      .set_int(pg_constraint_conrelid, table.oid)
      .set_int(pg_constraint_conindid, constraint.index)
      .set_bool(pg_constraint_connoinherit, constraint.type != ConstraintType::check);
  if (!constraint.columns.empty()) to.set(pg_constraint_conkey, numbers(constraint.columns, 1));
  if (!constraint.check.empty())
    to.set(pg_constraint_conbin, std::string_view(constraint.check.text));
  if (constraint.foreign_key) set_foreign_key(to, *constraint.foreign_key);
  return to;
}

// PostgreSQL also keeps the operators that compare the keys; ours are encoded and compared as
// bytes.
void CatalogRows::set_foreign_key(SystemRow& to, const ForeignKeyDescriptor& key) {
  to.set_int(pg_constraint_confrelid, key.referenced_table)
      .set_char(pg_constraint_confupdtype, static_cast<char>(key.on_update))
      .set_char(pg_constraint_confdeltype, static_cast<char>(key.on_delete))
      .set_char(pg_constraint_confmatchtype, static_cast<char>(key.match))
      .set(pg_constraint_confkey, numbers(key.referenced_columns, 1));
  if (!key.on_delete_columns.empty())
    to.set(pg_constraint_confdelsetcols, numbers(key.on_delete_columns, 1));
}

SystemRow CatalogRows::default_expression(const TableDescriptor& table,
                                          const ColumnDescriptor& column) {
  SystemRow to = row(system_oid::pg_attrdef);
  to.set_int(pg_attrdef_oid, column.default_oid)
      .set_int(pg_attrdef_adrelid, table.oid)
      .set_int(pg_attrdef_adnum, column.number)
      .set(pg_attrdef_adbin, std::string_view(column.default_value.text));
  return to;
}

SystemRow CatalogRows::sequence(const TableDescriptor& sequence) {
  const SequenceDefinition& definition = sequence.sequence->definition;
  SystemRow to = row(system_oid::pg_sequence);
  to.set_int(pg_sequence_seqrelid, sequence.oid)
      .set_int(pg_sequence_seqtypid, definition.type)
      .set_int(pg_sequence_seqstart, definition.start)
      .set_int(pg_sequence_seqincrement, definition.increment)
      .set_int(pg_sequence_seqmax, definition.max_value)
      .set_int(pg_sequence_seqmin, definition.min_value)
      .set_int(pg_sequence_seqcache, definition.cache)
      .set_bool(pg_sequence_seqcycle, definition.cycles);
  return to;
}

SystemRow CatalogRows::rule(const TableDescriptor& view) {
  SystemRow to = row(system_oid::pg_rewrite);
  to.set_int(pg_rewrite_oid, view.view->rule)
      .set(pg_rewrite_rulename, "_RETURN")
      .set_int(pg_rewrite_ev_class, view.oid)
      .set_char(pg_rewrite_ev_type, '1')
      .set_char(pg_rewrite_ev_enabled, 'O')
      .set_bool(pg_rewrite_is_instead, true)
      .set(pg_rewrite_ev_qual, "<>")
      .set(pg_rewrite_ev_action, std::string_view(view.view->query));
  return to;
}

SystemRow CatalogRows::dependency(ObjectAddress object, ObjectAddress referenced, int16_t column,
                                  char type) {
  SystemRow to = row(system_oid::pg_depend);
  to.set_int(pg_depend_classid, object.catalog)
      .set_int(pg_depend_objid, object.oid)
      .set_int(pg_depend_objsubid, 0)
      .set_int(pg_depend_refclassid, referenced.catalog)
      .set_int(pg_depend_refobjid, referenced.oid)
      .set_int(pg_depend_refobjsubid, column)
      .set_char(pg_depend_deptype, type);
  return to;
}

SystemRow CatalogRows::procedure(const BuiltinProcedure& procedure) {
  std::vector<Oid> arguments(procedure.argument_types().begin(), procedure.argument_types().end());
  SystemRow to = row(system_oid::pg_proc);
  to.set_int(pg_proc_oid, procedure.oid)
      .set(pg_proc_proname, procedure.name)
      .set_int(pg_proc_pronamespace, system_oid::schema_pg_catalog)
      .set_int(pg_proc_proowner, system_oid::role_postgres)
      .set_int(pg_proc_prolang, system_oid::language_internal)
      .set_float(pg_proc_procost, 1)
      .set_float(pg_proc_prorows, procedure.returns_set ? 1000 : 0)
      .set_int(pg_proc_provariadic, procedure.variadic)
      .set_int(pg_proc_prosupport, 0)
      .set_char(pg_proc_prokind, procedure.kind)
      .set_bool(pg_proc_prosecdef, false)
      .set_bool(pg_proc_proleakproof, false)
      .set_bool(pg_proc_proisstrict, procedure.strict)
      .set_bool(pg_proc_proretset, procedure.returns_set)
      .set_char(pg_proc_provolatile, procedure.volatility)
      .set_char(pg_proc_proparallel, 's')
      .set_int(pg_proc_pronargs, procedure.argument_count)
      .set_int(pg_proc_pronargdefaults, procedure.default_count)
      .set_int(pg_proc_prorettype, procedure.result)
      .set(pg_proc_proargtypes, oids(arguments))
      .set(pg_proc_prosrc, procedure.name);
  return to;
}

SystemRow CatalogRows::schema(const SchemaDescriptor& schema, Oid owner) {
  SystemRow to = row(system_oid::pg_namespace);
  to.set_int(pg_namespace_oid, schema.oid)
      .set(pg_namespace_nspname, std::string_view(schema.name))
      .set_int(pg_namespace_nspowner, owner);
  return to;
}

}  // namespace pgsilo
