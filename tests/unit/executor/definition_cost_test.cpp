// What definitions cost beside many tables: the catalog's snapshots share what is not changed, and
// what depends on an object is found without looking at all tables.
#include <gtest/gtest.h>

#include <ctime>
#include <vector>

#include "tests/unit/executor/sql_session.h"

namespace pgsilo::testing {
namespace {

class DefinitionCost : public ::testing::Test {
 public:
  CatalogEngine engine;
  SqlSession session{engine};
  int tables = 0;

  void run(const std::string& sql) {
    std::string answer = session.run(sql);
    EXPECT_EQ(answer.find("ERROR"), std::string::npos) << sql << ": " << answer;
  }
  void have_tables(int count) {
    for (; tables < count; ++tables)
      run(concat("create table have", tables, " (id int primary key, a int, b text)"));
  }
  // `statements`, of which N is a number, so many times.
  double seconds(std::initializer_list<const char*> statements) {
    std::clock_t begin = std::clock();
    for (int i = 0; i < 40; ++i) {
      for (std::string sql : statements) {
        for (size_t at; (at = sql.find('N')) != sql.npos;) sql.replace(at, 1, std::to_string(i));
        run(sql);
      }
    }
    return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  }
};

TEST_F(DefinitionCost, DoesNotGrowWithTheNumberOfTables) {
  std::initializer_list<const char*> kinds[] = {
      {"create table tN (id int primary key, a int)", "create index on tN (a)",
       "alter table tN add column c int", "drop table tN"},
      {"create table sN (id serial primary key, i int generated always as identity)",
       "alter table sN drop column id", "truncate sN", "drop table sN"},
      {"create sequence qN", "alter sequence qN increment 2", "drop sequence qN"},
  };
  have_tables(100);
  std::vector<double> few;
  for (const auto& statements : kinds) seconds(statements);
  for (const auto& statements : kinds) few.push_back(seconds(statements));
  have_tables(4000);
  for (size_t i = 0; i < few.size(); ++i) {
    double many = seconds(kinds[i]);
    EXPECT_LT(many, few[i] * 3 + 0.02) << *kinds[i].begin() << ": " << few[i];
  }
}

}  // namespace
}  // namespace pgsilo::testing
