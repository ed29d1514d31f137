// Bound queries as SQL: what PostgreSQL shows of views, byte for byte.
#include "planner/explain/deparse_query.h"

#include <gtest/gtest.h>

#include "executor/catalog_names.h"
#include "planner/binder/query_binder.h"
#include "tests/unit/executor/sql_session.h"
#include "tests/unit/planner/view_definitions/clauses.h"
#include "tests/unit/planner/view_definitions/expressions.h"
#include "tests/unit/planner/view_definitions/from.h"
#include "tests/unit/planner/view_definitions/set_operations.h"
#include "tests/unit/planner/view_definitions/sublinks.h"
#include "tests/unit/planner/view_definitions/subqueries.h"
#include "tests/unit/planner/view_definitions/using.h"
#include "tests/unit/planner/view_definitions/with_and_values.h"

namespace pgsilo::testing {
namespace {

struct DeparseQuery : ::testing::Test {
  CatalogEngine engine;
  SqlSession session{engine};
  Arena arena;

  DeparseQuery() {
    define("create table t (a int primary key, b int, c text, d int not null, e bool)");
    define("create table u (a int primary key, t_a int, v text)");
    define("create table w (a bigint primary key, u_a int, n numeric(10,2), arr int[])");
    define("create table x (id int, \"Name\" varchar(10), ts timestamp)");
    define("create schema s");
    define("create table s.t (a int, z text)");
    define("create table s.far (a int, z text)");
    define("create table old (a int)");
  }

  void define(std::string_view sql) {
    std::string answer = session.run(sql);
    ASSERT_EQ(answer.find("ERROR"), std::string::npos) << answer;
  }

  std::string show(std::string_view sql, std::string_view columns, bool pretty,
                   int wrap_column = line_per_column) {
    session.begin();
    struct End {
      SqlSession& session;
      ~End() { session.abort(); }
    } end{session};
    session.view.refresh();
    CatalogNames names(session.view, session.transaction);
    TypeContext types{.arena = &arena, .object_names = &names};
    StatementBinding binding{.arena = arena,
                             .catalog = session.view,
                             .text = sql,
                             .database_name = "postgres",
                             .types = types,
                             .parameters = {},
                             .tables = {}};
    try {
      auto* select = ast::as<ast::SelectStmt>(parse(sql, arena).front().statement);
      const BoundQuery* query = bind_query(binding, *select, nullptr);
      DeparseContext context;
      context.types = &types;
      context.pretty = pretty;
      std::vector<std::string_view> names = split(columns);
      for (int32_t i = 0; i < query->visible_targets && columns.empty(); ++i)
        names.push_back(query->targets[i].name);
      return deparse_query(context, *query, names, wrap_column);
    } catch (const SqlError& error) {
      return SqlSession::describe(error);
    }
  }

  static std::vector<std::string_view> split(std::string_view names) {
    std::vector<std::string_view> parts;
    while (!names.empty()) {
      size_t comma = std::min(names.find(','), names.size());
      parts.push_back(names.substr(0, comma));
      names.remove_prefix(std::min(comma + 1, names.size()));
    }
    return parts;
  }

  // And what is shown is read as the same.
  void check(std::span<const ViewDefinition> definitions) {
    for (const ViewDefinition& view : definitions) {
      std::string_view pretty = view.pretty.empty() ? view.shown : view.pretty;
      EXPECT_EQ(show(view.sql, view.columns, false), view.shown) << view.sql;
      EXPECT_EQ(show(view.sql, view.columns, true), pretty) << view.sql;
      EXPECT_EQ(show(view.shown, view.columns, false), view.shown) << view.sql;
      EXPECT_EQ(show(pretty, view.columns, true), pretty) << view.sql;
    }
  }
};

constexpr std::string_view wide_list =
    "select t.a, t.b as bee, case when e then c end as k, d + 1 as d1, c || 'x' as cx, t.a as a2, "
    "t.b as b2 from t, u as second, w where exists (select 1, 2 from x)";

TEST_F(DeparseQuery, ColumnsShareALineThatHasNoEnd) {
  EXPECT_EQ(show(wide_list, "", true, no_wrapping),
            R"sql( SELECT t.a, t.b AS bee, 
        CASE
            WHEN t.e THEN t.c
            ELSE NULL::text
        END AS k, t.d + 1 AS d1, t.c || 'x'::text AS cx, t.a AS a2, t.b AS b2
   FROM t, u second, w
  WHERE (EXISTS ( SELECT 1, 2
           FROM x));)sql");
}

TEST_F(DeparseQuery, LinesAreBrokenWhereTheyGetTooLong) {
  EXPECT_EQ(show(wide_list, "", true, 40), R"sql( SELECT t.a, t.b AS bee,
        CASE
            WHEN t.e THEN t.c
            ELSE NULL::text
        END AS k,
    t.d + 1 AS d1,
    t.c || 'x'::text AS cx, t.a AS a2,
    t.b AS b2
   FROM t, u second, w
  WHERE (EXISTS ( SELECT 1, 2
           FROM x));)sql");
  EXPECT_EQ(show("select q.a, q.b, q.c from (select a, b, c, d from t) q, "
                 "u uu(aaaaaaaaaaaaaaaaaaaaaaa), w join t t2 on true",
                 "", true, 60),
            R"sql( SELECT q.a, q.b, q.c
   FROM ( SELECT t.a, t.b, t.c, t.d
           FROM t) q, u uu(aaaaaaaaaaaaaaaaaaaaaaa, t_a, v),
    w
     JOIN t t2 ON true;)sql");
}

TEST_F(DeparseQuery, DroppedColumnsHaveNoNames) {
  define("create table gone (a int, b int, c int, d text)");
  define("alter table gone drop column b");
  EXPECT_EQ(show("select q.x, q.c, q.d from gone q(x)", "", false), R"sql( SELECT q.x,
    q.c,
    q.d
   FROM gone q(x, c, d);)sql");
  EXPECT_EQ(show("select j.k, j.d2 from (gone g1 join gone g2 using (a)) as j(k, c, d, c2, d2)", "",
                 false),
            R"sql( SELECT j.k,
    j.d2
   FROM (gone g1(k, c, d)
     JOIN gone g2(k, c, d) USING (k)) j(k, c, d, c2, d2);)sql");
}

// Read back they are a subquery, as in PostgreSQL.
TEST_F(DeparseQuery, ValuesUnderOtherNames) {
  EXPECT_EQ(show("values (1, 2)", "xa,xb", false), R"sql( SELECT "*VALUES*".column1 AS xa,
    "*VALUES*".column2 AS xb
   FROM (VALUES (1,2)) "*VALUES*";)sql");
  EXPECT_EQ(show("select \"*VALUES*\".column1 as xa, \"*VALUES*\".column2 as xb "
                 "from (values (1, 2)) \"*VALUES*\"",
                 "", false),
            R"sql( SELECT "*VALUES*".column1 AS xa,
    "*VALUES*".column2 AS xb
   FROM ( VALUES (1,2)) "*VALUES*";)sql");
}

TEST_F(DeparseQuery, OneGroupOfEverything) {
  EXPECT_EQ(show("select 1 as one from t group by ()", "", false), R"sql( SELECT 1 AS one
   FROM t
  GROUP BY ();)sql");
  EXPECT_EQ(show("select (select 2 from t t2 group by () limit 1) as two, max(t.a) as m from t", "",
                 false),
            R"sql( SELECT ( SELECT 2
           FROM t t2
          GROUP BY ()
         LIMIT 1) AS two,
    max(t.a) AS m
   FROM t;)sql");
}

TEST_F(DeparseQuery, From) { check(definitions_of_from); }
TEST_F(DeparseQuery, UsingAndJoinAliases) { check(definitions_of_using); }
TEST_F(DeparseQuery, Clauses) { check(definitions_of_clauses); }
TEST_F(DeparseQuery, Subqueries) { check(definitions_of_subqueries); }
TEST_F(DeparseQuery, Sublinks) { check(definitions_of_sublinks); }
TEST_F(DeparseQuery, SetOperations) { check(definitions_of_set_operations); }
TEST_F(DeparseQuery, WithAndValues) { check(definitions_of_with_and_values); }
TEST_F(DeparseQuery, Expressions) { check(definitions_of_expressions); }

}  // namespace
}  // namespace pgsilo::testing
