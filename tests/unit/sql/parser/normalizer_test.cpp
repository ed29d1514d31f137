#include "sql/parser/normalizer.h"

#include <gtest/gtest.h>

#include <string>

namespace pgsilo {
namespace {

// "text | literal:type literal:type", or "no".
std::string normalized(std::string_view sql) {
  Normalizer normalizer;
  if (!normalizer.normalize(sql)) return "no";
  std::string result(normalizer.text());
  result += " |";
  for (const NormalizedLiteral& literal : normalizer.literals()) {
    bool number = literal.type == type_oid::int4 || literal.type == type_oid::int8;
    result +=
        " " + (number ? std::to_string(literal.integer) : "<" + std::string(literal.text) + ">");
    result += literal.type == type_oid::int4      ? ":int4"
              : literal.type == type_oid::int8    ? ":int8"
              : literal.type == type_oid::numeric ? ":numeric"
                                                  : "";
  }
  return result;
}

TEST(NormalizerTest, ReplacesLiterals) {
  EXPECT_EQ(normalized("SELECT abalance FROM pgbench_accounts WHERE aid = 17;"),
            "SELECT abalance FROM pgbench_accounts WHERE aid =  $1 ; | 17:int4");
  EXPECT_EQ(normalized("UPDATE t SET a = a + -5 WHERE b = 'x''y'"),
            "UPDATE t SET a = a +  $1  WHERE b =  $2  | -5:int4 <x'y>");
  EXPECT_EQ(
      normalized("INSERT INTO t VALUES (1,-2.5,'a',3000000000)"),
      "INSERT INTO t VALUES ( $1 , $2 , $3 , $4 ) | 1:int4 <-2.5>:numeric <a> 3000000000:int8");
  EXPECT_EQ(normalized("select 'a'from t"), "select  $1 from t | <a>");
}

TEST(NormalizerTest, TypesNumbersAsPostgres) {
  EXPECT_EQ(normalized("select 2147483647, 2147483648, -2147483648, -2147483649"),
            "select  $1 ,  $2 ,  $3 ,  $4  | 2147483647:int4 2147483648:int8 -2147483648:int4 "
            "-2147483649:int8");
  EXPECT_EQ(normalized("select 9223372036854775807, 9223372036854775808, -9223372036854775808"),
            "select  $1 ,  $2 ,  $3  | 9223372036854775807:int8 <9223372036854775808>:numeric "
            "-9223372036854775808:int8");
  EXPECT_EQ(normalized("select 1e3, .5, 5., 99999999999999999999"),
            "select  $1 ,  $2 ,  $3 ,  $4  | <1e3>:numeric <.5>:numeric <5.>:numeric "
            "<99999999999999999999>:numeric");
  // An infix minus is no sign; nor is one that something stronger separates from the number.
  EXPECT_EQ(normalized("select a -5"), "select a - $1  | 5:int4");
  EXPECT_EQ(normalized("select -5::int8"), "select - $1 ::int8 | 5:int4");
  EXPECT_EQ(normalized("select -2147483648::int8, 7"), "select -2147483648::int8,  $1  | 7:int4");
  EXPECT_EQ(normalized("select case -2147483648 when 1 then 2 end"),
            "select case -2147483648 when  $1  then  $2  end | 1:int4 2:int4");
}

TEST(NormalizerTest, KeepsWhatChangesMeaning) {
  EXPECT_EQ(normalized("select a, b from t order by 1, 2"), "no");
  EXPECT_EQ(
      normalized("select a + 1 from t group by 1 having count(*) > 2 order by 1 limit 3 offset 4"),
      "select a +  $1  from t group by 1 having count(*) >  $2  order by 1 limit 3 offset 4 | "
      "1:int4 2:int4");
  EXPECT_EQ(normalized("select (select x from u order by 1 limit 1) + 5"),
            "select (select x from u order by 1 limit 1) +  $1  | 5:int4");
  EXPECT_EQ(normalized("select 5 from t order by (select 6), 7 union select 8"),
            "select  $1  from t order by (select 6), 7 union select  $2  | 5:int4 8:int4");
  EXPECT_EQ(normalized("select distinct on (1) a, 2"), "select distinct on (1) a,  $1  | 2:int4");
  EXPECT_EQ(normalized("select date '2020-01-01', interval '1' day, 3"),
            "select date '2020-01-01', interval '1' day,  $1  | 3:int4");
  EXPECT_EQ(normalized("select '1.25'::numeric(10,2), 'x'::varchar(3)"),
            "select  $1 ::numeric(10,2),  $2 ::varchar(3) | <1.25> <x>");
  EXPECT_EQ(
      normalized(
          "select cast('1.25' as numeric(10,2)), timestamp(3) '2020-01-01', current_timestamp(2)"),
      "select cast( $1  as numeric(10,2)), timestamp(3) '2020-01-01', current_timestamp(2) | "
      "<1.25>");
  EXPECT_EQ(normalized("select x::pg_catalog.bpchar(3) || 'y' from f(2) as t(x bpchar(4))"),
            "select x::pg_catalog.bpchar(3) ||  $1  from f( $2 ) as t(x bpchar(4)) | <y> 2:int4");
  EXPECT_EQ(normalized("select a like 'b%', a = 'c'"), "select a like 'b%', a =  $1  | <c>");
  EXPECT_EQ(normalized("select E'a', B'1', $$x$$, $a$y$a$, U&'z', 'q'"),
            "select E'a', B'1', $$x$$, $a$y$a$, U&'z',  $1  | <q>");
  EXPECT_EQ(normalized("select 'a'\n'b', 1"), "select 'a'\n'b',  $1  | 1:int4");
  EXPECT_EQ(normalized("select t.like, t.by, 3"), "select t.like, t.by,  $1  | 3:int4");
  EXPECT_EQ(normalized("with w as (select 1) select * from w where a is distinct from 'x'"),
            "with w as (select  $1 ) select * from w where a is distinct from  $2  | 1:int4 <x>");
  EXPECT_EQ(normalized("select null, true, \"a 1\", /* 5 */ 6 -- 7"),
            "select null, true, \"a 1\", /* 5 */  $1  -- 7 | 6:int4");
}

TEST(NormalizerTest, LeavesTheRestAlone) {
  EXPECT_EQ(normalized("create table t (a varchar(5))"), "no");
  EXPECT_EQ(normalized("select $1 + 1"), "no");
  EXPECT_EQ(normalized("select 1; select 2"), "no");
  EXPECT_EQ(normalized("select a from t"), "no");
  EXPECT_EQ(normalized("select 'not closed"), "no");
  EXPECT_EQ(normalized("select 1abc"), "no");
  EXPECT_EQ(normalized(""), "no");
  EXPECT_EQ(normalized("select 1 ; -- end"), "select  $1  ; -- end | 1:int4");
  EXPECT_EQ(normalized("select " + std::string(20000, ' ') + "1"), "no");
}

TEST(NormalizerTest, TellsPositions) {
  Normalizer normalizer;
  std::string_view sql = "select 'a', - 5, 1.5";
  ASSERT_TRUE(normalizer.normalize(sql));
  ASSERT_EQ(normalizer.literals().size(), 3u);
  EXPECT_EQ(normalizer.literals()[0].position, 7u);
  EXPECT_EQ(normalizer.literals()[1].position, 12u);
  EXPECT_EQ(normalizer.literals()[2].position, 17u);
  EXPECT_EQ(normalizer.types()[0], invalid_oid);
  EXPECT_EQ(normalizer.types()[2], type_oid::numeric);
  // It is reused.
  ASSERT_TRUE(normalizer.normalize("select 2"));
  EXPECT_EQ(normalizer.text(), "select  $1 ");
}

}  // namespace
}  // namespace pgsilo
