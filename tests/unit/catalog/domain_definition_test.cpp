// Domains: what their definitions write, what they rest on, and who notices a change.
#include "catalog/data_definition.h"

#include "sql/types/user_type.h"
#include "tests/unit/catalog/data_definition_fixture.h"

namespace pgsilo::testing {
namespace {

// What is in a tree is nothing to the catalog.
StoredExpression stored_true(std::vector<Oid> types = {}) {
  return StoredExpression::make({.types = std::move(types), .sequences = {}}, "(constant 16 -1 1)");
}

class DomainDefinitionTest : public DataDefinitionTest {
 protected:
  static DomainDefinition over(Oid base) {
    DomainDefinition domain;
    domain.base = base;
    return domain;
  }
  void create(std::string_view name, const DomainDefinition& domain) {
    define([&](DataDefinition& d) { return d.create_domain({{}, name}, domain); });
  }
  std::shared_ptr<const TypeDescriptor> type(std::string_view name) {
    session_.view.refresh();
    return session_.view.find_type({}, name);
  }
  Oid type_oid_of(std::string_view name) { return type(name)->address.oid; }
  void create_table_of(std::string name, Oid of) {
    TableDefinition table;
    table.name = std::move(name);
    table.columns = {column("id", type_oid::int4), column("d", of)};
    define([&](DataDefinition& d) { return d.create_table(table, false); });
  }
  std::string constraints(std::string_view name) {
    std::string all;
    for (const DomainConstraint& each : type(name)->domain->constraints)
      all += each.name + (each.validated ? " " : "? ");
    return all;
  }
};

// Notes which columns it is shown.
class Visits final : public DomainValues {
 public:
  std::string columns;
  std::unique_ptr<RowTransform> visitor(const TableDescriptor& table,
                                        const ColumnDescriptor& column) override {
    columns += table.name + "." + column.name + " ";
    class Nothing final : public RowTransform {
      void apply(std::span<Datum>) override {}
    };
    return std::make_unique<Nothing>();
  }
};

TEST_F(DomainDefinitionTest, HasTheFormOfWhatIsBeneath) {
  DomainDefinition code = over(type_oid::varchar);
  code.typmod = 9;
  create("code", code);
  create("short_code", over(type_oid_of("code")));
  const TypeInfo& info = type("short_code")->values->type();
  EXPECT_EQ(info.base, &type_info(type_oid::varchar));
  EXPECT_EQ(info.base_typmod, 9);
  EXPECT_EQ(info.typtype, 'd');
  EXPECT_EQ(info.category, 'S');
  EXPECT_TRUE(info.by_reference);
  EXPECT_LT(info.compare(Datum::of_bytes("a"), Datum::of_bytes("b")), 0);
  EXPECT_EQ(info.hash(Datum::of_bytes("a")), info.base->hash(Datum::of_bytes("a")));
  EXPECT_EQ(base_type_of(info.array), info.array);
  EXPECT_EQ(type("short_code")->values->array_type().element, info.oid);
}

TEST_F(DomainDefinitionTest, ConstraintsAreNamedAndKeptInOrder) {
  DomainDefinition domain = over(type_oid::int4);
  domain.not_null = true;
  domain.default_value = stored_zero();
  domain.default_text = "0";
  domain.constraints = {{"z", stored_true()}, {"", stored_true()}, {"", stored_true()}};
  create("d", domain);
  EXPECT_EQ(constraints("d"), "d_check d_check1 z ");
  Oid oid = type_oid_of("d");
  define([&](DataDefinition& d) {
    return d.add_domain_constraint(oid, {"a", stored_true(), /*not_valid=*/true}, nullptr);
  });
  EXPECT_EQ(constraints("d"), "a? d_check d_check1 z ");
  define([&](DataDefinition& d) { return d.validate_domain_constraint(oid, "a", nullptr); });
  define([&](DataDefinition& d) { return d.rename_domain_constraint(oid, "a", "zz"); });
  define([&](DataDefinition& d) { return d.drop_domain_constraint(oid, "d_check1", false); });
  EXPECT_EQ(constraints("d"), "d_check z zz ");
  define([&](DataDefinition& d) { return d.set_domain_default(oid, {}, {}); });
  define([&](DataDefinition& d) { return d.set_domain_not_null(oid, false, nullptr); });
  EXPECT_TRUE(type("d")->domain->default_value.empty());
  EXPECT_FALSE(type("d")->domain->not_null);
  auto taken = error([&](DataDefinition& d) {
    return d.add_domain_constraint(oid, {"z", stored_true()}, nullptr);
  });
  EXPECT_EQ(taken.state, sqlstate::duplicate_object);
  define([&](DataDefinition& d) {
    DataDefinition::ObjectName names[] = {{{}, "d"}};
    return d.drop_domains(names, false, false);
  });
  EXPECT_EQ(type("d"), nullptr);
}

TEST_F(DomainDefinitionTest, ValuesAreThoseOfAllTablesAndOfDomainsAbove) {
  create("below", over(type_oid::int4));
  create("above", over(type_oid_of("below")));
  create("beside", over(type_oid::int4));
  create_table_of("t1", type_oid_of("below"));
  create_table_of("t2", type_oid_of("above"));
  create_table_of("t3", type_oid_of("beside"));
  Visits visits;
  Oid below = type_oid_of("below");
  define([&](DataDefinition& d) { return d.set_domain_not_null(below, true, &visits); });
  EXPECT_EQ(visits.columns, "t1.d t2.d ");
  create_table_of("t4", type("above")->array_oid);
  auto used = error([&](DataDefinition& d) {
    return d.add_domain_constraint(below, {"", stored_true()}, &visits);
  });
  EXPECT_EQ(used.state, sqlstate::feature_not_supported);
  EXPECT_EQ(used.message, "cannot alter type \"below\" because column \"t4.d\" uses it");
}

TEST_F(DomainDefinitionTest, DomainsAndConstraintsGoWithWhatTheyRestOn) {
  create("below", over(type_oid::int4));
  Oid below = type_oid_of("below");
  create("above", over(below));
  create("checked", over(type_oid::int4));
  Oid checked = type_oid_of("checked");
  define([&](DataDefinition& d) {
    return d.add_domain_constraint(checked, {"by_type", stored_true({below})}, nullptr);
  });
  create_table_of("t", type_oid_of("above"));
  DataDefinition::ObjectName names[] = {{{}, "below"}};
  auto refused = error([&](DataDefinition& d) { return d.drop_domains(names, false, false); });
  EXPECT_EQ(refused.state, sqlstate::dependent_objects_still_exist);
  define([&](DataDefinition& d) { return d.drop_domains(names, false, true); });
  EXPECT_EQ(type("below"), nullptr);
  EXPECT_EQ(type("above"), nullptr);
  EXPECT_EQ(constraints("checked"), "");
  EXPECT_EQ(table("t").find_column("d"), nullptr);
}

TEST_F(DomainDefinitionTest, WhoMakesAColumnAndWhoChangesTheDomainNoticeEachOther) {
  create("d", over(type_oid::int4));
  Oid oid = type_oid_of("d");
  auto make_column = [&](DataDefinition& d) {
    TableDefinition table;
    table.name = "late";
    table.columns = {column("d", oid)};
    return d.create_table(table, false);
  };
  auto change = [&](DataDefinition& d) { return d.set_domain_not_null(oid, true, nullptr); };
  expect_conflict(make_column, change);
}

}  // namespace
}  // namespace pgsilo::testing
