#include "catalog/builtin_rows.h"

#include <memory>
#include <string>

#include "catalog/builtin/builtin.h"
#include "catalog/builtin/system_views.h"
#include "catalog/catalog_rows.h"
#include "catalog/descriptor_builder.h"
#include "sql/types/array.h"

namespace pgsilo {

namespace {

TableDescriptor descriptor_of(const SystemTableInfo& info) {
  TableDescriptor table;
  table.oid = info.oid;
  table.schema = system_oid::schema_pg_catalog;
  table.name = info.name;
  table.row_type = info.row_type;
  table.array_type = info.array_type;
  table.relation_id = RelationId(info.oid);
  int16_t number = 0;
  for (const SystemColumnInfo& column : info.columns) {
    ColumnDescriptor to;
    to.name = column.name;
    to.number = ++number;
    to.type = column.type;
    // In the catalog everything collatable sorts as bytes.
    to.collation = type_info(column.type).collation != 0 ? system_oid::collation_c : invalid_oid;
    to.not_null = column.not_null;
    table.columns.push_back(std::move(to));
  }
  std::vector<std::shared_ptr<const IndexDescriptor>> indexes;
  for (const SystemIndexInfo& index : all_system_indexes()) {
    if (index.table != info.oid) continue;
    auto to = std::make_shared<IndexDescriptor>();
    to->oid = index.oid;
    to->name = index.name;
    to->relation_id = RelationId(index.oid);
    to->unique = index.unique;
    to->primary = index.primary;
    for (int16_t column : index.columns) {
      if (column != 0) to->columns.push_back({column, false, false});
    }
    indexes.push_back(std::move(to));
  }
  complete_descriptor(table, std::move(indexes), {});
  return table;
}

TableDescriptor descriptor_of(const SystemView& view) {
  TableDescriptor table;
  table.oid = view.oid;
  table.schema = view.schema;
  table.name = view.name;
  table.row_type = view.row_type;
  table.array_type = view.array_type;
  table.kind = RelationKind::view;
  for (const SystemViewColumn& column : columns_of(view)) {
    ColumnDescriptor to;
    to.name = column.name;
    to.number = static_cast<int16_t>(table.columns.size() + 1);
    to.type = column.type;
    to.collation = type_info(column.type).collation;
    table.columns.push_back(std::move(to));
  }
  return table;
}

class BuiltinRowMaker {
 public:
  BuiltinRowMaker(const SystemTables& tables, const BuiltinRowVisitor& visit)
      : tables_(tables), rows_(tables, arena_), visit_(visit) {}

  void run() {
    schemas();
    databases();
    roles();
    access_methods();
    collations();
    tablespaces();
    for (const BuiltinProcedure& procedure : all_procedures()) add(rows_.procedure(procedure));
    for (const BuiltinOperator& known : all_operators()) add_operator(known);
    for (const TypeInfo& type : all_types()) add(rows_.builtin_type(type));
    for (const SystemTableInfo& info : all_system_tables()) system_table(descriptor_of(info));
    for (const SystemView& view : all_system_views()) system_table(descriptor_of(view));
  }

 private:
  void add(const SystemRow& row, RowOrigin origin = RowOrigin::program) { visit_(row, origin); }

  SystemRow row(system_oid::Table table) { return SystemRow(tables_.table(table)); }

  void schemas() {
    using namespace system_oid;
    add(rows_.schema({schema_pg_catalog, "pg_catalog"}, role_postgres));
    add(rows_.schema({schema_pg_toast, "pg_toast"}, role_postgres));
    add(rows_.schema({schema_public, "public"}, role_database_owner), RowOrigin::seed);
    add(rows_.schema({schema_information_schema, "information_schema"}, role_postgres));
  }

  void database(Oid oid, std::string_view name, bool is_template, bool allows_connections) {
    constexpr int encoding_utf8 = 6;
    // As initdb leaves them: everybody may connect to the templates, only their owner create there.
    const Datum template_rights[] = {Datum::of_bytes("=c/postgres"),
                                     Datum::of_bytes("postgres=CTc/postgres")};
    add(row(system_oid::pg_database)
            .set_int(pg_database_oid, oid)
            .set(pg_database_datname, name)
            .set_int(pg_database_datdba, system_oid::role_postgres)
            .set_int(pg_database_encoding, encoding_utf8)
            .set_char(pg_database_datlocprovider, 'c')
            .set_bool(pg_database_datistemplate, is_template)
            .set_bool(pg_database_datallowconn, allows_connections)
            .set_int(pg_database_datconnlimit, -1)
            .set_int(pg_database_datfrozenxid, 0)
            .set_int(pg_database_datminmxid, 0)
            .set_int(pg_database_dattablespace, tablespace_default)
            .set(pg_database_datcollate, std::string_view("C.UTF-8"))
            .set(pg_database_datctype, std::string_view("C.UTF-8"))
            .set(pg_database_datacl,
                 is_template ? make_array(type_oid::aclitem, template_rights, arena_) : Datum()),
        RowOrigin::seed);
  }

  void databases() {
    database(1, "template1", true, true);
    database(4, "template0", true, false);
    database(system_oid::database_postgres, "postgres", false, true);
  }

  void access_methods() {
    struct Method {
      Oid oid;
      std::string_view name;
      Oid handler;
      char type;
    };
    constexpr Method methods[] = {{system_oid::access_method_heap, "heap", 3, 't'},
                                  {system_oid::access_method_btree, "btree", 330, 'i'}};
    for (const Method& method : methods) {
      add(row(system_oid::pg_am)
              .set_int(pg_am_oid, method.oid)
              .set(pg_am_amname, method.name)
              .set_int(pg_am_amhandler, method.handler)
              .set_char(pg_am_amtype, method.type));
    }
  }

  void collations() {
    struct Collation {
      Oid oid;
      std::string_view name;
      char provider;
    };
    constexpr Collation known[] = {{system_oid::collation_default, "default", 'd'},
                                   {system_oid::collation_c, "C", 'c'},
                                   {951, "POSIX", 'c'}};
    for (const Collation& collation : known) {
      SystemRow to = row(system_oid::pg_collation);
      to.set_int(pg_collation_oid, collation.oid)
          .set(pg_collation_collname, collation.name)
          .set_int(pg_collation_collnamespace, system_oid::schema_pg_catalog)
          .set_int(pg_collation_collowner, system_oid::role_postgres)
          .set_char(pg_collation_collprovider, collation.provider)
          .set_bool(pg_collation_collisdeterministic, true)
          .set_int(pg_collation_collencoding, -1);
      if (collation.provider == 'c') {
        to.set(pg_collation_collcollate, collation.name)
            .set(pg_collation_collctype, collation.name);
      }
      add(to);
    }
  }

  void add_operator(const BuiltinOperator& known) {
    add(row(system_oid::pg_operator)
            .set_int(pg_operator_oid, known.oid)
            .set(pg_operator_oprname, known.name)
            .set_int(pg_operator_oprnamespace, system_oid::schema_pg_catalog)
            .set_int(pg_operator_oprowner, system_oid::role_postgres)
            .set_char(pg_operator_oprkind, known.left == invalid_oid ? 'l' : 'b')
            .set_bool(pg_operator_oprcanmerge, known.can_merge)
            .set_bool(pg_operator_oprcanhash, known.can_hash)
            .set_int(pg_operator_oprleft, known.left)
            .set_int(pg_operator_oprright, known.right)
            .set_int(pg_operator_oprresult, known.result)
            .set_int(pg_operator_oprcom, known.commutator)
            .set_int(pg_operator_oprnegate, known.negator)
            .set_int(pg_operator_oprcode, known.procedure)
            .set_int(pg_operator_oprrest, known.restriction_estimator)
            .set_int(pg_operator_oprjoin, known.join_estimator));
  }

  void tablespaces() {
    struct Tablespace {
      Oid oid;
      std::string_view name;
    };
    constexpr Tablespace known[] = {{tablespace_default, "pg_default"}, {1664, "pg_global"}};
    for (const Tablespace& tablespace : known) {
      add(row(system_oid::pg_tablespace)
              .set_int(pg_tablespace_oid, tablespace.oid)
              .set(pg_tablespace_spcname, tablespace.name)
              .set_int(pg_tablespace_spcowner, system_oid::role_postgres));
    }
  }

  void roles() {
    struct Role {
      Oid oid;
      std::string_view name;
      bool is_superuser;
    };
    constexpr Role known[] = {{system_oid::role_postgres, bootstrap_role_name, true},
                              {system_oid::role_database_owner, "pg_database_owner", false}};
    for (const Role& role : known) {
      add(row(system_oid::pg_authid)
              .set_int(pg_authid_oid, role.oid)
              .set(pg_authid_rolname, role.name)
              .set_bool(pg_authid_rolsuper, role.is_superuser)
              .set_bool(pg_authid_rolinherit, true)
              .set_bool(pg_authid_rolcreaterole, role.is_superuser)
              .set_bool(pg_authid_rolcreatedb, role.is_superuser)
              .set_bool(pg_authid_rolcanlogin, role.is_superuser)
              .set_bool(pg_authid_rolreplication, role.is_superuser)
              .set_bool(pg_authid_rolbypassrls, role.is_superuser)
              .set_int(pg_authid_rolconnlimit, -1),
          role.is_superuser ? RowOrigin::seed : RowOrigin::program);
    }
  }

  void system_table(const TableDescriptor& table) {
    add(rows_.class_of(table));
    for (const ColumnDescriptor& column : table.columns) add(rows_.attribute(table, column));
    for (const auto& index : table.indexes) {
      add(rows_.class_of(table, *index));
      for (size_t i = 0; i < index->columns.size(); ++i) add(rows_.attribute(table, *index, i));
      add(rows_.index(table, *index));
    }
    // Some row types (pg_class, pg_type ...) are among PostgreSQL's built-in types, but not among
    // ours.
    add(rows_.row_type(table));
    std::string array_name = "_" + table.name;
    add(rows_.array_type(table, array_name));
  }

  static constexpr Oid tablespace_default = 1663;

  const SystemTables& tables_;
  Arena arena_;
  CatalogRows rows_;
  const BuiltinRowVisitor& visit_;
};

}  // namespace

void visit_builtin_rows(const SystemTables& tables, const BuiltinRowVisitor& visit) {
  BuiltinRowMaker(tables, visit).run();
}

}  // namespace pgsilo
