// Types that users make: what their definitions write, and how long they live.
#include "catalog/data_definition.h"

#include "sql/types/user_type.h"
#include "tests/unit/catalog/data_definition_fixture.h"

namespace pgsilo::testing {
namespace {

class TypeDefinitionTest : public DataDefinitionTest {
 protected:
  void create_mood() {
    define([](DataDefinition& d) {
      constexpr std::string_view labels[] = {"sad", "ok", "happy"};
      return d.create_enum({{}, "mood"}, labels);
    });
  }
  std::shared_ptr<const TypeDescriptor> type(std::string_view name = "mood") {
    session_.view.refresh();
    return session_.view.find_type({}, name);
  }
  void add(std::string_view name, std::string_view neighbor = {}, bool is_after = false) {
    Oid oid = type()->address.oid;
    define([&](DataDefinition& d) {
      return d.add_enum_value(oid, {name, neighbor, is_after}, false);
    });
  }
  std::string labels() {
    std::string all;
    for (const EnumLabel& label : type()->labels.all()) all += label.name + " ";
    return all;
  }
  void create_table_of_moods(std::string name) {
    TableDefinition table;
    table.name = std::move(name);
    table.columns = {column("id", type_oid::int4), column("m", type()->address.oid),
                     column("ms", type()->array_oid)};
    define([&](DataDefinition& d) { return d.create_table(table, false); });
  }
};

TEST_F(TypeDefinitionTest, LabelsKeepTheirPositions) {
  create_mood();
  int32_t ok = type()->labels.find("ok")->position;
  add("great");
  add("meh", "ok");
  add("fine", "ok", true);
  add("awful", "sad");
  EXPECT_EQ(labels(), "awful sad meh ok fine happy great ");
  EXPECT_EQ(type()->labels.find("ok")->position, ok);
  EXPECT_EQ(type()->labels.at(ok)->name, "ok");
  EXPECT_EQ(type()->labels.find("none"), nullptr);
  for (const EnumLabel& label : type()->labels.all()) EXPECT_FALSE(label.is_new);
}

// As often as half a float lies between two; then there is a clear refusal, and nothing is lost.
TEST_F(TypeDefinitionTest, BetweenTwoLabelsThereIsRoomForSome) {
  create_mood();
  std::string neighbor = "ok";
  Oid oid = type()->address.oid;
  for (int i = 0; i < 20; ++i) {
    std::string name = "m" + std::to_string(i);
    add(name, neighbor);
    neighbor = name;
  }
  SqlDiagnostic refusal;
  for (int i = 20; i < 30 && refusal.message.empty(); ++i) {
    session_.begin();
    DataDefinition definition(session_.view, session_.transaction, types_);
    std::string name = "m" + std::to_string(i);
    try {
      ASSERT_EQ(definition.add_enum_value(oid, {name, neighbor, false}, false),
                TransactionStatus::ok);
      ASSERT_EQ(session_.commit(), TransactionStatus::ok);
      neighbor = name;
    } catch (const SqlError& error) {
      refusal = error.diagnostic();
      session_.abort();
    }
  }
  EXPECT_EQ(refusal.state, sqlstate::program_limit_exceeded) << refusal.message;
  expect_rows_agree();
  add("last");
}

TEST_F(TypeDefinitionTest, ATypeLivesAsLongAsSomebodyHoldsIt) {
  create_mood();
  create_table_of_moods("feelings");
  Oid oid = type()->address.oid;
  Oid array = type()->array_oid;
  EXPECT_EQ(find_type(array)->element_info, find_type(oid));
  EXPECT_EQ(table("feelings").columns[1].user_type->type().oid, oid);
  SqlDiagnostic refusal = error([](DataDefinition& d) {
    constexpr DataDefinition::ObjectName names[] = {{{}, "mood"}};
    return d.drop_types(names, false, false);
  });
  EXPECT_EQ(refusal.message, "cannot drop type mood because other objects depend on it");
  define([](DataDefinition& d) {
    constexpr DataDefinition::ObjectName names[] = {{{}, "mood"}};
    return d.drop_types(names, false, true);
  });
  session_.view.refresh();
  EXPECT_EQ(session_.view.find_table({}, "feelings")->find_column("m"), nullptr);
  EXPECT_EQ(find_type(oid), nullptr);
  EXPECT_EQ(find_type(array), nullptr);
}

TEST_F(TypeDefinitionTest, WhatIsRolledBackIsForgotten) {
  create_mood();
  Oid oid = type()->address.oid;
  session_.begin();
  {
    DataDefinition definition(session_.view, session_.transaction, types_);
    ASSERT_EQ(definition.rename_type(oid, "feeling"), TransactionStatus::ok);
    ASSERT_EQ(definition.add_enum_value(oid, {"new", {}, false}, false), TransactionStatus::ok);
    EXPECT_TRUE(session_.view.find_type({}, "feeling")->labels.find("new")->is_new);
    EXPECT_EQ(session_.view.find_type({}, "mood"), nullptr);
  }
  session_.abort();
  expect_rows_agree();
  EXPECT_EQ(type("feeling"), nullptr);
  EXPECT_EQ(labels(), "sad ok happy ");
  EXPECT_EQ(format_type(oid), "mood");
}

// An array type gives way to what a user calls so.
TEST_F(TypeDefinitionTest, ArrayTypesGiveWay) {
  create_mood();
  define([](DataDefinition& d) {
    constexpr std::string_view labels[] = {"x"};
    return d.create_enum({{}, "_mood"}, labels);
  });
  EXPECT_EQ(type("_mood")->name, "_mood");
  EXPECT_EQ(type()->array_name, "__mood");
}

// Runs `first` in one transaction while another, which has looked at the catalog before, waits with
// `second`: that one must notice.
class TypeConflictTest : public TypeDefinitionTest {
 protected:
  Operation make_table() {
    return [this](DataDefinition& d) {
      TableDefinition table;
      table.name = "feelings";
      table.columns = {column("id", type_oid::int4), column("m", mood_)};
      return d.create_table(table, false);
    };
  }
  // No column is of the type, but an expression names it.
  Operation make_table_of_texts() {
    return [this](DataDefinition& d) {
      StoredExpression names_mood =
          StoredExpression::make({.types = {mood_}, .sequences = {}}, "(constant 25 -1 x)");
      TableDefinition table;
      table.name = "texts";
      table.columns = {column("id", type_oid::int4), column("t", type_oid::text)};
      table.columns[1].default_value = names_mood;
      table.checks = {{.name = "c", .condition = names_mood, .columns = {"t"}}};
      return d.create_table(table, false);
    };
  }
  Operation comment_on_mood() {
    return [this](DataDefinition& d) {
      return d.set_comment({{system_oid::pg_type, mood_}}, "a type");
    };
  }
  static TransactionStatus drop_mood(DataDefinition& d) {
    constexpr DataDefinition::ObjectName names[] = {{{}, "mood"}};
    return d.drop_types(names, false, false);
  }
  static TransactionStatus drop_public(DataDefinition& d) {
    constexpr std::string_view names[] = {"public"};
    return d.drop_schemas(names, false, true);
  }
  Operation add_value() {
    return
        [this](DataDefinition& d) { return d.add_enum_value(mood_, {"great", {}, false}, false); };
  }
  static TransactionStatus take_array_name(DataDefinition& d) {
    constexpr std::string_view labels[] = {"x"};
    return d.create_enum({{}, "_mood"}, labels);
  }

  Oid mood_ = invalid_oid;
};

TEST_F(TypeConflictTest, ATypeIsNotDroppedBeneathANewColumn) {
  create_mood();
  mood_ = type()->address.oid;
  expect_conflict(make_table(), drop_mood);
}

TEST_F(TypeConflictTest, NoColumnIsMadeOfATypeThatWasDropped) {
  create_mood();
  mood_ = type()->address.oid;
  expect_conflict(drop_mood, make_table());
}

// Nor beneath an expression that names it.
TEST_F(TypeConflictTest, ATypeIsNotDroppedBeneathANewDefault) {
  create_mood();
  mood_ = type()->address.oid;
  expect_conflict(make_table_of_texts(), drop_mood);
}

TEST_F(TypeConflictTest, NoExpressionNamesATypeThatWasDropped) {
  create_mood();
  mood_ = type()->address.oid;
  expect_conflict(drop_mood, make_table_of_texts());
}

TEST_F(TypeConflictTest, NothingThatWasDroppedGetsAComment) {
  create_mood();
  mood_ = type()->address.oid;
  expect_conflict(drop_mood, comment_on_mood());
}

TEST_F(TypeConflictTest, ASchemaIsNotDroppedBeneathANewType) {
  expect_conflict(
      [](DataDefinition& d) {
        constexpr std::string_view labels[] = {"x"};
        return d.create_enum({"public", "fresh"}, labels);
      },
      drop_public);
}

TEST_F(TypeConflictTest, ASchemaIsNotDroppedWithATypeThatChanges) {
  create_mood();
  mood_ = type()->address.oid;
  expect_conflict(add_value(), drop_public);
}

TEST_F(TypeConflictTest, AnArrayThatGivesWayKeepsItsTypesLabels) {
  create_mood();
  mood_ = type()->address.oid;
  expect_conflict(add_value(), take_array_name);
  EXPECT_EQ(labels(), "sad ok happy great ");
}

// Each table with columns of a type is found, and once.
TEST_F(TypeDefinitionTest, ManyTablesOfOneType) {
  create_mood();
  for (int i = 0; i < 50; ++i) create_table_of_moods("t" + std::to_string(i));
  int users = 0;
  session_.view.snapshot().for_each_type_user(type()->address.oid, [&](Oid) { ++users; });
  EXPECT_EQ(users, 50);
}

}  // namespace
}  // namespace pgsilo::testing
