// What work_mem makes of plans: what will spill costs what it writes, and loses its order.
#include "tests/unit/planner/planner_fixture.h"

namespace pgsilo::testing {
namespace {

struct LittleMemory : Planner {
  LittleMemory() {
    statistics.rows = {{"t", 100000}, {"u", 100000}};
    statistics.distinct = {
        {"t.b", 100000}, {"u.t_a", 100000}, {"u.a", 100000}, {"t.a", 100000}, {"t.c", 100000}};
    with_room(size_t{64} << 20);
  }
  void with_room(size_t bytes) { settings.work_mem_bytes = settings.hash_memory_bytes = bytes; }
  std::string with_little(std::string_view sql) {
    with_room(size_t{64} << 10);
    std::string text = explain(sql);
    with_room(size_t{64} << 20);
    return text;
  }
  double cost(std::string_view sql) { return plan(sql)->root->total_cost; }
};

TEST_F(LittleMemory, AJoinThatWillSpillMayBeAMerge) {
  std::string_view sql = "select * from t join u on t.a = u.t_a order by t.a";
  EXPECT_EQ(explain(sql).substr(0, 9), "Hash Join");
  EXPECT_EQ(with_little(sql).substr(0, 10), "Merge Join");
}

TEST_F(LittleMemory, AHashJoinThatWillSpillHasNoOrder) {
  settings.enable_merge_join = settings.enable_nested_loop = false;
  std::string_view sql = "select * from t join u on t.a = u.t_a order by t.a";
  EXPECT_EQ(explain(sql).substr(0, 9), "Hash Join");
  EXPECT_EQ(with_little(sql).substr(0, 4), "Sort");
}

TEST_F(LittleMemory, SortsGroupsAndKeptRowsCostTheirPages) {
  settings.enable_merge_join = settings.enable_nested_loop = false;
  for (std::string_view sql :
       {"select * from t order by c", "select c, count(*) from t group by c",
        "select distinct c, d from t", "select * from t join u on t.b = u.t_a"}) {
    double room = cost(sql);
    with_room(size_t{64} << 10);
    EXPECT_GT(cost(sql), room + 300) << sql;
    with_room(size_t{64} << 20);
  }
}

TEST_F(LittleMemory, WhatALimitKeepsOfASortIsNotWritten) {
  std::string_view sql = "select * from t order by c limit 10";
  double room = cost(sql);
  with_room(size_t{64} << 10);
  EXPECT_EQ(cost(sql), room);
  EXPECT_GT(cost("select * from t order by c limit 90000"), room);
}

// Only who rests on the order of a hash join makes it keep it.
TEST_F(LittleMemory, JoinsKeepAnOrderThatSomebodyRestsOn) {
  settings.enable_merge_join = settings.enable_nested_loop = false;
  auto keeps = [this](std::string_view sql) {
    return the<HashJoinNode>(plan(sql)->root).keeps_order;
  };
  std::string_view from = " from t join u on t.a = u.t_a ";
  EXPECT_FALSE(keeps(concat("select *", from)));
  EXPECT_FALSE(keeps(concat("select *", from, "limit 5")));
  EXPECT_FALSE(keeps(concat("select count(*)", from)));
  EXPECT_FALSE(keeps(concat("select *", from, "order by v")));
  EXPECT_FALSE(keeps(concat("select v, count(*)", from, "group by v")));
  EXPECT_TRUE(keeps(concat("select *", from, "order by t.a")));
  EXPECT_TRUE(keeps(concat("select *", from, "order by t.a limit 5")));
  EXPECT_TRUE(keeps(concat("select *", from, "order by t.a, v")));
  EXPECT_TRUE(keeps(concat("select t.a, count(*)", from, "group by t.a")));
  EXPECT_TRUE(keeps(concat("select distinct t.a", from)));
  EXPECT_TRUE(keeps(concat("select distinct on (t.a) t.a, v", from)));
  EXPECT_TRUE(keeps(concat("select count(distinct t.a)", from)));
  // Within a subquery, whoever reads it.
  EXPECT_TRUE(keeps(concat("select count(*) from (select *", from, "order by t.a offset 1) s")));
}

}  // namespace
}  // namespace pgsilo::testing
