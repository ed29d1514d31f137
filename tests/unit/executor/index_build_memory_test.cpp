// CREATE INDEX beside writers while memory fails: there is an index or an error, never both and
// never a part of an index (docs/index_build.md).
#include <gtest/gtest.h>

#include <new>
#include <optional>

#include "tests/index_agreement.h"
#include "tests/unit/catalog/failing_memory.h"
#include "tests/unit/executor/sql_session.h"

namespace pgsilo::testing {
namespace {

// A new database with one table, whose session has no memory of its own yet.
class Bed {
 public:
  Bed() {
    session.context.parker = &session.parker;
    session.run("create table t (a int primary key, b int)");
    session.run("insert into t select g, g from generate_series(1, 20) g");
    session.context.is_alone = true;
    trees_ = engine.relations.list().size();
  }

  // An error whatever fails; the server makes one of bad_alloc.
  std::string create_index() {
    try {
      return session.run("create index i on t (b)");
    } catch (const std::bad_alloc&) {
      return "ERROR: no memory";
    }
  }

  void expect_valid_index() {
    session.view.refresh();
    const TableDescriptor* table = nullptr;
    const IndexDescriptor* index = session.view.find_index({}, "i", &table);
    ASSERT_NE(index, nullptr);
    EXPECT_TRUE(index->valid);
    EXPECT_EQ(index_disagreement(*table, *index), "");
  }
  void expect_nothing_left() {
    session.view.refresh();
    EXPECT_EQ(session.view.find_index({}, "i"), nullptr);
    while (session.worker.housekeep()) {
    }
    EXPECT_EQ(engine.relations.list().size(), trees_);
    EXPECT_EQ(session.run("select count(*) from pg_class where relname = 'i'"), "0");
    EXPECT_FALSE(engine.catalog.is_changing());
    EXPECT_TRUE(session.notices.empty());
  }

  CatalogEngine engine;
  SqlSession session{engine};

 private:
  size_t trees_ = 0;
};

// Cancels the statement when it has begun an index; from then on an allocation fails.
class Cancellation final : public TimeBudget {
 public:
  Cancellation(const Catalog& catalog, size_t successes)
      : catalog_(catalog), successes_(successes) {}
  bool yield_if_spent() override {
    if (memory_ || !has_begun()) return false;
    SqlError error(sqlstate::query_canceled, "canceling statement due to user request");
    memory_.emplace(successes_);
    throw error;
  }
  bool has_cancelled() const { return memory_.has_value(); }
  bool has_failed() const { return memory_->has_failed(); }

 private:
  bool has_begun() const {
    std::shared_ptr<const CatalogSnapshot> snapshot = catalog_.snapshot();
    for (const auto& [oid, table] : snapshot->tables()) {
      for (const auto& index : table->indexes) {
        if (!index->valid) return true;
      }
    }
    return false;
  }
  const Catalog& catalog_;
  const size_t successes_;
  std::optional<FailingMemory> memory_;
};

TEST(IndexBuildMemory, ABuildThatFailsIsDiscarded) {
  size_t successes = 0;
  for (bool failed = true; failed && !::testing::Test::HasFailure(); ++successes) {
    SCOPED_TRACE(successes);
    Bed bed;
    std::string answer;
    {
      Cancellation cancellation(bed.engine.catalog, successes);
      bed.session.context.time_budget = &cancellation;
      answer = bed.create_index();
      bed.session.context.time_budget = nullptr;
      ASSERT_TRUE(cancellation.has_cancelled());
      failed = cancellation.has_failed();
    }
    EXPECT_TRUE(answer.starts_with("ERROR: ")) << answer;
    bed.expect_nothing_left();
  }
  EXPECT_GT(successes, 50u);
}

// Of every fifth allocation, to be quick.
TEST(IndexBuildMemory, ThereIsAnIndexOrAnError) {
  size_t successes = 0;
  for (bool failed = true; failed && !::testing::Test::HasFailure(); successes += 5) {
    SCOPED_TRACE(successes);
    Bed bed;
    std::string answer;
    {
      FailingMemory memory(successes);
      answer = bed.create_index();
      failed = memory.has_failed();
    }
    if (answer.starts_with("ERROR: ")) {
      bed.expect_nothing_left();
    } else {
      EXPECT_EQ(answer, "CREATE INDEX");
      bed.expect_valid_index();
    }
  }
  EXPECT_GT(successes, 100u);
}

}  // namespace
}  // namespace pgsilo::testing
