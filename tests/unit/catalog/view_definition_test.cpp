// Views: what their definitions write, and that nothing they read goes beneath them.
#include "tests/unit/catalog/data_definition_fixture.h"

namespace pgsilo::testing {
namespace {

// What is in the tree is nothing to the catalog.
ViewDefinition names_of_accounts(Oid accounts) {
  ViewDefinition view;
  view.name = "names";
  view.columns = {column("name", type_oid::text)};
  view.query = StoredQuery::make("(query)", {{accounts, 0}, {accounts, 2}}, {});
  view.or_replace = true;
  return view;
}

class ViewDefinitionTest : public DataDefinitionTest {
 protected:
  void SetUp() override {
    create_accounts();
    accounts_ = oid();
  }
  Operation make_view() {
    return [this](DataDefinition& d) { return d.create_view(names_of_accounts(accounts_)); };
  }
  Operation drop_accounts(bool cascade = false) {
    return [cascade](DataDefinition& d) {
      constexpr DataDefinition::ObjectName names[] = {{{}, "accounts"}};
      return d.drop_tables(names, false, cascade);
    };
  }
  Operation drop_name(bool cascade = false) {
    return [this, cascade](DataDefinition& d) {
      return d.drop_column(accounts_, "name", false, cascade);
    };
  }
  Operation change_type_of_name() {
    return [this](DataDefinition& d) {
      ColumnTypeDefinition to;
      to.type = type_oid::varchar;
      return d.set_column_type(accounts_, "name", to, nullptr);
    };
  }
  bool has(std::string_view name) {
    session_.view.refresh();
    return session_.view.find_table({}, name) != nullptr;
  }

  Oid accounts_ = invalid_oid;
};

TEST_F(ViewDefinitionTest, AViewIsLoadedAsItWasMade) {
  define(make_view());
  EXPECT_EQ(table("names").view->query, "{query 1 (query)}");
  EXPECT_EQ(table("names").kind, RelationKind::view);
}

TEST_F(ViewDefinitionTest, WhatItReadsStays) {
  define(make_view());
  SqlDiagnostic refused = error(drop_accounts());
  EXPECT_EQ(refused.detail, "view names depends on table accounts");
  EXPECT_EQ(error(drop_name()).detail, "view names depends on column name of table accounts");
  EXPECT_EQ(error(change_type_of_name()).state, sqlstate::feature_not_supported);
  // What it does not read may go.
  define([this](DataDefinition& d) { return d.drop_column(accounts_, "balance", false); });
  define(drop_name(true));
  EXPECT_FALSE(has("names"));
  EXPECT_TRUE(has("accounts"));
}

TEST_F(ViewDefinitionTest, ViewsOfViewsGoWithThem) {
  define(make_view());
  Oid names = oid("names");
  define([names](DataDefinition& d) {
    ViewDefinition view;
    view.name = "more_names";
    view.columns = {column("name", type_oid::text)};
    view.query = StoredQuery::make("(query)", {{names, 1}}, {});
    return d.create_view(view);
  });
  EXPECT_EQ(error(drop_accounts()).detail,
            "view names depends on table accounts\nview more_names depends on view names");
  define(drop_accounts(true));
  EXPECT_FALSE(has("names"));
  EXPECT_FALSE(has("more_names"));
}

// Its dependencies are those of the new query.
TEST_F(ViewDefinitionTest, AViewThatIsReplacedReadsNothingOfBefore) {
  define(make_view());
  define([](DataDefinition& d) {
    ViewDefinition view = names_of_accounts(0);
    view.query = StoredQuery::make("(query 2)", {}, {});
    return d.create_view(view);
  });
  define(drop_accounts());
  EXPECT_TRUE(has("names"));
}

class ViewConflictTest : public ViewDefinitionTest {};

TEST_F(ViewConflictTest, ATableIsNotDroppedBeneathANewView) {
  expect_conflict(make_view(), drop_accounts());
}

TEST_F(ViewConflictTest, NoViewIsMadeOfATableThatWasDropped) {
  expect_conflict(drop_accounts(), make_view());
}

TEST_F(ViewConflictTest, AColumnIsNotDroppedBeneathANewView) {
  expect_conflict(make_view(), drop_name());
}

TEST_F(ViewConflictTest, NoViewIsMadeOfAColumnThatWasDropped) {
  expect_conflict(drop_name(), make_view());
}

TEST_F(ViewConflictTest, AColumnKeepsItsTypeBeneathANewView) {
  expect_conflict(make_view(), change_type_of_name());
}

TEST_F(ViewConflictTest, ASchemaIsNotDroppedBeneathANewView) {
  expect_conflict(make_view(), [](DataDefinition& d) {
    constexpr std::string_view names[] = {"public"};
    return d.drop_schemas(names, false, true);
  });
}

// Who has locked a table looks for what needs it, and at nothing beside that.
TEST_F(ViewConflictTest, WhoDropsATableDoesNotNoticeOtherDependencies) {
  CatalogSession other(engine_);
  other.begin(TransactionMode::interactive);
  other.view.refresh();
  DataDefinition theirs(other.view, other.transaction, types_);
  ASSERT_EQ(drop_accounts()(theirs), TransactionStatus::ok);
  define([](DataDefinition& d) {
    ViewDefinition view;
    view.name = "one";
    view.columns = {column("a", type_oid::int4)};
    view.query = StoredQuery::make("(query)", {}, {});
    return d.create_view(view);
  });
  EXPECT_EQ(other.commit(), TransactionStatus::ok);
}

// Rows of a table are written on while somebody makes a view of it.
TEST_F(ViewConflictTest, WhoWritesRowsDoesNotNoticeANewView) {
  CatalogSession writer(engine_);
  writer.begin(TransactionMode::interactive);
  writer.view.refresh();
  const TableDescriptor* accounts = writer.view.find_table(accounts_);
  ASSERT_EQ(writer.transaction.use_descriptor(accounts->record.record, accounts->record.tid),
            TransactionStatus::ok);
  define(make_view());
  EXPECT_EQ(writer.commit(), TransactionStatus::ok);
}

}  // namespace
}  // namespace pgsilo::testing
