// LEFT JOINs that give each row once and of which nobody reads anything are left out.
#include "tests/unit/planner/planner_fixture.h"

namespace pgsilo::testing {
namespace {

struct UselessJoins : Planner {
  bool is_left_out(std::string_view from, std::string_view outputs = "t.b") {
    std::string shown = explain(concat("select ", outputs, " from ", from));
    return shown.find("Join") == std::string::npos && shown.find("Loop") == std::string::npos;
  }
};

TEST_F(UselessJoins, OfAKeyOrOfRowsThatDiffer) {
  for (const char* from :
       {"t left join u on u.a = t.b", "t left join u on u.a = t.b and u.t_a > 3 and t.d = 1",
        "u right join t on u.a = t.b", "t left join (select distinct t_a from u) z on z.t_a = t.b",
        "t left join (select t_a, count(*) from u group by t_a) z on z.t_a = t.b",
        "t left join (select t_a from u union select a from w) z on z.t_a = t.b",
        "t left join (select count(*) from u) z on true",
        "t left join lateral (select max(v) from u where u.t_a = t.b) z on true",
        // The key of one join comes by another.
        "t left join u on u.a = t.b left join w on w.a = u.t_a",
        "t left join (u left join w on w.a = u.t_a) on u.a = t.b"}) {
    EXPECT_TRUE(is_left_out(from)) << from;
  }
}

TEST_F(UselessJoins, WhatRepeatsRowsOrIsReadStays) {
  for (const char* from :
       {"t left join u on u.t_a = t.b", "t left join u on u.a > t.b",
        "t left join u on u.a = u.t_a", "t left join u on u.a = t.b or u.a = 1",
        "t join u on u.a = t.b", "t full join u on u.a = t.b",
        "t left join u on u.a = t.b + (random() * 3)::int", "t left join u on true",
        "t left join (select distinct t_a, v from u) z on z.t_a = t.b",
        "t left join u on u.a = t.b where u.v is null",
        "t left join u on u.a = t.b join w on w.a = u.t_a"}) {
    EXPECT_FALSE(is_left_out(from)) << from;
  }
  EXPECT_FALSE(is_left_out("t left join u on u.a = t.b", "u.v"));
  EXPECT_FALSE(is_left_out("t left join u on u.a = t.b", "(select u.v limit 1)"));
  EXPECT_FALSE(is_left_out("t left join u on u.a = t.b order by u.v"));
  EXPECT_FALSE(is_left_out("t left join u on u.a = t.b group by t.b having max(u.v) > 'a'"));
}

}  // namespace
}  // namespace pgsilo::testing
