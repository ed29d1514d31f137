// Tables of many indexes: a definition costs what it changes, and gives way as it goes.
#include <vector>

#include "tests/unit/base/counted_pauses.h"
#include "tests/unit/catalog/data_definition_fixture.h"

namespace pgsilo::testing {
namespace {

class ManyIndexesTest : public DataDefinitionTest {
 protected:
  static constexpr int count = 20;

  void SetUp() override {
    create_accounts();
    TableDefinition other = accounts();
    other.name = "others";
    define([&](DataDefinition& d) { return d.create_table(other, false); });
    for (int i = 0; i < count; ++i) create(name(i));
  }
  static std::string name(int i) { return "i" + std::to_string(i); }
  void create(const std::string& name) {
    define(
        [&](DataDefinition& d) { return d.create_index(oid(), index({"balance"}, name), false); });
  }
  TransactionStatus drop_all(DataDefinition& definition, std::string_view last) {
    std::vector<std::string> names;
    for (int i = 0; i < count; ++i) names.push_back(name(i));
    std::vector<DataDefinition::ObjectName> objects;
    for (const std::string& each : names) objects.push_back({{}, each});
    objects.push_back({{}, last});
    return definition.drop_indexes(objects, false);
  }
  // How often the operation gives way.
  template <typename Operation>
  int pauses_of(Operation operation) {
    CountedPauses pauses;
    run_with(pauses, [&] { define(operation); });
    return pauses.count;
  }
};

TEST_F(ManyIndexesTest, ThoseThatStayAreShared) {
  std::vector<std::shared_ptr<const IndexDescriptor>> before = table().indexes;
  create("another");
  std::vector<std::shared_ptr<const IndexDescriptor>> after = table().indexes;
  ASSERT_EQ(after.size(), before.size() + 1);
  after.pop_back();
  EXPECT_EQ(after, before);
  define([&](DataDefinition& d) { return d.rename_relation(before[5]->oid, "renamed"); });
  for (size_t i = 0; i < before.size(); ++i) EXPECT_EQ(table().indexes[i] == before[i], i != 5);
  EXPECT_EQ(session_.view.find_index({}, before[5]->name), nullptr);
  EXPECT_NE(session_.view.find_index({}, "renamed"), nullptr);
}

// define() compares them with what a start makes of the rows.
TEST_F(ManyIndexesTest, TheirKeysFollowTheirColumns) {
  define([&](DataDefinition& d) { return d.set_not_null(oid(), "balance", true); });
  EXPECT_FALSE(table().indexes.back()->key.may_hold_nulls());
  define([&](DataDefinition& d) { return d.set_not_null(oid(), "balance", false); });
  EXPECT_TRUE(table().indexes.back()->key.may_hold_nulls());
  ColumnTypeDefinition to;
  to.type = type_oid::int8;
  to.default_value = stored_zero();
  struct Same final : RowTransform {
    void apply(std::span<Datum>) override {}
  } same;
  define([&](DataDefinition& d) { return d.set_column_type(oid(), "balance", to, &same); });
  EXPECT_EQ(table().indexes.back()->key.columns()[0].type->oid, type_oid::int8);
}

TEST_F(ManyIndexesTest, AreDroppedTogether) {
  define([&](DataDefinition& d) {
    return d.create_index(oid("others"), index({"balance"}, "of_others"), false);
  });
  define([&](DataDefinition& d) {
    TransactionStatus status = d.set_options(oid(), {});
    uint64_t version = session_.view.version();
    if (status == TransactionStatus::ok) status = drop_all(d, "of_others");
    EXPECT_EQ(session_.view.version(), version + 2);  // each of the two tables was changed once
    return status;
  });
  for (const char* each : {"accounts", "others"}) EXPECT_EQ(table(each).indexes.size(), 2u);
  EXPECT_EQ(session_.view.find_index({}, name(0)), nullptr);
}

TEST_F(ManyIndexesTest, DropIndexGivesWay) {
  EXPECT_GE(pauses_of([&](DataDefinition& d) { return drop_all(d, name(0)); }), count);
  EXPECT_EQ(table().indexes.size(), 2u);
}

TEST_F(ManyIndexesTest, TruncateGivesWay) {
  Oid all[] = {oid()};
  EXPECT_GE(pauses_of([&](DataDefinition& d) { return d.truncate(all); }), count / 2);
}

// What takes back an index whose building has failed, whoever wants it to end.
TEST_F(ManyIndexesTest, DiscardIndexDoesNot) {
  Oid made = invalid_oid;
  define([&](DataDefinition& d) { return d.begin_index(oid(), index({"id"}, "j"), false, &made); });
  EXPECT_EQ(pauses_of([&](DataDefinition& d) { return d.discard_index(oid(), made); }), 0);
}

}  // namespace
}  // namespace pgsilo::testing
