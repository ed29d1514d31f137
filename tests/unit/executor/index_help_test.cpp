// CREATE INDEX with a second worker (docs/index_build.md): the helper does all that it is left, in
// the midst of the owner's work, so that a test knows who meets what.
#include "executor/ddl/index_help.h"

#include <gtest/gtest.h>

#include <functional>
#include <new>
#include <optional>

#include "tests/index_agreement.h"
#include "tests/unit/catalog/failing_memory.h"
#include "tests/unit/executor/sql_session.h"

namespace pgsilo::testing {
namespace {

class HelperAtOnce final : public WorkSharing {
 public:
  explicit HelperAtOnce(CatalogEngine& engine) : session_(engine) {}
  void offer(std::shared_ptr<SharedWork> work) override {
    ++offers;
    if (before_help) std::exchange(before_help, {})();
    while (work->help(session_.worker, session_.settings)) ++pieces;
  }
  std::function<void()> before_help;
  int offers = 0;
  int pieces = 0;

 private:
  TestSession session_;
};

class IndexHelpTest : public ::testing::Test {
 protected:
  IndexHelpTest() {
    engine.sharing = &helper;
    session.emplace(engine);
    session->context.parker = &session->parker;
    session->context.is_alone = true;
    run("create table t (a int primary key, b int)");
    run("insert into t select g, (g * 7919) % 20011 from generate_series(1, 20000) g");
    trees_ = engine.relations.list().size();
  }
  std::string run(std::string_view sql) {
    try {
      return session->run(sql);
    } catch (const std::bad_alloc&) {
      return "ERROR: no memory";
    }
  }
  void expect_valid_index() {
    session->view.refresh();
    const TableDescriptor* table = nullptr;
    const IndexDescriptor* index = session->view.find_index({}, "i", &table);
    ASSERT_NE(index, nullptr);
    EXPECT_TRUE(index->valid);
    EXPECT_EQ(index_disagreement(*table, *index), "");
  }
  void expect_nothing_left() {
    session->view.refresh();
    EXPECT_EQ(session->view.find_index({}, "i"), nullptr);
    while (session->worker.housekeep()) {
    }
    EXPECT_EQ(engine.relations.list().size(), trees_);
  }

  CatalogEngine engine;
  HelperAtOnce helper{engine};
  std::optional<SqlSession> session;

 private:
  size_t trees_ = 0;
};

TEST_F(IndexHelpTest, TwoWorkersMakeOneIndex) {
  EXPECT_EQ(run("create index i on t (b)"), "CREATE INDEX");
  EXPECT_GT(helper.pieces, 3);
  expect_valid_index();
}

TEST_F(IndexHelpTest, AFewRowsAreNotShared) {
  run("delete from t where a > 500");
  EXPECT_EQ(run("create index i on t (b)"), "CREATE INDEX");
  EXPECT_EQ(helper.offers, 0);
  expect_valid_index();
}

// The helper meets the row first; the owner tells of it.
TEST_F(IndexHelpTest, TheOwnerTellsOfDuplicates) {
  run("update t set b = 30000 where a in (9999, 19000)");
  EXPECT_EQ(run("create unique index concurrently i on t (b)"),
            "ERROR: 23505: could not create unique index \"i\"\nDETAIL: Key (b)=(30000) is "
            "duplicated.");
  EXPECT_GT(helper.pieces, 0);
  expect_nothing_left();
}

// As the owner alone would; the helper does not wait for the row.
TEST_F(IndexHelpTest, TheOwnerWaitsForLockedRows) {
  SqlSession holder(engine);
  helper.before_help = [&] {
    holder.begin_block();
    holder.run("select b from t where a = 15000 for update");
  };
  session->settings.lock_timeout_us = 20'000;
  EXPECT_TRUE(run("create index i on t (b)").starts_with("ERROR: 55P03"));
  EXPECT_GT(helper.offers, 0);
  holder.abort_block();
  expect_nothing_left();
  EXPECT_EQ(run("create index i on t (b)"), "CREATE INDEX");
  expect_valid_index();
}

// What is left of the old rows is nobody's business any more.
TEST_F(IndexHelpTest, TheTableIsEmptiedMeanwhile) {
  SqlSession other(engine);
  helper.before_help = [&] {
    EXPECT_EQ(other.run("truncate t"), "TRUNCATE TABLE");
    EXPECT_EQ(other.run("insert into t select g, -g from generate_series(1, 9000) g"),
              "INSERT 0 9000");
  };
  EXPECT_EQ(run("create index i on t (b)"), "CREATE INDEX");
  EXPECT_EQ(run("select count(*) from t"), "9000");
  expect_valid_index();
}

TEST_F(IndexHelpTest, TheIndexIsDroppedMeanwhile) {
  SqlSession other(engine);
  helper.before_help = [&] { EXPECT_EQ(other.run("drop index i"), "DROP INDEX"); };
  EXPECT_TRUE(run("create index i on t (b)").starts_with("ERROR: 55000"));
  expect_nothing_left();
}

TEST_F(IndexHelpTest, WritersGoOn) {
  SqlSession other(engine);
  helper.before_help = [&] {
    other.run("update t set b = b + 1 where a % 100 = 0");
    other.run("delete from t where a % 100 = 1");
    other.run("insert into t select g, g from generate_series(30000, 30100) g");
    other.run("update t set a = -a where a % 100 = 2");
  };
  EXPECT_EQ(run("create index i on t (b)"), "CREATE INDEX");
  expect_valid_index();
}

TEST_F(IndexHelpTest, ThereIsAnIndexOrAnErrorWithoutMemory) {
  size_t failures = 0;
  bool failed = true;
  for (size_t successes = 1; failed && !HasFailure(); successes += 1 + successes / 5) {
    SCOPED_TRACE(successes);
    std::string answer;
    {
      FailingMemory memory(successes);
      answer = run("create index i on t (b)");
      failed = memory.has_failed();
    }
    failures += failed ? 1 : 0;
    if (answer.starts_with("ERROR: ")) {
      expect_nothing_left();
    } else {
      expect_valid_index();
      run("drop index i");
      while (session->worker.housekeep()) {
      }
    }
  }
  EXPECT_GT(failures, 30u);
}

// ---- IndexRanges ----

std::string bounds(const IndexRange& range) {
  return range.from + (range.begun ? "*" : "") + ".." + (range.last ? "end" : range.until);
}

TEST(IndexRanges, AreTakenInOrderAndGivenBack) {
  IndexRanges ranges;
  ranges.reset(RelationId(7), {"c", "m"});
  std::optional<IndexRange> first = ranges.take();
  EXPECT_EQ(bounds(*first), "..c");
  std::optional<IndexRange> second = ranges.take();
  EXPECT_EQ(bounds(*second), "c..m");
  first->from = "b";
  first->begun = true;
  ranges.give_back(std::move(*first));
  first = ranges.take();
  EXPECT_EQ(bounds(*first), "b*..c");
  std::optional<IndexRange> third = ranges.take();
  EXPECT_EQ(bounds(*third), "m..end");
  EXPECT_FALSE(ranges.take());
  EXPECT_TRUE(ranges.empty());
  for (std::optional<IndexRange>* range : {&first, &second, &third}) {
    EXPECT_FALSE(ranges.done());
    (*range)->finished = true;
    ranges.give_back(std::move(**range));
  }
  EXPECT_TRUE(ranges.done());
}

TEST(IndexRanges, ThoseOfAnotherTreeAreForgotten) {
  IndexRanges ranges;
  ranges.reset(RelationId(7), {"c"});
  IndexRange old = *ranges.take();
  ranges.reset(RelationId(8), {});
  IndexRange all = *ranges.take();
  EXPECT_EQ(bounds(all), "..end");
  ranges.give_back(std::move(old));
  EXPECT_TRUE(ranges.empty());
  EXPECT_FALSE(ranges.done());
  all.finished = true;
  ranges.give_back(std::move(all));
  EXPECT_TRUE(ranges.done());
}

}  // namespace
}  // namespace pgsilo::testing
