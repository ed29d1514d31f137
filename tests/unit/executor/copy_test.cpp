// COPY over the real planner, catalog and storage.
#include <gtest/gtest.h>

#include "tests/unit/executor/sql_session.h"

namespace pgsilo::testing {
namespace {

struct Copy : ::testing::Test {
  CatalogEngine engine;
  SqlSession session{engine};

  std::string run(std::string_view sql) { return session.run(sql); }
  std::string copy_in(std::string_view sql, std::string data, size_t piece_bytes = 7) {
    TextCopySource source(std::move(data), piece_bytes);
    session.context.copy_source = &source;
    return run(sql);
  }
  std::string copy_out(std::string_view sql) {
    TextCopySink sink;
    session.context.copy_sink = &sink;
    std::string tag = run(sql);
    return tag + "\n" + sink.text;
  }
};

TEST_F(Copy, TextThereAndBack) {
  run("create table t (a int primary key, b text, c char(4), d numeric(6,2))");
  EXPECT_EQ(
      copy_in("copy t from stdin", "1\tone\tx\t1.255\n2\t\\N\tabcd  \t\\N\n3\ta\\tb\\\\\t\\N\t7\n"),
      "COPY 3");
  EXPECT_EQ(run("select * from t order by a"),
            "1|one|x   |1.26\n2|NULL|abcd|NULL\n3|a\tb\\|NULL|7.00");
  EXPECT_EQ(copy_out("copy t to stdout"),
            "COPY 3\n1\tone\tx   \t1.26\n2\t\\N\tabcd\t\\N\n3\ta\\tb\\\\\t\\N\t7.00\n");
  EXPECT_EQ(copy_out("copy (select b, a from t where a < 3 order by a desc) to stdout"),
            "COPY 2\n\\N\t2\none\t1\n");
}

TEST_F(Copy, ElementsHaveTheLengthOfTheirColumn) {
  run("create table t (v varchar(3)[], n numeric(5,2)[], i interval(0)[], d interval day[])");
  EXPECT_EQ(copy_in("copy t from stdin",
                    "{abc,NULL}\t{1.005}\t{00:00:01.6}\t{1 day 2:00}\n{\"ab  \"}\t\\N\t\\N\t{2}\n"),
            "COPY 2");
  EXPECT_EQ(run("select * from t order by v desc"),
            "{abc,NULL}|{1.01}|{00:00:02}|{\"1 day\"}\n{\"ab \"}|NULL|NULL|{\"2 days\"}");
  EXPECT_EQ(copy_in("copy t from stdin", "{abcd}\t\\N\t\\N\t\\N\n"),
            "ERROR: 22001: value too long for type character varying(3)\n"
            "CONTEXT: COPY t, line 1, column v: \"{abcd}\"");
}

TEST_F(Copy, CsvThereAndBack) {
  run("create table t (a int, b text, c text)");
  EXPECT_EQ(copy_in("copy t from stdin with (format csv, header)",
                    "a,b,c\n1,\"x, \"\"y\"\"\",\n2,\"\",\"two\nlines\"\n"),
            "COPY 2");
  EXPECT_EQ(run("select a, b, c is null from t order by a"), "1|x, \"y\"|t\n2||f");
  EXPECT_EQ(copy_out("copy t (b, a) to stdout (format csv, header, force_quote (a))"),
            "COPY 2\nb,a\n\"x, \"\"y\"\"\",\"1\"\n\"\",\"2\"\n");
  EXPECT_EQ(
      copy_in("copy t (a, b, c) from stdin with (format csv, force_null (b), force_not_null (c))",
              "3,\"\",\n"),
      "COPY 1");
  EXPECT_EQ(run("select b is null, c = '' from t where a = 3"), "t|t");
}

TEST_F(Copy, FillsInDefaultsAndChecks) {
  run("create table t (a int not null, b int default 5 + 1, c text default 'q' check (c <> "
      "'bad'))");
  EXPECT_EQ(copy_in("copy t (a) from stdin", "1\n2\n"), "COPY 2");
  EXPECT_EQ(run("select * from t order by a"), "1|6|q\n2|6|q");
  EXPECT_EQ(copy_in("copy t from stdin", "1\t2\tok\n1\t2\tbad\n"),
            "ERROR: 23514: new row for relation \"t\" violates check constraint \"t_c_check\"\n"
            "DETAIL: Failing row contains (1, 2, bad).\n"
            "CONTEXT: COPY t, line 2: \"1\t2\tbad\"");
  EXPECT_EQ(
      copy_in("copy t from stdin", "\\N\t2\tx\n"),
      "ERROR: 23502: null value in column \"a\" of relation \"t\" violates not-null constraint\n"
      "DETAIL: Failing row contains (null, 2, x).\n"
      "CONTEXT: COPY t, line 1: \"\\N\t2\tx\"");
  EXPECT_EQ(run("select count(*) from t"), "2");
}

TEST_F(Copy, SaysWhereTheDataIsWrong) {
  run("create table t (a int primary key, b varchar(3))");
  EXPECT_EQ(copy_in("copy t from stdin", "1\tx\nzwei\ty\n"),
            "ERROR: 22P02: invalid input syntax for type integer: \"zwei\"\n"
            "CONTEXT: COPY t, line 2, column a: \"zwei\"");
  EXPECT_EQ(copy_in("copy t from stdin", "1\tlong\n"),
            "ERROR: 22001: value too long for type character varying(3)\n"
            "CONTEXT: COPY t, line 1, column b: \"long\"");
  EXPECT_EQ(copy_in("copy t from stdin", "1\tx\n2\n"),
            "ERROR: 22P04: missing data for column \"b\"\nCONTEXT: COPY t, line 2: \"2\"");
  EXPECT_EQ(
      copy_in("copy t from stdin", "1\tx\ty\n"),
      "ERROR: 22P04: extra data after last expected column\nCONTEXT: COPY t, line 1: \"1\tx\ty\"");
  EXPECT_EQ(copy_in("copy t from stdin", "1\tx\n1\ty\n"),
            "ERROR: 23505: duplicate key value violates unique constraint \"t_pkey\"\n"
            "DETAIL: Key (a)=(1) already exists.\nCONTEXT: COPY t, line 2");
  EXPECT_EQ(
      copy_in("copy t from stdin", "1\t\xff\n"),
      "ERROR: 22021: invalid byte sequence for encoding \"UTF8\": 0xff\nCONTEXT: COPY t, line 1");
  EXPECT_EQ(run("select count(*) from t"), "0");
}

TEST_F(Copy, RefusesWhatItCannotDo) {
  run("create table t (a int, b text)");
  EXPECT_EQ(copy_in("copy nope from stdin", ""), "ERROR: 42P01: relation \"nope\" does not exist");
  EXPECT_EQ(copy_in("copy t (c) from stdin", ""),
            "ERROR: 42703: column \"c\" of relation \"t\" does not exist");
  EXPECT_EQ(copy_in("copy t (a, a) from stdin", ""),
            "ERROR: 42701: column \"a\" specified more than once");
  EXPECT_EQ(copy_in("copy t from stdin (delimiter 'ab')", ""),
            "ERROR: 0A000: COPY delimiter must be a single one-byte character");
  EXPECT_EQ(copy_in("copy t from stdin (quote '\"')", ""),
            "ERROR: 0A000: COPY quote available only in CSV mode");
  EXPECT_EQ(copy_in("copy t from stdin (format csv, format text)", ""),
            "ERROR: 42601: conflicting or redundant options");
  EXPECT_EQ(copy_in("copy t from stdin (freeze)", "1\tx\n"),
            "ERROR: 55000: cannot perform COPY FREEZE because the table was not created or "
            "truncated in the "
            "current subtransaction");
}

TEST_F(Copy, LoadsATruncatedTablePrivately) {
  run("create table t (a int primary key, b text)");
  copy_in("copy t from stdin", "1\told\n");
  std::string data;
  for (int i = 0; i < 20000; ++i) data += std::to_string(i) + "\tfiller\n";
  session.begin_block();
  EXPECT_EQ(run("truncate t"), "TRUNCATE TABLE");
  EXPECT_EQ(copy_in("copy t from stdin (freeze)", data, 8192), "COPY 20000");
  EXPECT_EQ(run("select count(*), min(a), max(a) from t"), "20000|0|19999");
  EXPECT_EQ(session.commit_block(), "ok");
  EXPECT_EQ(run("select b from t where a = 12345"), "filler");
  EXPECT_EQ(run("select count(*) from t"), "20000");
}

}  // namespace
}  // namespace pgsilo::testing
