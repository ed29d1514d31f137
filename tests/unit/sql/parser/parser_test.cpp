#include "sql/parser/parser.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <string>

#include "sql/ast/ast.h"
#include "sql/limits.h"
#include "sql/sql_error.h"
#include "sql/text_position.h"

namespace pgsilo {
namespace {

using namespace ast;

class ParserTest : public ::testing::Test {
 protected:
  const Node* one(std::string_view sql) {
    auto statements = parse(sql, arena_);
    EXPECT_EQ(statements.size(), 1u) << sql;
    return statements[0].statement;
  }
  template <typename T>
  const T& one_of(std::string_view sql) {
    const Node* statement = one(sql);
    EXPECT_EQ(statement->kind, T::node_kind) << sql;
    return *static_cast<const T*>(statement);
  }
  const Node* expression(std::string_view text) {
    return one_of<SelectStmt>("SELECT " + std::string(text)).targets[0].expression;
  }
  SqlDiagnostic error(std::string_view sql) {
    try {
      parse(sql, arena_);
    } catch (const SqlError& thrown) {
      return thrown.diagnostic();
    }
    ADD_FAILURE() << "no error: " << sql;
    return {};
  }
  Arena arena_;
};

TEST_F(ParserTest, LocatesStatements) {
  std::string_view sql = "  -- first\n select 1 ; /* two */ select 2;;  ";
  auto statements = parse(sql, arena_);
  ASSERT_EQ(statements.size(), 2u);
  EXPECT_EQ(sql.substr(statements[0].start, statements[0].length), "select 1");
  EXPECT_EQ(sql.substr(statements[1].start, statements[1].length), "select 2");
  EXPECT_TRUE(parse("", arena_).empty());
  EXPECT_TRUE(parse(" ; -- nothing\n", arena_).empty());
}

TEST_F(ParserTest, DoesNotPointIntoTheText) {
  std::string sql = "select 'a literal', a_column from a_table";
  const auto& select = one_of<SelectStmt>(sql);
  sql.assign(sql.size(), 'x');
  EXPECT_EQ(as<Constant>(select.targets[0].expression)->text, "a literal");
  EXPECT_EQ(as<ColumnRef>(select.targets[1].expression)->fields[0], "a_column");
  EXPECT_EQ(as<RangeVar>(select.from[0])->name, "a_table");
}

TEST_F(ParserTest, Constants) {
  EXPECT_EQ(as<Constant>(expression("42"))->integer, 42);
  EXPECT_EQ(as<Constant>(expression("0"))->constant_kind, ConstantKind::integer);
  EXPECT_EQ(as<Constant>(expression("-2147483648"))->constant_kind, ConstantKind::decimal);
  EXPECT_EQ(as<Constant>(expression("-7"))->integer, -7);
  EXPECT_EQ(as<Constant>(expression("1.50"))->text, "1.50");
  EXPECT_EQ(as<Constant>(expression("3000000000"))->constant_kind, ConstantKind::decimal);
  EXPECT_EQ(as<Constant>(expression("E'a\\n'"))->text, "a\n");
  EXPECT_EQ(as<Constant>(expression("''"))->constant_kind, ConstantKind::string);
  EXPECT_EQ(as<Constant>(expression("NULL"))->constant_kind, ConstantKind::null);
  EXPECT_TRUE(as<Constant>(expression("TRUE"))->boolean);
  EXPECT_FALSE(as<Constant>(expression("false"))->boolean);
  EXPECT_EQ(as<Constant>(expression("B'101'"))->text, "b101");
}

TEST_F(ParserTest, Operators) {
  const auto* sum = as<OperatorExpr>(expression("a + 1"));
  EXPECT_EQ(sum->operator_kind, OperatorKind::op);
  EXPECT_EQ(sum->name[0], "+");
  EXPECT_EQ(sum->location, 9);
  EXPECT_EQ(as<OperatorExpr>(expression("- a"))->left, nullptr);
  const auto* in = as<OperatorExpr>(expression("a NOT IN (1, 2, 3)"));
  EXPECT_EQ(in->operator_kind, OperatorKind::in);
  EXPECT_EQ(in->name[0], "<>");
  EXPECT_EQ(in->arguments.size(), 3u);
  const auto* between = as<OperatorExpr>(expression("a NOT BETWEEN SYMMETRIC 1 AND 2"));
  EXPECT_EQ(between->operator_kind, OperatorKind::not_between_symmetric);
  EXPECT_EQ(between->arguments.size(), 2u);
  EXPECT_EQ(as<OperatorExpr>(expression("a ILIKE 'x'"))->name[0], "~~*");
  EXPECT_EQ(as<OperatorExpr>(expression("a SIMILAR TO 'x'"))->operator_kind, OperatorKind::similar);
  EXPECT_EQ(as<OperatorExpr>(expression("a IS NOT DISTINCT FROM 2"))->operator_kind,
            OperatorKind::is_not_distinct);
  EXPECT_EQ(as<OperatorExpr>(expression("NULLIF(a, 2)"))->operator_kind, OperatorKind::nullif);
  EXPECT_EQ(as<OperatorExpr>(expression("a = ANY ($1)"))->operator_kind, OperatorKind::op_any);
  EXPECT_EQ(as<ParamRef>(as<OperatorExpr>(expression("a > ALL ($2)"))->right)->number, 2);
  const auto* both = as<BoolExpr>(expression("a AND b AND NOT c"));
  EXPECT_EQ(both->arguments.size(), 3u);
  EXPECT_EQ(as<BoolExpr>(both->arguments[2])->op, BoolOperator::not_);
  EXPECT_TRUE(as<NullTest>(expression("a IS NOT NULL"))->is_not_null);
  EXPECT_EQ(as<BooleanTest>(expression("a IS NOT UNKNOWN"))->test, BooleanTestKind::is_not_unknown);
}

TEST_F(ParserTest, OtherExpressions) {
  const auto* cast = as<TypeCast>(expression("x::numeric(10,2)"));
  EXPECT_EQ(cast->type->names[1], "numeric");
  EXPECT_EQ(as<Constant>(cast->type->typmods[1])->integer, 2);
  EXPECT_EQ(as<TypeCast>(expression("'{1}'::int[][3]"))->type->array_bounds[1], 3);
  const auto* count =
      as<FuncCall>(expression("count(DISTINCT a ORDER BY a DESC) FILTER (WHERE b)"));
  EXPECT_TRUE(count->distinct);
  EXPECT_EQ(count->order_by[0].direction, SortDirection::descending);
  EXPECT_NE(count->filter, nullptr);
  EXPECT_TRUE(as<FuncCall>(expression("count(*)"))->star);
  EXPECT_EQ(as<FuncCall>(expression("extract(year from d)"))->name[1], "extract");
  const auto* cases =
      as<CaseExpr>(expression("CASE a WHEN 1 THEN 'x' WHEN 2 THEN 'y' ELSE 'z' END"));
  EXPECT_EQ(cases->whens.size(), 2u);
  EXPECT_NE(cases->otherwise, nullptr);
  EXPECT_TRUE(as<MinMaxExpr>(expression("least(1, 2)"))->is_least);
  EXPECT_EQ(as<SqlValueFunction>(expression("current_timestamp(3)"))->typmod, 3);
  EXPECT_EQ(as<SqlValueFunction>(expression("localtimestamp"))->value, SqlValue::localtimestamp);
  EXPECT_EQ(as<SubLink>(expression("a IN (SELECT 1)"))->sublink_kind, SubLinkKind::any);
  EXPECT_TRUE(as<SubLink>(expression("a IN (SELECT 1)"))->operator_name.empty());
  EXPECT_EQ(as<SubLink>(expression("EXISTS (SELECT 1)"))->sublink_kind, SubLinkKind::exists);
  EXPECT_TRUE(as<RowExpr>(expression("ROW(1, 2)"))->is_explicit);
  EXPECT_EQ(as<ArrayExpr>(expression("ARRAY[1, 2]"))->elements.size(), 2u);
  EXPECT_EQ(as<Indirection>(expression("(a).b[1]"))->steps[1].kind, IndirectionStep::Kind::index);
  EXPECT_TRUE(as<ColumnRef>(expression("t.*"))->star);
  EXPECT_EQ(as<CollateClause>(expression("a COLLATE \"C\""))->collation[0], "C");
}

TEST_F(ParserTest, Select) {
  const auto& select = one_of<SelectStmt>(
      "WITH w AS MATERIALIZED (SELECT 1) SELECT DISTINCT ON (a) a AS x, b FROM s.t AS u JOIN v "
      "USING (k) LEFT JOIN "
      "generate_series(1, 2) WITH ORDINALITY AS g(n, o) ON true, LATERAL (SELECT 3) q WHERE a > 1 "
      "GROUP BY a, "
      "ROLLUP (b) HAVING count(*) > 1 ORDER BY a DESC NULLS LAST LIMIT 5 OFFSET 6 FOR UPDATE OF u "
      "SKIP LOCKED");
  EXPECT_EQ(select.with->ctes[0].materialize, CteMaterialize::always);
  EXPECT_EQ(select.distinct_on.size(), 1u);
  EXPECT_EQ(select.targets[0].name, "x");
  const auto* left_join = as<JoinExpr>(select.from[0]);
  EXPECT_EQ(left_join->join_kind, JoinKind::left);
  EXPECT_TRUE(as<RangeFunction>(left_join->right)->with_ordinality);
  EXPECT_EQ(as<RangeFunction>(left_join->right)->alias->columns[1], "o");
  EXPECT_EQ(as<JoinExpr>(left_join->left)->using_columns[0], "k");
  EXPECT_TRUE(as<RangeSubselect>(select.from[1])->lateral);
  EXPECT_EQ(as<GroupingSet>(select.group_by[1])->set_kind, GroupingSetKind::rollup);
  EXPECT_EQ(select.order_by[0].nulls, NullsOrder::last);
  EXPECT_EQ(as<Constant>(select.limit_count)->integer, 5);
  EXPECT_EQ(select.locking[0].wait, LockWait::skip_locked);
  EXPECT_TRUE(one_of<SelectStmt>("SELECT DISTINCT 1").distinct);
  EXPECT_TRUE(one_of<SelectStmt>("SELECT DISTINCT 1").distinct_on.empty());

  const auto& both = one_of<SelectStmt>("SELECT 1 UNION ALL VALUES (1), (2) ORDER BY 1");
  EXPECT_EQ(both.operation, SetOperation::union_);
  EXPECT_TRUE(both.all);
  EXPECT_EQ(both.right->values_lists.size(), 2u);
  EXPECT_TRUE(one_of<CreateTableAsStmt>("SELECT a INTO n FROM t UNION SELECT 2").is_select_into);
}

TEST_F(ParserTest, Dml) {
  const auto& insert = one_of<InsertStmt>(
      "INSERT INTO t (a, b) VALUES (1, DEFAULT) ON CONFLICT (a) DO UPDATE SET b = excluded.b WHERE "
      "t.b > 1 RETURNING *");
  EXPECT_EQ(insert.columns[1].column, "b");
  EXPECT_EQ(insert.source->values_lists[0][1]->kind, NodeKind::set_to_default);
  EXPECT_TRUE(insert.on_conflict->do_update);
  EXPECT_EQ(insert.on_conflict->inference[0].column, "a");
  EXPECT_EQ(insert.returning.size(), 1u);
  EXPECT_EQ(one_of<InsertStmt>("INSERT INTO t DEFAULT VALUES").source, nullptr);

  const auto& update =
      one_of<UpdateStmt>("UPDATE t SET (a, b) = (SELECT 1, 2), c = 3 FROM u WHERE true");
  ASSERT_EQ(update.assignments.size(), 3u);
  const auto* first = as<MultiAssignRef>(update.assignments[0].expression);
  const auto* second = as<MultiAssignRef>(update.assignments[1].expression);
  EXPECT_EQ(first->source, second->source);
  EXPECT_EQ(second->column, 2);
  EXPECT_EQ(one_of<DeleteStmt>("DELETE FROM ONLY t USING u").using_items.size(), 1u);
}

TEST_F(ParserTest, CreateTable) {
  const auto& create = one_of<CreateTableStmt>(
      "CREATE UNLOGGED TABLE IF NOT EXISTS s.t (a int PRIMARY KEY DEFERRABLE INITIALLY DEFERRED, b "
      "varchar(10) NOT "
      "NULL DEFAULT 'x' || 'y', c numeric CHECK (c > 0 AND c < 10), CONSTRAINT u UNIQUE (a, b), "
      "FOREIGN KEY (a) "
      "REFERENCES o (id) ON DELETE CASCADE) WITH (fillfactor = 70)");
  EXPECT_TRUE(create.if_not_exists);
  EXPECT_EQ(create.relation->persistence, Persistence::unlogged);
  ASSERT_EQ(create.elements.size(), 5u);
  const auto* a = as<ColumnDef>(create.elements[0]);
  ASSERT_EQ(a->constraints.size(), 1u);
  EXPECT_TRUE(a->constraints[0]->initially_deferred);
  const auto* b = as<ColumnDef>(create.elements[1]);
  EXPECT_EQ(b->constraints[0]->constraint_kind, ConstraintKind::not_null);
  EXPECT_NE(b->constraints[1]->expression, nullptr);
  EXPECT_NE(as<ColumnDef>(create.elements[2])->constraints[0]->expression, nullptr);
  EXPECT_EQ(as<Constraint>(create.elements[3])->keys[1], "b");
  EXPECT_EQ(as<Constraint>(create.elements[4])->on_delete, ForeignKeyAction::cascade);
  EXPECT_EQ(create.options[0].name, "fillfactor");
  EXPECT_EQ(as<Constant>(create.options[0].argument)->integer, 70);
  EXPECT_EQ(error("CREATE TABLE t (a int NOT NULL DEFERRABLE)").message,
            "misplaced DEFERRABLE clause");
}

TEST_F(ParserTest, OtherDefinitions) {
  const auto& index = one_of<CreateIndexStmt>(
      "CREATE UNIQUE INDEX CONCURRENTLY ON t (a DESC NULLS LAST, lower(b))");
  EXPECT_TRUE(index.unique && index.concurrently);
  EXPECT_EQ(index.elements[0].direction, SortDirection::descending);
  EXPECT_NE(index.elements[1].expression, nullptr);
  EXPECT_EQ(index.access_method, "btree");
  const auto& drop = one_of<DropStmt>("DROP TABLE IF EXISTS a, s.b CASCADE");
  EXPECT_EQ(drop.objects[1][1], "b");
  EXPECT_EQ(drop.behavior, DropBehavior::cascade);
  EXPECT_EQ(one_of<DropStmt>("DROP INDEX i").object_kind, ObjectKind::index);
  const auto& alter = one_of<AlterTableStmt>(
      "ALTER TABLE t ADD PRIMARY KEY (a), ADD COLUMN IF NOT EXISTS c int, DROP CONSTRAINT x, ALTER "
      "d SET DEFAULT 1 + 1, "
      "ENABLE ROW LEVEL SECURITY");
  ASSERT_EQ(alter.commands.size(), 5u);
  EXPECT_EQ(alter.commands[0].constraint->constraint_kind, ConstraintKind::primary_key);
  EXPECT_TRUE(alter.commands[1].missing_ok);
  EXPECT_NE(alter.commands[3].expression, nullptr);
  EXPECT_EQ(alter.commands[4].feature, "row-level security");
  EXPECT_EQ(one_of<TruncateStmt>("TRUNCATE a, b").relations.size(), 2u);
  EXPECT_EQ(one_of<RenameStmt>("ALTER TABLE t RENAME COLUMN a TO b").object_kind,
            ObjectKind::column);
  EXPECT_EQ(one_of<CreateViewStmt>("CREATE OR REPLACE VIEW v (a) AS SELECT 1").view->name, "v");
  EXPECT_EQ(one_of<UnsupportedStmt>("REFRESH MATERIALIZED VIEW v").feature,
            "REFRESH MATERIALIZED VIEW");
  EXPECT_EQ(one_of<UnsupportedStmt>("DROP FUNCTION f").feature, "DROP FUNCTION");
}

TEST_F(ParserTest, Utility) {
  const auto& begin = one_of<TransactionStmt>("BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY");
  EXPECT_EQ(begin.options[0].name, "transaction_isolation");
  EXPECT_EQ(as<Constant>(begin.options[0].argument)->text, "serializable");
  EXPECT_EQ(one_of<TransactionStmt>("ROLLBACK TO SAVEPOINT s").savepoint, "s");
  EXPECT_TRUE(one_of<TransactionStmt>("COMMIT AND CHAIN").chain);
  const auto& set = one_of<SetStmt>("SET LOCAL search_path TO a, 'b'");
  EXPECT_TRUE(set.is_local);
  EXPECT_EQ(as<Constant>(set.arguments[1])->text, "b");
  EXPECT_EQ(one_of<SetStmt>("SET TRANSACTION READ ONLY").options.size(), 1u);
  EXPECT_EQ(one_of<SetStmt>("RESET ALL").set_kind, SetKind::reset_all);
  EXPECT_EQ(one_of<ShowStmt>("SHOW work_mem").name, "work_mem");
  const auto& copy =
      one_of<CopyStmt>("COPY t (a, b) FROM STDIN WITH (FORMAT csv, HEADER, FORCE_NULL (a))");
  EXPECT_TRUE(copy.is_from);
  EXPECT_EQ(copy.columns.size(), 2u);
  EXPECT_EQ(as<Constant>(copy.options[0].argument)->text, "csv");
  EXPECT_EQ(copy.options[1].argument, nullptr);
  EXPECT_EQ(copy.options[2].words[0], "a");
  EXPECT_EQ(
      as<Constant>(
          one_of<CopyStmt>("copy pgbench_accounts from stdin with (freeze on)").options[0].argument)
          ->text,
      "on");
  EXPECT_EQ(one_of<PrepareStmt>("PREPARE p (int) AS SELECT $1").types.size(), 1u);
  EXPECT_EQ(one_of<ExecuteStmt>("EXECUTE p (1)").parameters.size(), 1u);
  EXPECT_EQ(one_of<VacuumStmt>("VACUUM (ANALYZE) t (a)").targets[0].columns[0], "a");
  EXPECT_TRUE(one_of<VacuumStmt>("ANALYZE").is_analyze);
  EXPECT_EQ(one_of<ExplainStmt>("EXPLAIN (COSTS off) SELECT 1").query->kind, NodeKind::select_stmt);
}

TEST_F(ParserTest, SyntaxErrors) {
  SqlDiagnostic diagnostic = error("select 'äöü', foo bar baz");
  EXPECT_EQ(diagnostic.state, sqlstate::syntax_error);
  EXPECT_EQ(diagnostic.message, "syntax error at or near \"baz\"");
  EXPECT_EQ(diagnostic.position, 23);
  EXPECT_EQ(error("select 1 +").message, "syntax error at end of input");
  EXPECT_EQ(error("select 'abc").message, "unterminated quoted string at or near \"'abc\"");
  EXPECT_EQ(error("select * from (select 1)").hint, "For example, FROM (SELECT ...) [AS] foo.");
  SqlDiagnostic xml = error("select 'ä', xmlelement(name foo)");
  EXPECT_EQ(xml.state, sqlstate::feature_not_supported);
  EXPECT_EQ(xml.position, 13);
  EXPECT_EQ(character_position("äb", 2), 2);
}

std::string repeated(std::string_view head, std::string_view piece, size_t count,
                     std::string_view tail = "") {
  std::string text(head);
  for (size_t i = 0; i < count; ++i) text += piece;
  text += tail;
  return text;
}

TEST_F(ParserTest, RefusesDeepNesting) {
  const size_t many = 100000;
  const std::string texts[] = {
      repeated("select 1", "+1", many),
      repeated("select 1", " union all select 1", many),
      repeated("select ", "(", many, "1" + std::string(many, ')')),
      repeated("select ", "- ", many, "1"),
      repeated("select ", "not ", many, "true"),
      repeated("select 1", "::int", many),
      repeated("select ", "case when true then ", many, "1" + repeated("", " end", many)),
      repeated("select ", "a is distinct from not ", many, "true"),
      repeated("select ", "a between 1 and not ", many, "true"),
      repeated("select ", "array[", many, std::string(many, ']')),
      repeated("select * from a", " join b on x and y", many),
      repeated("select t.x", " + t.and + t.or", many),
      repeated("select ", "(select ", many, "1" + std::string(many, ')')),
      repeated("select a", " collate \"C\"", many),
      repeated("select a", " at time zone 'x'", many),
      repeated("select a", " operator(pg_catalog.+) 1", many),
      repeated("select ", "f(1, ", many, "1" + std::string(many, ')')),
      repeated("select '", "x", 10 << 20, "") + repeated("'", "||'y'", many),
  };
  for (const std::string& text : texts) {
    SqlDiagnostic diagnostic = error(text);
    EXPECT_EQ(diagnostic.state, sqlstate::statement_too_complex) << text.substr(0, 60);
    EXPECT_EQ(diagnostic.message, "stack depth limit exceeded");
  }
}

TEST_F(ParserTest, TakesLongFlatTexts) {
  const size_t many = 20000;
  EXPECT_EQ(one_of<SelectStmt>(repeated("select 1", ", 1 + 1", many)).targets.size(), many + 1);
  EXPECT_EQ(
      as<BoolExpr>(one_of<SelectStmt>(repeated("select 1 where a = 1", " or a = 1", many)).where)
          ->arguments.size(),
      many + 1);
  EXPECT_EQ(one_of<InsertStmt>(repeated("insert into t values (1)", ", (-1)", many))
                .source->values_lists.size(),
            many + 1);
  EXPECT_EQ(as<CaseExpr>(expression(repeated("case ", "when a = 1 then 2 + 3 ", many, "end")))
                ->whens.size(),
            many);
  EXPECT_EQ(parse(repeated("", "select 1 + 1;", many), arena_).size(), many);
  auto limit = static_cast<size_t>(limits::max_nesting_depth);
  EXPECT_NE(one(repeated("select 1", " + 1", limit - 2)), nullptr);
  EXPECT_NE(one(repeated("select 1", " union all select 1 + 1", limit - 10)), nullptr);
}

TEST_F(ParserTest, LimitsMayHaveTies) {
  EXPECT_FALSE(one_of<SelectStmt>("select 1").with_ties);
  EXPECT_FALSE(one_of<SelectStmt>("select 1 limit 3").with_ties);
  EXPECT_TRUE(one_of<SelectStmt>("select 1 order by 1 fetch first 3 rows with ties").with_ties);
}

TEST_F(ParserTest, IntegersMayBeZero) {
  EXPECT_EQ(as<Constant>(expression("0"))->constant_kind, ConstantKind::integer);
  EXPECT_EQ(as<Constant>(expression("''"))->constant_kind, ConstantKind::string);
}

// Each tree has some 3 MB.
TEST_F(ParserTest, LeavesNothingBehindAnError) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "what was freed stays for a while";
#endif
  std::string list = "select 1";
  for (int i = 0; i < 50000; ++i) list += ",2";
  auto peak = [] {
    rusage usage = {};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss / 1024;
  };
  auto fail = [&](int times) {
    for (int i = 0; i < times; ++i) {
      EXPECT_EQ(error(list + ", xmlparse(document 'x')").state, sqlstate::feature_not_supported);
      EXPECT_EQ(error(list + ", from").state, sqlstate::syntax_error);
      arena_.reset();
    }
  };
  fail(2);
  long before = peak();
  fail(20);
  EXPECT_LT(peak() - before, 20);
}

}  // namespace
}  // namespace pgsilo
