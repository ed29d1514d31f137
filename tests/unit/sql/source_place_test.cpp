// How the place of an error is named.
#include <gtest/gtest.h>

#include "sql/sql_error.h"

namespace pgsilo {
namespace {

SqlDiagnostic made_by(SqlError error) { return error.diagnostic(); }

template <typename T>
struct Maker {
  SqlDiagnostic make(const T&) const { return made_by(SqlError(sqlstate::data_exception, "x")); }
  SqlDiagnostic operator()() const { return made_by(SqlError(sqlstate::data_exception, "x")); }
};

std::string_view make_and_name(const SqlDiagnostic& d) { return source_routine(d); }

TEST(SourcePlaceTest, FilesHaveNoFolders) {
  SqlDiagnostic d = made_by(SqlError(sqlstate::data_exception, "x"));
  EXPECT_EQ(source_file(d), "source_place_test.cpp");
  EXPECT_GT(d.place.line(), 10U);
}

TEST(SourcePlaceTest, RoutinesHaveNoSignature) {
  EXPECT_EQ(make_and_name(Maker<std::string>().make("")), "make");
  EXPECT_EQ(make_and_name(Maker<int>()()), "operator()");
  auto lambda = [] { return made_by(SqlError(sqlstate::data_exception, "x")); };
  std::string_view name = make_and_name(lambda());
  EXPECT_EQ(name.find_first_of(" :<&*"), std::string_view::npos) << name;
  EXPECT_NE(name, "");
}

TEST(SourcePlaceTest, PostgresqlsNameGoesFirst) {
  SqlError error = SqlError(sqlstate::data_exception, "x").routine("RevalidateCachedQuery");
  EXPECT_EQ(source_routine(error.diagnostic()), "RevalidateCachedQuery");
}

}  // namespace
}  // namespace pgsilo
