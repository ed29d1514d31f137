// Stored queries: what is read is what was written, and nothing that is damaged does harm.
#include <gtest/gtest.h>

#include "base/large_stack.h"
#include "planner/binder/query_binder.h"
#include "planner/bound/query_tree.h"
#include "planner/stored/stored_tree.h"
#include "sql/parser/parser.h"
#include "tests/unit/planner/stored_fixture.h"

namespace pgsilo::testing {
namespace {

struct StoredQueryTest : StoredFixture {
  StoredQueryTest() {
    session.run("create table t (a int primary key, b text, c numeric(10, 2), d int[])");
    session.run("create table u (a int, e int)");
    session.run("create view v as select a, b from t where a > 1");
  }

  const BoundQuery& bind(StatementBinding& binding, std::string_view text) {
    std::span<const ast::RawStatement> statements = parse(text, arena);
    return *bind_query(binding, *ast::as<ast::SelectStmt>(statements.front().statement), nullptr);
  }
  std::string stored(std::string_view text) {
    StatementBinding statement = binding();
    return store_query(session.view, bind(statement, text)).text;
  }
  // What is read is bound, or an error is told.
  void read(const std::string& text) {
    StatementBinding statement = binding();
    try {
      const BoundQuery* query = read_query(statement, text);
      static_cast<void>(calls_volatile(*query));
    } catch (const SqlError& error) {
      EXPECT_NE(error.state(), sqlstate::internal_error) << text;
    }
  }
};

constexpr std::string_view queries[] = {
    "select",
    "select 1 as \"one (1) 100%\", b, 'x' from t where a > 1 order by a desc nulls last limit 3",
    "select distinct x, y from t tt(x, y) order by 1",
    "select distinct on (a) a, c from t order by a, c",
    "select a, b, count(*), sum(c) filter (where a > 1), string_agg(b, ',' order by b desc) from t"
    " group by a having count(distinct b) > 1",
    "select j.x, j.e from (t join u using (a)) as j(x) left join v on v.a = j.x",
    "select a, e from t full join u using (a) natural join v",
    "with w(z) as materialized (select a from t for update), x as (select z from w)"
    " select w.z, x.z from w, x where w.z = x.z",
    "select a from t union all select a from u except (select e from u order by e limit 1)"
    " order by 1",
    "values (1, 'a'), (2, null)",
    "select g, o, x from generate_series(1, 3) with ordinality f(g, o), unnest(array[1, 2]) x",
    "select t.a, l.e from t left join lateral (select e from u where u.a = t.a limit 1) l on true",
    "select (select max(e) from u where u.a = t.a), exists (select from u), array(select e from u),"
    " a in (select e from u), (a, b) = any (select u.e, 'x' from u),"
    " case a when (select 1) then a > all (select e from u) end from t",
    "select generate_series(1, a), unnest(d) from t",
    "select count(*) from v, v v2 where v.a = v2.a",
    "select * from (select a from t) s for share nowait",
};

TEST_F(StoredQueryTest, WhatIsReadIsWhatWasWritten) {
  for (std::string_view text : queries) {
    StatementBinding statement = binding();
    const BoundQuery& written = bind(statement, text);
    std::string stored = store_query(session.view, written).text;
    const BoundQuery* found = read_query(statement, stored);
    EXPECT_EQ(store_query(session.view, *found).text, stored) << text;
  }
}

TEST_F(StoredQueryTest, WhatIsCutShortIsDamaged) {
  for (std::string_view text : queries) {
    std::string whole = stored(text);
    for (size_t bytes = 1; bytes + 1 < whole.size(); ++bytes) {
      StatementBinding statement = binding();
      std::string cut = whole.substr(0, bytes) + "}";
      EXPECT_THROW(read_query(statement, cut), SqlError) << cut;
    }
  }
}

TEST_F(StoredQueryTest, NoByteDoesHarm) {
  for (std::string_view text : queries) {
    std::string whole = stored(text);
    for (char& byte : whole) {
      char before = byte;
      for (char other : {'0', '9', '(', ')', ' ', 't', '-'}) {
        byte = other;
        read(whole);
      }
      byte = before;
    }
  }
}

// Parts that are left out or said twice.
TEST_F(StoredQueryTest, NoPartDoesHarm) {
  for (std::string_view text : queries) {
    std::string whole = stored(text);
    for (size_t begin = whole.find('('); begin != std::string::npos;
         begin = whole.find('(', begin + 1)) {
      size_t end = begin;
      for (int depth = 0; end < whole.size(); ++end) {
        depth += whole[end] == '(' ? 1 : whole[end] == ')' ? -1 : 0;
        if (depth == 0) break;
      }
      std::string part = whole.substr(begin, end + 1 - begin);
      read(std::string(whole).erase(begin, part.size()));
      read(std::string(whole).replace(begin, part.size(), "none"));
      read(std::string(whole).insert(begin, part + " "));
    }
  }
}

}  // namespace
}  // namespace pgsilo::testing
