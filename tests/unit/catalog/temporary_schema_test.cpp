// A session's temporary schema: its number, what is in it, ON COMMIT, what a start finds of it.
#include "catalog/temporary_schema.h"

#include <gtest/gtest.h>

#include "tests/unit/catalog/data_definition_fixture.h"

namespace pgsilo::testing {
namespace {

class TemporarySchemaTest : public DataDefinitionTest {
 protected:
  void SetUp() override { session_.view.use_temporary_schema(&schema_); }
  void TearDown() override { session_.view.use_temporary_schema(nullptr); }

  static TableDefinition temporary(std::string name, OnCommit on_commit = OnCommit::preserve_rows) {
    TableDefinition table;
    table.name = std::move(name);
    table.persistence = RelationPersistence::temporary;
    table.on_commit = on_commit;
    table.columns = {column("id", type_oid::int4)};
    table.keys = {key({"id"}, true)};
    return table;
  }
  void create(const TableDefinition& table) {
    define([&](DataDefinition& d) { return d.create_table(table, false); });
  }
  size_t members() {
    session_.view.refresh();
    const SchemaDescriptor* schema = session_.view.temporary_schema();
    return schema == nullptr ? 0 : session_.view.snapshot().members(schema->oid).size();
  }

  TemporarySchema schema_;
};

TEST_F(TemporarySchemaTest, TakesTheLeastNumberThatIsFreeAndEmpty) {
  TemporarySchema first;
  first.take(engine_.catalog.temporary_numbers(), {engine_.catalog.snapshot()});
  EXPECT_EQ(first.name(), "pg_temp_1");
  create(temporary("t"));
  EXPECT_EQ(schema_.name(), "pg_temp_2");
  schema_ = TemporarySchema();  // its objects stay
  TemporarySchema again;
  again.take(engine_.catalog.temporary_numbers(), {engine_.catalog.snapshot()});
  EXPECT_EQ(again.name(), "pg_temp_3");
  first = TemporarySchema();
  TemporarySchema last;
  last.take(engine_.catalog.temporary_numbers(), {engine_.catalog.snapshot()});
  EXPECT_EQ(last.name(), "pg_temp_1");
}

// What another session has dropped is there yet for a view that was not told of it.
TEST_F(TemporarySchemaTest, TakesNoNumberOfWhatItsOwnViewStillShows) {
  create(temporary("t"));
  std::shared_ptr<const CatalogSnapshot> before = engine_.catalog.snapshot();
  define([](DataDefinition& d) { return d.drop_temporary_objects(); });
  schema_ = TemporarySchema();
  TemporarySchema next;
  next.take(engine_.catalog.temporary_numbers(), {engine_.catalog.snapshot(), before});
  EXPECT_EQ(next.name(), "pg_temp_2");
  TemporarySchema last;
  last.take(engine_.catalog.temporary_numbers(), {engine_.catalog.snapshot()});
  EXPECT_EQ(last.name(), "pg_temp_1");
}

TEST_F(TemporarySchemaTest, IsSearchedFirst) {
  TableDefinition permanent = temporary("t");
  permanent.persistence = RelationPersistence::permanent;
  permanent.on_commit.reset();
  create(permanent);
  Oid before = oid("t");
  create(temporary("t"));
  EXPECT_NE(oid("t"), before);
  EXPECT_EQ(session_.view.find_table("pg_temp", "t")->oid, oid("t"));
  EXPECT_EQ(session_.view.find_table("public", "t")->oid, before);
  Oid temporary = session_.view.temporary_schema()->oid;
  using Place = CatalogView::TemporaryPlace;
  session_.view.set_search_path({system_oid::schema_public, temporary}, Place::named);
  EXPECT_EQ(oid("t"), before);
}

TEST_F(TemporarySchemaTest, AllOfItIsDropped) {
  create(temporary("a"));
  TableDefinition refers = temporary("b");
  refers.columns.push_back(column("c", type_oid::int4));
  refers.columns.back().sequence.emplace().identity = IdentityKind::always;
  create(refers);
  define([&](DataDefinition& d) { return d.create_enum({"pg_temp", "e"}, {}); });
  EXPECT_EQ(members(), 4u);
  define([](DataDefinition& d) { return d.drop_temporary_objects(); });
  EXPECT_EQ(members(), 0u);
}

TEST_F(TemporarySchemaTest, CommitsEmptyAndDrop) {
  create(temporary("kept"));
  EXPECT_FALSE(session_.view.has_commit_actions());
  create(temporary("emptied", OnCommit::delete_rows));
  store(table("emptied"), {Datum::of_int(1)});
  store(table("kept"), {Datum::of_int(1)});
  RelationId emptied = table("emptied").relation_id;
  RelationId kept = table("kept").relation_id;
  EXPECT_TRUE(session_.view.has_commit_actions());
  define([](DataDefinition& d) { return d.settle_temporary_tables(); });
  EXPECT_NE(table("emptied").relation_id, emptied);
  EXPECT_EQ(table("kept").relation_id, kept);
  // What has no rows stays as it is.
  emptied = table("emptied").relation_id;
  define([](DataDefinition& d) { return d.settle_temporary_tables(); });
  EXPECT_EQ(table("emptied").relation_id, emptied);
  create(temporary("dropped", OnCommit::drop));
  define([](DataDefinition& d) { return d.settle_temporary_tables(); });
  EXPECT_EQ(members(), 2u);
}

TEST_F(TemporarySchemaTest, AStartDropsWhatSessionsHaveLeft) {
  create(temporary("t"));
  EXPECT_EQ(members(), 1u);
  engine_.catalog.open(session_.worker, WaitSettings{});
  session_.view.refresh();
  EXPECT_EQ(session_.view.temporary_schema(), nullptr);
  EXPECT_EQ(session_.view.find_table("pg_temp_1", "t"), nullptr);
  expect_rows_agree();
}

TEST_F(TemporarySchemaTest, WhereThingsAreMade) {
  TableDefinition table = temporary("t");
  table.schema = "public";
  EXPECT_EQ(error([&](DataDefinition& d) { return d.create_table(table, false); }).state.text(),
            "42P16");
  table.schema = "pg_temp";
  table.persistence = RelationPersistence::unlogged;
  EXPECT_EQ(error([&](DataDefinition& d) { return d.create_table(table, false); }).state.text(),
            "42P16");
  table.persistence = RelationPersistence::permanent;
  create(table);
  EXPECT_EQ(this->table("t").persistence, RelationPersistence::temporary);
  CatalogSession other(engine_);
  other.begin();
  DataDefinition theirs(other.view, other.transaction, types_);
  table.schema = schema_.name();
  EXPECT_THROW(static_cast<void>(theirs.create_table(table, false)), SqlError);
  other.abort();
}

}  // namespace
}  // namespace pgsilo::testing
