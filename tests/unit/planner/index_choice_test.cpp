// Which index answers which conditions, and how far.
#include "tests/unit/planner/planner_fixture.h"

namespace pgsilo::testing {
namespace {

struct IndexChoice : Planner {
  static const IndexScanNode& index_scan(const PlannedStatement& planned) {
    return the<IndexScanNode>(planned.root);
  }
  static const KeyRanges& ranges(const PlannedStatement& planned) {
    return index_scan(planned).parts[0].ranges[0];
  }
};

TEST_F(IndexChoice, EqualityOnTheWholePrimaryKeyIsAPointGet) {
  for (const char* sql : {"select * from t where a = 5", "select * from t where 5 = a"}) {
    const auto* get = try_as<PointGetNode>(plan(sql)->root);
    ASSERT_NE(get, nullptr) << sql;
  }
  EXPECT_EQ(explain("select * from t where a = 5"),
            "Index Scan using t_pkey on t\n  Index Cond: (a = 5)");
  auto planned = plan("select * from p where z = 3 and x = 1 and y = 2");
  const auto* get = find<PointGetNode>(planned->root);
  ASSERT_NE(get, nullptr);
  ASSERT_EQ(get->keys.size(), 3u);
  EXPECT_EQ(as<ConstantExpression>(get->keys[0].value)->value.i64, 1);  // in key order
  EXPECT_EQ(as<ConstantExpression>(get->keys[2].value)->value.i64, 3);
}

TEST_F(IndexChoice, ParametersAreKeysToo) {
  Oid types[] = {type_oid::int4};
  auto planned = plan("select * from t where a = $1", types);
  EXPECT_NE(find<PointGetNode>(planned->root), nullptr);
  planned = plan("update t set b = b + 1 where a = $1");
  ASSERT_EQ(planned->parameter_types.size(), 1u);
  EXPECT_EQ(planned->parameter_types[0], type_oid::int4);
  EXPECT_NE(find<PointGetNode>(planned->root), nullptr);
}

TEST_F(IndexChoice, AUniqueIndexGivesAPointGetAnOrdinaryOneAScan) {
  define("create unique index u_v on u (v)");
  auto planned = plan("select a from u where v = 'x'");
  const auto* get = find<PointGetNode>(planned->root);
  ASSERT_NE(get, nullptr);
  ASSERT_NE(get->index, nullptr);
  EXPECT_EQ(get->index->name, "u_v");
  planned = plan("select a from t where b = 5");
  EXPECT_EQ(index_scan(*planned).parts[0].index->name, "t_b");
  EXPECT_FALSE(ranges(*planned).is_unique_lookup);
}

TEST_F(IndexChoice, ColumnsWithoutAnIndexAreFilteredInASequentialScan) {
  EXPECT_EQ(explain("select * from t where c = 'x'"), "Seq Scan on t\n  Filter: (c = 'x'::text)");
  EXPECT_EQ(explain("select * from t where b <> 5"), "Seq Scan on t\n  Filter: (b <> 5)");
  EXPECT_EQ(explain("select * from t where b = 5 or c = 'x'"),
            "Seq Scan on t\n  Filter: ((b = 5) OR (c = 'x'::text))");
}

TEST_F(IndexChoice, RangesHaveBothBounds) {
  auto planned = plan("select * from t where 5 < a and a <= 9");
  EXPECT_EQ(index_scan(*planned).parts[0].index, nullptr);
  const KeyRanges& scan = ranges(*planned);
  ASSERT_NE(scan.lower.value, nullptr);
  ASSERT_NE(scan.upper.value, nullptr);
  EXPECT_EQ(as<ConstantExpression>(scan.lower.value)->value.i64, 5);
  EXPECT_EQ(as<ConstantExpression>(scan.upper.value)->value.i64, 9);
  EXPECT_FALSE(scan.lower_inclusive);
  EXPECT_TRUE(scan.upper_inclusive);
  EXPECT_EQ(index_scan(*planned).filter, nullptr);
  EXPECT_EQ(explain("select * from t where b between 5 and 9"),
            "Index Scan using t_b on t\n  Index Cond: ((b >= 5) AND (b <= 9))");
}

TEST_F(IndexChoice, APrefixOfAKeyIsARange) {
  EXPECT_EQ(explain("select * from p where x = 1 and y = 2"),
            "Index Scan using p_pkey on p\n  Index Cond: ((x = 1) AND (y = 2))");
  auto planned = plan("select * from p where x = 1 and y = 2");
  EXPECT_EQ(ranges(*planned).equal.size(), 2u);
  planned = plan("select * from p where x = 1 and y > 2");
  EXPECT_EQ(ranges(*planned).equal.size(), 1u);
  EXPECT_NE(ranges(*planned).lower.value, nullptr);
}

TEST_F(IndexChoice, WhatComesAfterAGapOrARangeIsFiltered) {
  EXPECT_EQ(explain("select * from p where x = 1 and z = 3"),
            "Index Scan using p_pkey on p\n  Index Cond: (x = 1)\n  Filter: (z = 3)");
  EXPECT_EQ(explain("select * from p where x > 1 and y = 2"),
            "Index Scan using p_pkey on p\n  Index Cond: (x > 1)\n  Filter: (y = 2)");
  EXPECT_EQ(explain("select * from p where y = 2"), "Seq Scan on p\n  Filter: (y = 2)");
}

TEST_F(IndexChoice, TheIndexThatAnswersMoreIsTaken) {
  define("create index t_bd on t (b, d)");
  EXPECT_EQ(explain("select * from t where d = 2 and b = 1"),
            "Index Scan using t_bd on t\n  Index Cond: ((b = 1) AND (d = 2))");
  EXPECT_EQ(explain("select * from t where a = 7 and b = 1"),
            "Index Scan using t_pkey on t\n  Index Cond: (a = 7)\n  Filter: (b = 1)");
}

TEST_F(IndexChoice, InListsTakeOneKeyColumn) {
  auto planned = plan("select * from p where x in (3, 1) and y = 2");
  const KeyRanges& scan = ranges(*planned);
  EXPECT_EQ(scan.list_column, 0);
  EXPECT_EQ(scan.list.size(), 2u);
  EXPECT_EQ(scan.equal.size(), 2u);
  EXPECT_FALSE(scan.is_unique_lookup);
  EXPECT_TRUE(ranges(*plan("select * from t where a in (1, 2)")).is_unique_lookup);
  EXPECT_EQ(find<IndexScanNode>(plan("select * from t where a not in (1, 2)")->root), nullptr);
}

TEST_F(IndexChoice, ArraysAreLists) {
  auto planned = plan("select * from t where a = any('{3,1,null,3}')");
  EXPECT_NE(ranges(*planned).array, nullptr);
  EXPECT_TRUE(ranges(*planned).is_unique_lookup);
  EXPECT_EQ(explain("select * from t where a = any('{3,1}')"),
            "Index Scan using t_pkey on t\n  Index Cond: (a = ANY ('{3,1}'::integer[]))");
  Oid types[] = {type_oid::int8_array};
  planned = plan("select * from p where x = 1 and y = any($1) and z > 5", types);
  EXPECT_EQ(ranges(*planned).list_column, 1);
  EXPECT_EQ(ranges(*planned).list_conversion, KeyConversion::narrow_integer);
  EXPECT_NE(ranges(*planned).lower.value, nullptr);
  EXPECT_EQ(index_scan(*planned).filter, nullptr);
  for (const char* sql :
       {"select * from t where a = all('{1}')", "select * from t where a <> any('{1}')",
        "select * from t where a < any('{1}')"}) {
    EXPECT_EQ(find<IndexScanNode>(plan(sql)->root), nullptr) << sql;
  }
}

TEST_F(IndexChoice, AlternativesAreRangesOfOneIndex) {
  EXPECT_EQ(explain("select * from t where a = 5 or a = 7 or a > 100"),
            "Index Scan using t_pkey on t\n"
            "  Index Cond: ((a = 5) OR (a = 7) OR (a > 100))");
  auto planned = plan("select * from p where (x, y) in ((1, 2), (3, 4)) and z = 5");
  EXPECT_EQ(index_scan(*planned).parts[0].ranges.size(), 2u);
  EXPECT_TRUE(ranges(*planned).is_unique_lookup);
  EXPECT_EQ(index_scan(*planned).filter, nullptr);
  // One that is no condition of the index needs all rows.
  EXPECT_EQ(find<IndexScanNode>(plan("select * from t where a = 5 or d = 7")->root), nullptr);
}

TEST_F(IndexChoice, WhatAnAlternativeLeavesIsChecked) {
  EXPECT_EQ(explain("select * from t where (a = 5 and d = 1) or a = 7"),
            "Index Scan using t_pkey on t\n"
            "  Index Cond: ((a = 5) OR (a = 7))\n"
            "  Filter: (((a = 5) AND (d = 1)) OR (a = 7))");
  EXPECT_EQ(explain("select * from t where (a = 5 or a = 7) and d = 1"),
            "Index Scan using t_pkey on t\n"
            "  Index Cond: ((a = 5) OR (a = 7))\n"
            "  Filter: (d = 1)");
}

TEST_F(IndexChoice, AlternativesMayHaveIndexesOfTheirOwn) {
  EXPECT_EQ(explain("select * from t where a = 5 or b = 7"),
            "Bitmap Heap Scan on t\n"
            "  Recheck Cond: ((a = 5) OR (b = 7))\n"
            "  ->  BitmapOr\n"
            "        ->  Bitmap Index Scan on t_pkey\n"
            "              Index Cond: (a = 5)\n"
            "        ->  Bitmap Index Scan on t_b\n"
            "              Index Cond: (b = 7)");
  auto planned = plan("select * from t where a = 5 or b = 7 or a = 9 order by a");
  EXPECT_EQ(index_scan(*planned).parts.size(), 2u);
  EXPECT_EQ(index_scan(*planned).parts[0].ranges.size(), 2u);
  EXPECT_NE(find<SortNode>(planned->root), nullptr);
}

TEST_F(IndexChoice, RowComparisonsGoOnInTheOrderOfTheIndex) {
  statistics.rows["p"] = 1'000'000;
  auto planned = plan("select * from p where (x, y, z) > (1, 2, 3) order by x, y, z limit 10");
  EXPECT_EQ(index_scan(*planned).parts[0].ranges.size(), 3u);
  EXPECT_EQ(index_scan(*planned).filter, nullptr);
  EXPECT_EQ(find<SortNode>(planned->root), nullptr);
  planned =
      plan("select * from p where x = 1 and (y, z) < (2, 3) order by y desc, z desc limit 10");
  EXPECT_EQ(ranges(*planned).equal.size(), 1u);
  EXPECT_EQ(index_scan(*planned).direction, ScanDirection::backward);
  EXPECT_EQ(find<SortNode>(planned->root), nullptr);
  planned = plan("select * from p where x = 1 and (y, z) < (2, 3) order by z limit 10");
  EXPECT_NE(find<SortNode>(planned->root), nullptr);
}

TEST_F(IndexChoice, AlternativesMayReadOtherRelations) {
  statistics.rows = {{"t", 1'000'000}, {"u", 10}};
  auto planned = plan("select * from u, t where t.a = u.a or t.a = u.t_a");
  const auto& loop = the<NestedLoopNode>(planned->root);
  EXPECT_EQ(as<IndexScanNode>(loop.right)->parts[0].ranges.size(), 2u);
  EXPECT_EQ(loop.condition, nullptr);
  EXPECT_FALSE(loop.right_is_unique);
}

TEST_F(IndexChoice, NullsAreFoundByIndexButAreNoPointGet) {
  define("create unique index t_c on t (c)");
  auto planned = plan("select * from t where c is null");
  const KeyRanges& scan = ranges(*planned);
  ASSERT_EQ(scan.equal.size(), 1u);
  EXPECT_TRUE(scan.equal[0].is_null);
  EXPECT_FALSE(scan.is_unique_lookup);
  EXPECT_EQ(find<SequentialScanNode>(planned->root), nullptr);
}

TEST_F(IndexChoice, IntegersOfOtherWidthsAreConverted) {
  auto planned = plan("select * from t where a = 5000000000");
  const auto* get = find<PointGetNode>(planned->root);
  ASSERT_NE(get, nullptr);
  EXPECT_EQ(get->keys[0].conversion, KeyConversion::narrow_integer);
  planned = plan("select * from t where a = 5::smallint");
  get = find<PointGetNode>(planned->root);
  ASSERT_NE(get, nullptr);
  EXPECT_EQ(get->keys[0].conversion, KeyConversion::none);
  // The column is what is converted here.
  EXPECT_EQ(explain("select * from t where a = 5.5"),
            "Seq Scan on t\n  Filter: ((a)::numeric = 5.5)");
}

TEST_F(IndexChoice, LikeWithAPrefixIsARangeThatIsCheckedAgain) {
  define("create index u_v on u (v)");
  auto planned = plan("select * from u where v like 'ab%c'");
  const KeyRanges& scan = ranges(*planned);
  EXPECT_EQ(as<ConstantExpression>(scan.lower.value)->value.bytes(), "ab");
  EXPECT_EQ(as<ConstantExpression>(scan.upper.value)->value.bytes(), "ac");
  EXPECT_TRUE(scan.lower_inclusive);
  EXPECT_FALSE(scan.upper_inclusive);
  EXPECT_NE(index_scan(*planned).filter, nullptr);
  EXPECT_EQ(find<IndexScanNode>(plan("select * from u where v like '%ab'")->root), nullptr);
}

TEST_F(IndexChoice, BooleanColumnsAreConditions) {
  define("create index t_e on t (e)");
  for (bool value : {true, false}) {
    auto planned = plan(value ? "select * from t where e" : "select * from t where not e");
    const KeyRanges& scan = ranges(*planned);
    ASSERT_EQ(scan.equal.size(), 1u);
    EXPECT_EQ(as<ConstantExpression>(scan.equal[0].value)->value.as_bool(), value);
  }
}

TEST_F(IndexChoice, VolatileValuesAreNoKeys) {
  // They may differ from row to row.
  auto planned = plan("select * from t where a = (random() * 10)::int");
  EXPECT_NE(find<SequentialScanNode>(planned->root), nullptr);
}

TEST_F(IndexChoice, SettingsForbid) {
  settings.enable_index_scan = false;
  EXPECT_NE(find<SequentialScanNode>(plan("select * from t where a = 5")->root), nullptr);
  settings.enable_index_scan = true;
  settings.enable_sequential_scan = false;
  EXPECT_NE(find<IndexScanNode>(plan("select a from t order by a")->root), nullptr);
}

TEST_F(IndexChoice, ScansReturnOnlyWhatIsRead) {
  auto planned = plan("select d from t where c = 'x'");
  const auto* scan = find<SequentialScanNode>(planned->root);
  ASSERT_NE(scan, nullptr);
  ASSERT_EQ(scan->table_columns.size(), 2u);
  EXPECT_EQ(scan->table_columns[0], 2);
  EXPECT_EQ(scan->table_columns[1], 3);
  planned = plan("select count(*) from t");
  EXPECT_TRUE(the<SequentialScanNode>(planned->root).table_columns.empty());
}

}  // namespace
}  // namespace pgsilo::testing
