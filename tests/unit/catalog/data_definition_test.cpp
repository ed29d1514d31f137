// Definitions one at a time: what they write, what they refuse.
#include "catalog/data_definition.h"

#include "base/arena.h"
#include "sql/types/array.h"
#include "sql/types/type.h"
#include "tests/unit/catalog/data_definition_fixture.h"

namespace pgsilo::testing {
namespace {

TEST_F(DataDefinitionTest, BootstrapsOnce) {
  EXPECT_TRUE(session_.opened);
  expect_rows_agree();
  const TableDescriptor* classes = session_.view.find_table({}, "pg_class");
  ASSERT_NE(classes, nullptr);
  EXPECT_EQ(classes->oid, 1259u);
  EXPECT_EQ(classes->columns.size(), 33u);
  EXPECT_EQ(session_.view.find_index("pg_catalog", "pg_class_relname_nsp_index")->oid, 2663u);
}

// The catalog writes its own trees by keys that SQL, which reads them by descriptor, must agree
// with.
TEST_F(DataDefinitionTest, SystemKeysAreTheDescriptorsKeys) {
  for (const SystemTable& system : engine_.catalog.system_tables().all()) {
    const TableDescriptor& table = *session_.view.find_table(system.info().oid);
    std::vector<Datum> values;
    Arena arena;
    for (const ColumnDescriptor& column : table.columns) {
      const TypeInfo& type = type_info(column.type);
      values.push_back(type.category == 'A' ? make_array(type.element, {}, arena)
                       : type.by_reference  ? Datum::of_bytes("x")
                                            : Datum::of_int(column.number));
    }
    for (const auto& index : table.indexes) {
      ByteBuffer by_descriptor;
      ByteBuffer by_system;
      index->key.encode_entry(values, "PK", by_descriptor);
      const KeyLayout* key = &system.primary_key();
      for (const SystemTable::Index& secondary : system.secondary_indexes()) {
        if (secondary.relation_id == index->relation_id && !index->primary) key = &secondary.key;
      }
      key->encode_entry(values, "PK", by_system);
      EXPECT_EQ(by_descriptor.view(), by_system.view()) << index->name;
    }
  }
}

TEST_F(DataDefinitionTest, CreatesTables) {
  create_accounts();
  const TableDescriptor& made = table();
  EXPECT_GE(made.oid, Catalog::first_user_oid);
  ASSERT_EQ(made.indexes.size(), 2u);
  EXPECT_EQ(made.primary_index()->name, "accounts_pkey");
  EXPECT_EQ(made.indexes[1]->name, "accounts_name_key");
  EXPECT_TRUE(made.columns[0].not_null);
  EXPECT_FALSE(made.relation->is_private());
  EXPECT_EQ(made.options, std::vector<std::string>{"fillfactor=70"});
  EXPECT_NE(made.record.record, nullptr);
  auto create = [](DataDefinition& d) { return d.create_table(accounts(), false); };
  SqlDiagnostic again = error(create);
  EXPECT_EQ(again.state, sqlstate::duplicate_table);
  EXPECT_EQ(again.message, "relation \"accounts\" already exists");
  define([](DataDefinition& d) { return d.create_table(accounts(), true); });
  EXPECT_EQ(notices_, "relation \"accounts\" already exists, skipping\n");
}

TEST_F(DataDefinitionTest, RefusesWrongTables) {
  auto with = [&](auto change) {
    return error([&](DataDefinition& d) {
      TableDefinition wrong = accounts();
      change(wrong);
      return d.create_table(wrong, false);
    });
  };
  EXPECT_EQ(
      with([](TableDefinition& t) { t.columns.push_back(column("id", type_oid::text)); }).message,
      "column \"id\" specified more than once");
  EXPECT_EQ(
      with([](TableDefinition& t) { t.columns.push_back(column("ctid", type_oid::text)); }).state,
      sqlstate::duplicate_column);
  EXPECT_EQ(with([](TableDefinition& t) { t.keys.push_back(key({"balance"}, true)); }).message,
            "multiple primary keys for table \"accounts\" are not allowed");
  EXPECT_EQ(with([](TableDefinition& t) { t.keys.push_back(key({"nothing"})); }).message,
            "column \"nothing\" named in key does not exist");
  EXPECT_EQ(with([](TableDefinition& t) { t.keys.push_back(key({"id", "id"})); }).message,
            "column \"id\" appears twice in unique constraint");
  EXPECT_EQ(with([](TableDefinition& t) { t.schema = "nowhere"; }).state,
            sqlstate::invalid_schema_name);
  EXPECT_EQ(with([](TableDefinition& t) { t.schema = "pg_catalog"; }).state,
            sqlstate::insufficient_privilege);
  EXPECT_EQ(with([](TableDefinition& t) { t.columns[1].type = type_oid::record; }).message,
            "column \"name\" has pseudo-type record");
}

TEST_F(DataDefinitionTest, NamesIndexesAsPostgres) {
  create_accounts();
  define(
      [&](DataDefinition& d) { return d.create_index(oid(), index({"name", "balance"}), false); });
  define(
      [&](DataDefinition& d) { return d.create_index(oid(), index({"name", "balance"}), false); });
  EXPECT_NE(session_.view.find_index({}, "accounts_name_balance_idx"), nullptr);
  session_.view.refresh();
  EXPECT_NE(session_.view.find_index({}, "accounts_name_balance_idx1"), nullptr);
  TableDefinition twice = accounts();
  twice.name = std::string(63, 'x');
  twice.keys = {key({"id"}, true), key({"id"}), key({"name"}), key({"name"})};
  define([&](DataDefinition& d) { return d.create_table(twice, false); });
  const TableDescriptor& made = table(twice.name);
  ASSERT_EQ(made.indexes.size(), 2u);
  EXPECT_EQ(made.indexes[0]->name, std::string(58, 'x') + "_pkey");
  EXPECT_EQ(made.indexes[1]->name, std::string(54, 'x') + "_name_key");
}

TEST_F(DataDefinitionTest, DropsTables) {
  create_accounts();
  RelationId relation = table().relation_id;
  size_t catalog_rows =
      static_cast<size_t>(session_.view.find_table({}, "pg_attribute")->relation->row_count());
  DataDefinition::ObjectName names[] = {{{}, "accounts"}, {{}, "nothing"}};
  EXPECT_EQ(error([&](DataDefinition& d) { return d.drop_tables(names, false); }).message,
            "table \"nothing\" does not exist");
  define([&](DataDefinition& d) { return d.drop_tables(names, true); });
  EXPECT_EQ(notices_, "table \"nothing\" does not exist, skipping\n");
  EXPECT_EQ(engine_.relations.find(relation), nullptr);
  EXPECT_EQ(session_.view.find_table({}, "accounts"), nullptr);
  EXPECT_LT(
      static_cast<size_t>(session_.view.find_table({}, "pg_attribute")->relation->row_count()),
      catalog_rows);
  EXPECT_EQ(error([&](DataDefinition& d) {
              Oid classes = session_.view.find_table({}, "pg_class")->oid;
              return d.truncate({&classes, 1});
            }).message,
            "permission denied: \"pg_class\" is a system catalog");
  create_accounts();
}

TEST_F(DataDefinitionTest, DropsIndexes) {
  create_accounts();
  define([&](DataDefinition& d) { return d.create_index(oid(), index({"balance"}, "i"), false); });
  RelationId relation = session_.view.find_index({}, "i")
                            ? session_.view.find_index({}, "i")->relation_id
                            : RelationId();
  DataDefinition::ObjectName key_name[] = {{{}, "accounts_name_key"}};
  SqlDiagnostic needed = error([&](DataDefinition& d) { return d.drop_indexes(key_name, false); });
  EXPECT_EQ(needed.state, sqlstate::dependent_objects_still_exist);
  EXPECT_EQ(needed.hint, "You can drop constraint accounts_name_key on table accounts instead.");
  DataDefinition::ObjectName name[] = {{{}, "i"}};
  define([&](DataDefinition& d) { return d.drop_indexes(name, false); });
  EXPECT_EQ(table().indexes.size(), 2u);
  EXPECT_EQ(engine_.relations.find(relation), nullptr);
}

TEST_F(DataDefinitionTest, BuildsIndexesFromRows) {
  create_accounts();
  store_account(1, "b");
  store_account(2, "a");
  define([&](DataDefinition& d) {
    return d.create_index(oid(), index({"balance"}, "i", true), false);
  });
  expect_indexes_agree(table());
  // Two nulls are no duplicates; each entry carries its row's key.
  EXPECT_EQ(table().find_index(session_.view.find_index({}, "i")->oid)->relation->row_count(), 2);
}

TEST_F(DataDefinitionTest, FailsToBuildUniqueIndex) {
  TableDefinition plain = accounts();
  plain.keys.clear();
  define([&](DataDefinition& d) { return d.create_table(plain, false); });
  store_account(7, "x");
  store_account(7, "y");
  SqlDiagnostic diagnostic = error(
      [&](DataDefinition& d) { return d.create_index(oid(), index({"id"}, "i", true), false); });
  EXPECT_EQ(diagnostic.message, "could not create unique index \"i\"");
  EXPECT_EQ(diagnostic.detail, "Key (id)=(7) is duplicated.");
  EXPECT_TRUE(table().indexes.empty());
  EXPECT_EQ(error([&](DataDefinition& d) { return d.add_key(oid(), key({"id"}, true)); }).detail,
            "Key (id)=(7) is duplicated.");
  EXPECT_EQ(
      error([&](DataDefinition& d) { return d.add_key(oid(), key({"balance"}, true)); }).message,
      "column \"balance\" of relation \"accounts\" contains null values");
  EXPECT_EQ(values(table(), 1), "x,y");
}

TEST_F(DataDefinitionTest, AddsAndDropsPrimaryKey) {
  TableDefinition plain = accounts();
  plain.keys = {key({"name"})};
  define([&](DataDefinition& d) { return d.create_table(plain, false); });
  store_account(2, "x");
  store_account(1, "y");
  EXPECT_EQ(values(table(), 0), "2,1");
  RelationId before = table().relation_id;
  define([&](DataDefinition& d) { return d.add_key(oid(), key({"id"}, true)); });
  EXPECT_NE(table().relation_id, before);
  EXPECT_EQ(engine_.relations.find(before), nullptr);
  EXPECT_EQ(values(table(), 0), "1,2");
  EXPECT_TRUE(table().columns[0].not_null);
  expect_indexes_agree(table());
  EXPECT_EQ(error([&](DataDefinition& d) { return d.add_key(oid(), key({"name"}, true)); }).state,
            sqlstate::invalid_table_definition);
  EXPECT_EQ(error([&](DataDefinition& d) { return d.set_not_null(oid(), "id", false); }).message,
            "column \"id\" is in a primary key");
  define([&](DataDefinition& d) { return d.drop_constraint(oid(), "accounts_pkey", false); });
  EXPECT_FALSE(table().has_primary_key());
  EXPECT_EQ(values(table(), 0), "1,2");
  expect_indexes_agree(table());
  EXPECT_EQ(error([&](DataDefinition& d) {
              return d.drop_constraint(oid(), "accounts_pkey", false);
            }).message,
            "constraint \"accounts_pkey\" of relation \"accounts\" does not exist");
}

TEST_F(DataDefinitionTest, AddsAndDropsColumns) {
  create_accounts();
  store_account(1, "a");
  store_account(2, "b");
  define([&](DataDefinition& d) {
    return d.add_column(oid(), column("note", type_oid::text, true), Datum::of_bytes("hello"),
                        nullptr, false);
  });
  EXPECT_EQ(values(table(), 3), "hello,hello");
  store(table(), {Datum::of_int(3), Datum::of_bytes("c"), Datum(), Datum::of_bytes("new")});
  EXPECT_EQ(values(table(), 3), "hello,hello,new");
  EXPECT_EQ(error([&](DataDefinition& d) {
              return d.add_column(oid(), column("more", type_oid::int4, true), Datum(), nullptr,
                                  false);
            }).message,
            "column \"more\" of relation \"accounts\" contains null values");
  EXPECT_EQ(error([&](DataDefinition& d) {
              return d.add_column(oid(), column("note", type_oid::int4), Datum(), nullptr, false);
            }).message,
            "column \"note\" of relation \"accounts\" already exists");
  define([&](DataDefinition& d) { return d.drop_column(oid(), "name", false); });
  EXPECT_EQ(table().indexes.size(), 1u);
  EXPECT_EQ(table().find_column("name"), nullptr);
  EXPECT_EQ(values(table(), 3), "hello,hello,new");
  store(table(), {Datum::of_int(4), Datum(), Datum(), Datum::of_bytes("4")});
  EXPECT_EQ(values(table(), 3), "hello,hello,new,4");
  define([&](DataDefinition& d) { return d.drop_column(oid(), "id", false); });
  EXPECT_FALSE(table().has_primary_key());
  EXPECT_EQ(values(table(), 3), "hello,hello,new,4");
  EXPECT_EQ(error([&](DataDefinition& d) { return d.drop_column(oid(), "id", false); }).message,
            "column \"id\" of relation \"accounts\" does not exist");
  define([&](DataDefinition& d) { return d.drop_column(oid(), "id", true); });
}

class Doubling final : public RowTransform {
 public:
  void apply(std::span<Datum> values) override {
    values[0] = Datum::of_int(values[0].i64 * 2);
    values.back() = Datum::of_int(values[0].i64 + 1);
  }
};

TEST_F(DataDefinitionTest, RewritesRows) {
  create_accounts();
  store_account(1, "a");
  store_account(2, "b");
  Doubling doubling;
  define([&](DataDefinition& d) {
    return d.add_column(oid(), column("more", type_oid::int8, true), Datum(), &doubling, false);
  });
  EXPECT_EQ(values(table(), 0), "2,4");
  EXPECT_EQ(values(table(), 3), "3,5");
  expect_indexes_agree(table());
}

TEST_F(DataDefinitionTest, ChangesColumns) {
  create_accounts();
  store_account(1, "a");
  define([&](DataDefinition& d) { return d.set_default(oid(), "balance", stored_zero()); });
  EXPECT_EQ(table().columns[2].default_value, stored_zero());
  define([&](DataDefinition& d) { return d.set_default(oid(), "balance", {}); });
  EXPECT_FALSE(table().columns[2].has_default());
  EXPECT_EQ(error([&](DataDefinition& d) { return d.set_not_null(oid(), "balance", true); }).state,
            sqlstate::not_null_violation);
  define([&](DataDefinition& d) { return d.set_not_null(oid(), "name", false); });
  define([&](DataDefinition& d) { return d.set_statistics_target(oid(), "name", 250); });
  define([&](DataDefinition& d) { return d.set_storage(oid(), "name", 'e'); });
  EXPECT_FALSE(table().columns[1].not_null);
  define([&](DataDefinition& d) { return d.rename_column(oid(), "name", "title"); });
  EXPECT_NE(table().find_column("title"), nullptr);
  define([&](DataDefinition& d) { return d.set_options(oid(), {"fillfactor=50"}); });
  EXPECT_EQ(table().options[0], "fillfactor=50");
}

TEST_F(DataDefinitionTest, Renames) {
  create_accounts();
  TableDefinition underscore = accounts();
  underscore.name = "_accounts";  // the name of the other's array type, which gives way
  define([&](DataDefinition& d) { return d.create_table(underscore, false); });
  define([&](DataDefinition& d) { return d.rename_relation(oid(), "people"); });
  EXPECT_EQ(session_.view.find_table({}, "accounts"), nullptr);
  EXPECT_EQ(
      error([&](DataDefinition& d) { return d.rename_relation(oid("people"), "_accounts"); }).state,
      sqlstate::duplicate_table);
  define([&](DataDefinition& d) {
    return d.rename_constraint(oid("people"), "accounts_pkey", "people_pkey");
  });
  EXPECT_EQ(table("people").primary_index()->name, "people_pkey");
  EXPECT_NE(table("people").find_constraint("people_pkey"), nullptr);
}

TEST_F(DataDefinitionTest, Truncates) {
  create_accounts();
  store_account(1, "a");
  Oid table_oid = oid();
  RelationId before = table().relation_id;
  define([&](DataDefinition& d) { return d.truncate({&table_oid, 1}); });
  EXPECT_EQ(table().oid, table_oid);
  EXPECT_NE(table().relation_id, before);
  EXPECT_EQ(values(table(), 0), "");
  store_account(1, "a");
  EXPECT_EQ(values(table(), 0), "1");
}

// Both tables tell of a foreign key, and both forget it (define() compares rows and descriptors).
TEST_F(DataDefinitionTest, ForeignKeys) {
  for (std::string name : {"accounts", "others"}) {
    TableDefinition made = accounts();
    made.name = name;
    made.columns[2].type = type_oid::int8;
    define([&](DataDefinition& d) { return d.create_table(made, false); });
  }
  ForeignKeyDefinition key;
  key.columns = {"balance"};
  key.referenced_table = oid();
  key.on_delete = ReferentialAction::set_null;
  key.on_delete_columns = {"balance"};
  key.deferrable = key.not_valid = true;
  Oid constraint = invalid_oid;
  auto add = [&](std::string_view to) {
    define([&](DataDefinition& d) { return d.add_foreign_key(oid(to), key, &constraint); });
  };
  add("others");
  EXPECT_EQ(table().referenced_by, (std::vector<IncomingReference>{{oid("others"), constraint}}));
  EXPECT_EQ(table("others").find_constraint(constraint)->name, "others_balance_fkey");
  define([&](DataDefinition& d) { return d.set_validated(oid("others"), constraint); });
  define([&](DataDefinition& d) {
    return d.set_deferrability(oid("others"), constraint, true, true);
  });
  define([&](DataDefinition& d) {
    return d.rename_constraint(oid("others"), "others_balance_fkey", "renamed");
  });
  EXPECT_TRUE(table("others").find_constraint("renamed")->validated);
  add("accounts");  // to itself
  EXPECT_EQ(table().referenced_by.size(), 2u);
  define([&](DataDefinition& d) { return d.drop_constraint(oid("others"), "renamed", false); });
  define([&](DataDefinition& d) { return d.drop_column(oid(), "balance", false); });
  EXPECT_TRUE(table().referenced_by.empty());
  add("others");
  DataDefinition::ObjectName names[] = {{{}, "accounts"}};
  SqlDiagnostic needed = error([&](DataDefinition& d) { return d.drop_tables(names, false); });
  EXPECT_EQ(needed.state, sqlstate::dependent_objects_still_exist);
  EXPECT_EQ(needed.detail,
            "constraint others_balance_fkey on table others depends on table accounts");
  define([&](DataDefinition& d) { return d.drop_tables(names, false, /*cascade=*/true); });
  EXPECT_FALSE(table("others").has_foreign_keys());
}

TEST_F(DataDefinitionTest, Schemas) {
  define([](DataDefinition& d) { return d.create_schema("s", false); });
  EXPECT_EQ(error([](DataDefinition& d) { return d.create_schema("s", false); }).message,
            "schema \"s\" already exists");
  EXPECT_EQ(error([](DataDefinition& d) { return d.create_schema("pg_x", false); }).state,
            sqlstate::reserved_name);
  define([](DataDefinition& d) {
    TableDefinition table = accounts();
    table.schema = "s";
    return d.create_table(table, false);
  });
  std::string_view names[] = {"s"};
  SqlDiagnostic used = error([&](DataDefinition& d) { return d.drop_schemas(names, false); });
  EXPECT_EQ(used.detail, "table s.accounts depends on schema s");
  DataDefinition::ObjectName tables[] = {{"s", "accounts"}};
  define([&](DataDefinition& d) { return d.drop_tables(tables, false); });
  define([&](DataDefinition& d) { return d.drop_schemas(names, false); });
  EXPECT_EQ(engine_.catalog.snapshot()->find_schema("s"), nullptr);
}

TEST_F(DataDefinitionTest, NeverGivesAnOidTwice) {
  Oid first = engine_.catalog.allocate_oid(session_.worker, WaitSettings{});
  for (Oid i = 1; i < 20000; ++i)
    ASSERT_EQ(engine_.catalog.allocate_oid(session_.worker, WaitSettings{}), first + i);
  // A server that starts anew goes on behind what was reserved.
  Catalog reopened(engine_.relations);
  EXPECT_FALSE(reopened.open(session_.worker, WaitSettings{}));
  EXPECT_GT(reopened.allocate_oid(session_.worker, WaitSettings{}), first + 19999);
}

TEST_F(DataDefinitionTest, ListsLiveRelations) {
  create_accounts();
  std::vector<RelationId> live = engine_.catalog.live_relations(session_.worker.reclaimer());
  ASSERT_EQ(live.size(), 2u);
  EXPECT_EQ(live[0], table().relation_id);
  EXPECT_EQ(live[1], table().indexes[1]->relation_id);
}

}  // namespace
}  // namespace pgsilo::testing
