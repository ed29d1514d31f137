#include "catalog/catalog_upgrade.h"

#include <map>
#include <string>

#include "base/byte_order.h"
#include "base/checksum.h"
#include "catalog/catalog_writer.h"
#include "catalog/relation_encoding.h"
#include "sql/sql_error.h"
#include "storage/record/row_buffer.h"
#include "storage/relation/relation_directory.h"
#include "tests/unit/catalog/data_definition_fixture.h"

namespace pgsilo::testing {
namespace {

// Of the catalog version in catalog_upgrade.h. When the test that names it fails: add one to the
// version there, and write here what the test has found.
constexpr uint64_t builtin_rows_digest = 14654887200689994340u;

constexpr RelationId control_relation(1);

// What all of the catalog's trees hold, but for what a start writes besides built-in rows.
using Contents = std::map<std::pair<uint32_t, std::string>, std::string>;

Contents contents(CatalogEngine& engine, WorkerContext& worker) {
  Contents found;
  Pin pin(worker.reclaimer());
  Arena arena;
  RowBuffer buffer(arena);
  for (Relation* relation : engine.relations.list()) {
    relation->tree().for_each([&](Record* record) {
      TidWord seen = record->stable_read(buffer);
      if (seen.is_absent() || seen.is_obsolete()) return;
      found[{relation->id().value(), std::string(record->key())}] = buffer.bytes();
    });
  }
  return found;
}

class CatalogUpgradeTest : public DataDefinitionTest {
 protected:
  const SystemTables& tables() { return engine_.catalog.system_tables(); }

  template <typename Change>
  void change(Change change) {
    session_.begin();
    Arena arena;
    CatalogWriter writer(session_.transaction, engine_.relations, arena);
    ASSERT_EQ(session_.transaction.begin_statement(), TransactionStatus::ok);
    change(writer);
    ASSERT_EQ(session_.transaction.commit(), TransactionStatus::ok);
  }
  void remove(system_oid::Table table, std::vector<Datum> key) {
    change([&](CatalogWriter& writer) { writer.remove(tables().table(table), key); });
  }
  // As a program would that has another version.
  void set_version(uint32_t version) {
    char bytes[] = {0, 0, 0, static_cast<char>(version)};
    change_version([&](Transaction& transaction, const RowRef& row) {
      return transaction.update(row, {bytes, sizeof bytes});
    });
  }
  // As databases are that were made before it was told.
  void forget_version() {
    change_version(
        [](Transaction& transaction, const RowRef& row) { return transaction.remove(row); });
  }
  template <typename Change>
  void change_version(Change change) {
    session_.begin();
    RowBuffer buffer(arena_);
    RowRef row;
    Relation& control = *engine_.relations.find(control_relation);
    ASSERT_EQ(session_.transaction.begin_statement(), TransactionStatus::ok);
    ASSERT_EQ(session_.transaction.get(control, "catalog_version", buffer, &row),
              TransactionStatus::ok);
    ASSERT_EQ(change(session_.transaction, row), TransactionStatus::ok);
    ASSERT_EQ(session_.transaction.commit(), TransactionStatus::ok);
  }
  void set_encoding(RelationId relation, RelationEncoding encoding) {
    session_.begin();
    RowBuffer buffer(arena_);
    RowRef row;
    char key[sizeof(uint32_t)];
    store_be<uint32_t>(key, relation.value());
    char bytes[2 * sizeof(uint16_t)];
    store_be<uint16_t>(bytes, encoding.keys);
    store_be<uint16_t>(bytes + sizeof(uint16_t), encoding.rows);
    ASSERT_EQ(session_.transaction.begin_statement(), TransactionStatus::ok);
    ASSERT_EQ(session_.transaction.get(*engine_.relations.find(relation_encodings),
                                       {key, sizeof key}, buffer, &row),
              TransactionStatus::ok);
    ASSERT_EQ(session_.transaction.update(row, {bytes, sizeof bytes}), TransactionStatus::ok);
    ASSERT_EQ(session_.transaction.commit(), TransactionStatus::ok);
  }
  bool open_again() {
    Catalog catalog(engine_.relations);
    catalog.create_system_relations();
    return catalog.open(session_.worker, WaitSettings{});
  }
  std::string refusal() {
    try {
      open_again();
      return "opened";
    } catch (const SqlError& error) {
      return error.diagnostic().message;
    }
  }
  Contents contents() { return testing::contents(engine_, session_.worker); }

  Arena arena_;
};

TEST_F(CatalogUpgradeTest, TheVersionGoesUpWithTheRows) {
  uint64_t digest = catalog_version;
  visit_builtin_rows(tables(), [&](const SystemRow& row, RowOrigin origin) {
    ByteBuffer bytes;
    row.table().layout().encode(row.values(), bytes);
    digest = checksum64(bytes.data(), bytes.size(), digest ^ row.table().info().oid);
    digest += static_cast<uint64_t>(origin);
  });
  EXPECT_EQ(digest, builtin_rows_digest);
}

TEST_F(CatalogUpgradeTest, TheSameVersionChangesNothing) {
  Contents before = contents();
  EXPECT_FALSE(open_again());
  EXPECT_EQ(contents(), before);
}

TEST_F(CatalogUpgradeTest, AnOlderDatabaseGetsWhatIsMissing) {
  create_accounts();
  Contents before = contents();
  remove(system_oid::pg_proc, {Datum::of_int(870)});  // lower(text)
  remove(system_oid::pg_type, {Datum::of_int(type_oid::int4)});
  remove(system_oid::pg_attribute, {Datum::of_int(system_oid::pg_class), Datum::of_int(2)});
  set_version(1);
  EXPECT_NE(contents(), before);
  EXPECT_TRUE(open_again());
  EXPECT_EQ(contents(), before);
}

TEST_F(CatalogUpgradeTest, SoDoesOneThatDoesNotTellItsVersion) {
  create_accounts();
  Contents before = contents();
  remove(system_oid::pg_proc, {Datum::of_int(870)});
  forget_version();
  EXPECT_TRUE(open_again());
  EXPECT_EQ(contents(), before);
}

TEST_F(CatalogUpgradeTest, RowsThatDifferAndRowsOfOldProgramsGo) {
  Contents before = contents();
  change([&](CatalogWriter& writer) {
    SystemRow row(tables().table(system_oid::pg_tablespace));
    row.set_int(pg_tablespace_oid, 1663)
        .set(pg_tablespace_spcname, std::string_view("pg_renamed_since"))
        .set_int(pg_tablespace_spcowner, system_oid::role_postgres);
    writer.update(row);
    row.set_int(pg_tablespace_oid, 1665).set(pg_tablespace_spcname, std::string_view("pg_default"));
    writer.insert(row);
  });
  set_version(1);
  EXPECT_TRUE(open_again());
  EXPECT_EQ(contents(), before);
}

TEST_F(CatalogUpgradeTest, WhatUsersMayDropOrChangeIsTheirs) {
  remove(system_oid::pg_namespace, {Datum::of_int(system_oid::schema_public)});
  Contents before = contents();
  set_version(1);
  EXPECT_TRUE(open_again());
  EXPECT_EQ(contents(), before);
}

TEST_F(CatalogUpgradeTest, ANewerDatabaseIsRefused) {
  set_version(catalog_version + 1);
  EXPECT_EQ(refusal(), "the database has catalog version " + std::to_string(catalog_version + 1) +
                           ", this program knows versions up to " +
                           std::to_string(catalog_version));
}

TEST_F(CatalogUpgradeTest, ANameThatAUsersObjectHasIsRefusedByName) {
  remove(system_oid::pg_tablespace, {Datum::of_int(1663)});
  change([&](CatalogWriter& writer) {
    SystemRow row(tables().table(system_oid::pg_tablespace));
    row.set_int(pg_tablespace_oid, 20000)
        .set(pg_tablespace_spcname, std::string_view("pg_default"))
        .set_int(pg_tablespace_spcowner, system_oid::role_postgres);
    writer.insert(row);
  });
  set_version(1);
  Contents before = contents();
  EXPECT_EQ(refusal(),
            "an object of the database has the name of the built-in \"pg_default\" "
            "(pg_tablespace), which this program has and older ones had not");
  EXPECT_EQ(contents(), before);
}

TEST_F(CatalogUpgradeTest, RelationsSayTheirEncoding) {
  auto encodings = [&] {
    std::map<uint32_t, RelationEncoding> found;
    for (const auto& [key, row] : contents()) {
      if (key.first == relation_encodings.value())
        found[relation_of_encoding_key(key.second).value()] = encoding_of_row(row);
    }
    return found;
  };
  create_accounts();
  // The table's own tree, and that of the key on name.
  EXPECT_EQ(encodings().size(), 2u);
  EXPECT_EQ(encodings().begin()->second, newest_encoding);
  uint32_t before = encodings().begin()->first;
  define([&](DataDefinition& definition) { return definition.truncate(std::vector{oid()}); });
  EXPECT_EQ(encodings().size(), 2u);
  EXPECT_GT(encodings().begin()->first, before);
  define([&](DataDefinition& definition) {
    return definition.drop_tables(std::vector{DataDefinition::ObjectName{"", "accounts"}}, false,
                                  false);
  });
  EXPECT_TRUE(encodings().empty());
}

TEST_F(CatalogUpgradeTest, AnUnknownEncodingIsRefused) {
  create_accounts();
  set_encoding(table().relation_id, {.keys = 2, .rows = 1});
  EXPECT_EQ(refusal(), "relation " + std::to_string(table().relation_id.value()) +
                           " has encoding 2 of keys and 1 of rows, this program knows those up to "
                           "1 and 2");
}

// What lies in a tree already is read, and added to, as it was begun.
TEST_F(CatalogUpgradeTest, EntriesOfOldRelationsHoldTheirPrimaryKeys) {
  create_accounts();
  define([&](DataDefinition& d) { return d.create_index(oid(), index({"balance"}, "i"), false); });
  Oid made = table().indexes.back()->oid;
  EXPECT_EQ(table().find_index(made)->key.suffix_bytes(), 4u);
  set_encoding(table().find_index(made)->relation_id, first_encoding);
  CatalogLoader loader(tables(), engine_.relations, session_.worker.reclaimer());
  auto loaded = loader.load(1);
  EXPECT_EQ(loaded->find_table(oid())->find_index(made)->key.suffix_bytes(), 0u);
  define([&](DataDefinition& definition) { return definition.truncate(std::vector{oid()}); });
  EXPECT_EQ(table().find_index(made)->key.suffix_bytes(), 4u);
}

// Two rows may be equal in all columns of a unique index where one is null: such an entry alone
// ends with the primary key.
TEST_F(CatalogUpgradeTest, EntriesOfUniqueIndexesHoldTheirPrimaryKeys) {
  create_accounts();
  EXPECT_EQ(table().indexes[1]->key.suffix_bytes(), 0u);
}

}  // namespace
}  // namespace pgsilo::testing
